'use strict';

// Text from the server only ever becomes text here, never HTML: prompts, titles and
// addresses come from people and from the web.

const $ = (id) => document.getElementById(id);
const over = ['completed', 'failed', 'cancelled'];
let source = null; // the open stream of events
let shown = 0; // counts views, so that an answer that comes late is dropped

function make(tag, text, kind) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function badge(status) {
  return make('span', status, 'badge ' + status);
}

function fail(error) {
  $('failure').textContent = error.message;
  $('failure').hidden = false;
}

async function call(method, path, body, key) {
  const headers = { 'Content-Type': 'application/json' };
  if (key) headers['Idempotency-Key'] = key;
  const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message || 'The server answered ' + response.status);
  return answer;
}

const address = (id) => '/api/research/' + encodeURIComponent(id);

// guarded runs an action of a form or button: once at a time, its failure shown.
function guarded(button, action) {
  return async (event) => {
    if (event) event.preventDefault();
    $('failure').hidden = true;
    button.disabled = true;
    try {
      await action();
    } catch (error) {
      fail(error);
    } finally {
      button.disabled = false;
    }
  };
}

async function showHome() {
  const view = ++shown;
  $('list').replaceChildren();
  $('home').hidden = false;
  await addPage(view, '');
}

async function addPage(view, token) {
  const page = await call('GET', '/api/research?page_size=30&page_token=' + encodeURIComponent(token));
  if (view !== shown) return;
  for (const research of page.researches) {
    const link = make('a', research.initial_prompt);
    link.href = '#' + encodeURIComponent(research.research_id);
    const item = make('li');
    const when = research.created_at ? new Date(research.created_at).toLocaleString() : '';
    item.append(link, make('span', when, 'quiet'), badge(research.status));
    $('list').append(item);
  }
  $('none').hidden = $('list').children.length > 0;
  $('more').hidden = !page.next_page_token;
  $('more').onclick = guarded($('more'), () => addPage(view, page.next_page_token));
}

async function ask() {
  const body = { initial_prompt: $('prompt').value, num_questions: Number($('num').value) };
  const made = await call('POST', '/api/research/questions', body, crypto.randomUUID && crypto.randomUUID());
  location.hash = encodeURIComponent(made.research_id);
}

async function showOne(id) {
  const view = ++shown;
  for (const part of ['answering', 'written', 'wrong', 'progress', 'reason']) $(part).hidden = true;
  $('tree').replaceChildren();
  $('controls').replaceChildren();
  const state = { id, view, queries: new Map(), pages: new Map(), status: '', timer: 0 };
  const research = await call('GET', address(id) + '?view=summary');
  if (view !== shown) return;
  $('title').textContent = research.initial_prompt;
  $('reason').textContent = research.reason ? 'Reason: ' + research.reason : '';
  $('reason').hidden = !research.reason;
  $('one').hidden = false;
  setStatus(state, research.status);
  offerAnswers(state, research);
  for (const query of research.serp_queries) addQuery(state, query.query_id, query.parent_query_id, query.text, query.status);
  for (const page of research.successful_scraped_websites) setPage(state, page.query_id, page.url, page.status, page.error_message);
  if (research.report !== null || over.includes(research.status)) await showDocuments(state);
  if (!over.includes(research.status)) watch(state);
}

function setStatus(state, status) {
  state.status = status;
  $('status').textContent = status;
  $('status').className = 'badge ' + status;
  const actions = { running: ['pause', 'cancel'], reporting: ['cancel'], paused: ['resume', 'cancel'], asking: ['cancel'], ready: ['cancel'] };
  $('controls').replaceChildren(...(actions[status] || []).map((name) => {
    const button = make('button', name[0].toUpperCase() + name.slice(1), 'plain');
    button.type = 'button';
    button.onclick = guarded(button, async () => setStatus(state, (await call('POST', address(state.id) + '/' + name, {})).status));
    return button;
  }));
  if (status !== 'ready') $('answering').hidden = true;
}

function offerAnswers(state, research) {
  if (research.status !== 'ready') return;
  $('answering').hidden = false;
  const inputs = research.followup_questions.map((question, i) => {
    const input = make('input');
    input.id = 'answer' + i;
    const label = make('label', question);
    label.htmlFor = input.id;
    return { label, input };
  });
  $('questions').replaceChildren(...inputs.flatMap(({ label, input }) => [label, input]));
  const button = $('start').querySelector('button');
  $('start').onsubmit = guarded(button, async () => {
    const started = await call('POST', '/api/research/start', {
      research_id: state.id,
      followup_answers: inputs.map(({ input }) => input.value),
      depth: Number($('depth').value),
      breadth: Number($('breadth').value),
    });
    setStatus(state, started.status);
  });
}

function addQuery(state, id, parent, text, status) {
  if (!state.queries.has(id)) {
    const item = make('li');
    const line = make('div', text, 'query');
    const mark = badge(status);
    const pages = make('details');
    const summary = make('summary');
    const list = make('ul');
    const children = make('ul');
    pages.append(summary, list);
    pages.hidden = true;
    line.append(mark);
    item.append(line, pages, children);
    const above = state.queries.get(parent);
    (above ? above.children : $('tree')).append(item);
    state.queries.set(id, { mark, pages, summary, list, children, counts: new Map() });
    $('progress').hidden = false;
  }
  const { mark } = state.queries.get(id);
  mark.textContent = status;
  mark.className = 'badge ' + status;
  count(state);
}

function setPage(state, queryID, url, status, message) {
  const query = state.queries.get(queryID);
  if (!query || !url) return;
  const key = queryID + ' ' + url;
  let page = state.pages.get(key);
  if (!page) {
    const item = make('li');
    const link = make('a', url);
    // Addresses come from search engines: only these two may be followed.
    if (/^https?:/i.test(url)) link.href = url;
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
    page = { mark: badge(status), item };
    item.append(link, page.mark);
    query.list.append(item);
    query.pages.hidden = false;
    state.pages.set(key, page);
  }
  page.mark.textContent = status;
  page.mark.className = 'badge ' + status;
  page.item.title = message || '';
  query.counts.set(url, status);
  const done = [...query.counts.values()].filter((s) => s === 'analyzed').length;
  query.summary.textContent = done + ' of ' + query.counts.size + ' pages read';
  count(state);
}

function count(state) {
  const done = [...state.queries.values()].filter((query) => query.mark.textContent !== 'processing').length;
  const read = [...state.pages.values()].filter((page) => page.mark.textContent === 'analyzed').length;
  $('numbers').textContent = state.queries.size ? done + ' of ' + state.queries.size + ' queries done, ' + read + ' of ' + state.pages.size + ' pages read' : '';
}

async function showDocuments(state) {
  const [report, output] = await Promise.all(['/report', '/error-output'].map((name) => fetch(address(state.id) + name)));
  if (state.view !== shown) return;
  if (report.ok && $('written').hidden) {
    const link = URL.createObjectURL(await report.blob());
    if (state.view !== shown) return;
    $('markdown').href = link;
    $('open').href = address(state.id) + '/report';
    $('report').src = address(state.id) + '/report';
    $('written').hidden = false;
  }
  $('output').href = address(state.id) + '/error-output';
  $('wrong').hidden = !output.ok;
}

// watch follows the events. The browser reconnects by itself with the last event's
// number; after the research's end the server tells it not to.
function watch(state) {
  source = new EventSource(address(state.id) + '/events');
  const on = (type, act) => source.addEventListener(type, (message) => {
    if (state.view === shown) act(JSON.parse(message.data));
  });
  for (const status of ['asking', 'ready', 'running', 'reporting', 'paused', ...over]) {
    on('research.' + status, () => refreshSoon(state));
  }
  on('query.planned', (event) => {
    if (!state.queries.has(event.query_id)) addQuery(state, event.query_id, event.parent_query_id, event.query_text, 'processing');
  });
  on('query.completed', (event) => addQuery(state, event.query_id, event.parent_query_id, event.query_text, 'completed'));
  on('query.failed', (event) => addQuery(state, event.query_id, event.parent_query_id, event.query_text, 'failed'));
  for (const status of ['pending', 'scraping', 'scraped', 'analyzed', 'failed']) {
    on('website.' + status, (event) => setPage(state, event.query_id, event.url, status, event.message));
  }
  on('report.written', () => showDocuments(state).catch(fail));
  on('error_output.written', () => showDocuments(state).catch(fail));
}

// refreshSoon asks for the status itself: the stream begins with the research's first
// event, so an event may tell of a status that is long past.
function refreshSoon(state) {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => refresh(state).catch(fail), 200);
}

async function refresh(state) {
  if (state.view !== shown) return;
  const research = await call('GET', address(state.id) + '?view=summary');
  if (state.view !== shown) return;
  const before = state.status;
  setStatus(state, research.status);
  if (research.status === 'ready' && before !== 'ready') offerAnswers(state, research);
  for (const query of research.serp_queries) addQuery(state, query.query_id, query.parent_query_id, query.text, query.status);
  if (over.includes(research.status)) await showDocuments(state);
}

async function route() {
  if (source) source.close();
  source = null;
  $('failure').hidden = true;
  $('home').hidden = true;
  $('one').hidden = true;
  const id = decodeURIComponent(location.hash.slice(1));
  try {
    await (id ? showOne(id) : showHome());
  } catch (error) {
    fail(error);
  }
}

$('ask').onsubmit = guarded($('ask').querySelector('button'), ask);
window.addEventListener('hashchange', route);
route();
