// Runs in the page's own world before its scripts. Nobody looks at the page: what
// waits for a frame to be drawn, or for coming into view, gets it at once. A page can
// undo this; it then only shows less.
(() => {
  const started = performance.now();
  window.requestAnimationFrame = (callback) => setTimeout(() => callback(performance.now()), 8);
  window.cancelAnimationFrame = (id) => clearTimeout(id);
  window.requestIdleCallback = (callback) => setTimeout(() => callback({ didTimeout: false, timeRemaining: () => 10 }), 1);
  window.cancelIdleCallback = (id) => clearTimeout(id);

  window.IntersectionObserver = class IntersectionObserver {
    #callback; #targets = new Set();
    constructor(callback, options = {}) {
      this.#callback = callback;
      this.root = options.root ?? null;
      this.rootMargin = options.rootMargin ?? '0px';
      this.thresholds = [options.threshold ?? 0].flat();
    }
    observe(target) {
      this.#targets.add(target);
      setTimeout(() => {
        if (!this.#targets.has(target)) return;
        const box = target.getBoundingClientRect();
        this.#callback([{
          target, isIntersecting: true, isVisible: true, intersectionRatio: 1, time: performance.now() - started,
          boundingClientRect: box, intersectionRect: box, rootBounds: null,
        }], this);
      }, 0);
    }
    unobserve(target) { this.#targets.delete(target); }
    disconnect() { this.#targets.clear(); }
    takeRecords() { return []; }
  };

  window.open = () => null;
  window.print = () => {};
})();
