// Runs in a world of its own in every document, so that a page can neither see nor
// change it. `fathom` is what the reader calls.
const fathom = (() => {
  const limits = { nodes: 300000, styled: 30000, letters: 5000, steps: 12 };
  let changed = performance.now();
  new MutationObserver(() => { changed = performance.now(); }).observe(document, {
    childList: true, subtree: true, characterData: true,
  });

  const silent = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'svg']);

  // A document that will not be taken is not looked at any closer.
  const large = () => document.getElementsByTagName('*').length > limits.nodes;

  function letters() {
    if (!document.body) return 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
      node.nodeType === Node.ELEMENT_NODE
        ? (silent.has(node.nodeName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP)
        : NodeFilter.FILTER_ACCEPT);
    let count = 0;
    while (count < limits.letters && walker.nextNode()) count += walker.currentNode.data.trim().length;
    if (count < limits.letters) {
      for (const host of document.body.querySelectorAll('*')) {
        if (host.shadowRoot) count += host.shadowRoot.textContent.trim().length;
      }
    }
    return count;
  }

  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  // How long a text must not change before it is taken for whole. The less there is
  // to read, the longer it is believed that more will come.
  const patience = (count) => (count >= 1000 ? 100 : count >= 250 ? 300 : 1500);

  // Waits until the text rests, for a while; the caller knows what is still loading.
  async function rest() {
    const until = performance.now() + 2000;
    let seen = -1;
    let count = 0;
    while (performance.now() < until) {
      if (large()) return true;
      if (seen !== changed) {
        seen = changed;
        count = letters();
      }
      const missing = patience(count) - (performance.now() - changed);
      if (missing <= 0) return true;
      await pause(Math.max(missing, 5));
    }
    return false;
  }

  // Brings out what is covered or out of view, and tells whether the page changed.
  async function uncover() {
    if (large()) return false;
    const before = changed;
    consent();
    const height = document.documentElement ? document.documentElement.scrollHeight : 0;
    if (height > innerHeight) await scroll();
    await pause(0);
    return changed !== before;
  }

  // Scripts that follow the scrolling get it at once, and not when a frame is drawn.
  async function scroll() {
    const height = () => document.documentElement.scrollHeight;
    for (let step = 1; step <= limits.steps && step * innerHeight < height(); step++) {
      scrollTo(0, step * innerHeight);
      document.dispatchEvent(new Event('scroll', { bubbles: true }));
      await pause(5);
    }
    scrollTo(0, height());
    document.dispatchEvent(new Event('scroll', { bubbles: true }));
  }

  const refuse = [
    '#onetrust-reject-all-handler', '#CybotCookiebotDialogBodyButtonDecline', '.fc-cta-do-not-consent',
    '[data-testid="uc-deny-all-button"]', '#didomi-notice-disagree-button', '.cmpboxbtnno', '#truste-consent-required',
    '.cc-deny', '.cc-dismiss', '[data-cookiebanner="reject_button"]', 'button[data-role="b_decline"]',
    '.qc-cmp2-summary-buttons button[mode="secondary"]', '#axeptio_btn_dismiss', '.osano-cm-denyAll',
    '.iubenda-cs-reject-btn', '#hs-eu-decline-button', '.cky-btn-reject', '.cmplz-deny',
  ];
  const overlays = [
    '#onetrust-consent-sdk', '#CybotCookiebotDialog', '.fc-consent-root', '#usercentrics-root', '#didomi-host', '#cmpbox',
    '#truste-consent-track', '.cc-window', '.qc-cmp2-container', '#axeptio_overlay', '.osano-cm-window', '#iubenda-cs-banner',
    '#hs-eu-cookie-confirmation', '.cky-consent-container', '#cmplz-cookiebanner-container', '[id^="sp_message_container"]',
    '#cookie-law-info-bar', '.cookie-banner', '.cookie-consent', '.cookie-notice', '#cookie-banner', '#cookie-consent', '#cookie-notice',
  ];
  const about = /cookies?\b|consent|gdpr|datenschutz|privacy (choices|preferences)|confidentialité/i;

  // A consent overlay is answered with no where it says how, and taken away anyway.
  function consent() {
    document.querySelector(refuse.join(','))?.click();
    for (const overlay of document.querySelectorAll(overlays.join(','))) overlay.remove();
    for (const element of document.querySelectorAll('body > div, body > section, body > aside, body > dialog, [role="dialog"], [aria-modal="true"]')) {
      const style = getComputedStyle(element);
      const floats = style.position === 'fixed' || style.position === 'sticky';
      const text = element.textContent;
      if ((floats || element.matches('dialog, [role="dialog"]')) && text.length < 4000 && about.test(text)) element.remove();
    }
    for (const root of [document.documentElement, document.body]) {
      if (root && getComputedStyle(root).overflow === 'hidden') root.style.setProperty('overflow', 'auto', 'important');
    }
  }

  // Folded text is a click away from being seen, and is what its author wants read.
  const folded = (element) => element.closest('details, [role="tabpanel"], [aria-labelledby], [hidden="until-found"]') !== null ||
    (element.id && document.querySelector(`[aria-controls~="${CSS.escape(element.id)}"], [href="#${CSS.escape(element.id)}"], [data-target="#${CSS.escape(element.id)}"]`) !== null);

  function transparent(color) {
    const alpha = /^rgba\(.*,\s*([\d.]+)\)$/.exec(color);
    return alpha !== null && parseFloat(alpha[1]) < 0.05;
  }

  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');

  // The colour behind an element, or null when it can't be told.
  function behind(element) {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== 'none') return null;
      if (!transparent(style.backgroundColor)) return style.backgroundColor;
      if (style.position === 'absolute' || style.position === 'fixed') return null;
    }
    return 'rgb(255, 255, 255)';
  }

  function unseen(element) {
    const style = getComputedStyle(element);
    if (style.display === 'none') return !folded(element);
    if (style.visibility !== 'visible' && style.visibility !== '') return element.children.length === 0 && !folded(element);
    const moves = style.transitionDuration !== '0s' || style.animationName !== 'none';
    if (parseFloat(style.opacity) < 0.05 && !moves) return !folded(element);
    if (style.position === 'absolute' || style.position === 'fixed') {
      const box = element.getBoundingClientRect();
      if (box.right + scrollX < -200 || box.bottom + scrollY < -200) return true;
      if (box.width <= 1 && box.height <= 1 && style.overflow === 'hidden') return true;
    }
    if (!hasText(element)) return false;
    if (parseFloat(style.fontSize) < 2 || transparent(style.color)) return !moves;
    if (parseFloat(style.textIndent) < -500) return true;
    return style.color === behind(element);
  }

  function removeUnseen() {
    const elements = document.body.querySelectorAll('*');
    if (elements.length > limits.styled) return;
    const doomed = [];
    for (const element of elements) {
      if (!silent.has(element.nodeName) && element.namespaceURI === document.documentElement.namespaceURI && unseen(element)) doomed.push(element);
    }
    for (const element of doomed) element.remove();
  }

  // Shadow trees and frames of the same site are part of what a person sees, and of
  // no outerHTML.
  function flatten(root) {
    for (const host of root.querySelectorAll('*')) {
      if (host.shadowRoot) {
        const shadow = document.createElement('div');
        for (const slot of host.shadowRoot.querySelectorAll('slot')) slot.replaceWith(...(slot.assignedNodes().length ? slot.assignedNodes() : slot.childNodes));
        shadow.append(...host.shadowRoot.childNodes);
        for (const style of shadow.querySelectorAll('style')) style.remove();
        flatten(shadow);
        host.append(shadow);
      } else if (host.nodeName === 'IFRAME') {
        let inner = null;
        try { inner = host.contentDocument && host.contentDocument.body; } catch { inner = null; }
        if (inner && inner.textContent.trim().length > 200) {
          const frame = document.createElement('div');
          frame.append(...[...inner.childNodes].map((node) => document.importNode(node, true)));
          host.replaceWith(frame);
        }
      }
    }
  }

  function serialize(most) {
    if (!document.body) return { html: document.documentElement ? document.documentElement.outerHTML.slice(0, most) : '' };
    if (large()) return { large: true };
    removeUnseen();
    flatten(document.body);
    for (const script of document.querySelectorAll('script')) {
      if (!/json/i.test(script.type) && script.textContent.length > 4096) script.textContent = '';
    }
    for (const style of document.querySelectorAll('style')) style.remove();
    const html = '<!DOCTYPE html>\n' + document.documentElement.outerHTML;
    return html.length > most ? { large: true } : { html };
  }

  return { rest, uncover, serialize };
})();
