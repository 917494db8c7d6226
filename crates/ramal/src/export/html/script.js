'use strict';
// The tree beside the conversation. What is said stands in the articles already; here it is only shown or
// hidden, and told as text.
(() => {
  const HEIGHT = 22;
  const FILTERS = { default: 1, 'no-tools': 2, user: 4, labelled: 8, all: 16 };
  const ACTIVE = 32;
  const LEAF = 64;

  const $ = (id) => document.getElementById(id);
  const articles = Array.from(document.querySelectorAll('main > article'));
  const count = articles.length;
  const up = new Int32Array(count);
  const marks = new Uint8Array(count);
  const shown = new Uint8Array(count);
  let leaf = -1;
  articles.forEach((article, row) => {
    up[row] = Number(article.dataset.up);
    marks[row] = Number(article.dataset.marks);
    shown[row] = article.hidden ? 0 : 1;
    if (marks[row] & LEAF) leaf = row;
  });

  const box = $('rows');
  const space = $('space');
  let chosen = -1;
  let found = null;
  let rows = [];
  let guides = [];

  // Which rows are left, each under its nearest ancestor that is left, and the lines before it.
  function project() {
    const mask = FILTERS[$('filter').value];
    const above = new Int32Array(count);
    const below = new Uint32Array(count);
    let roots = 0;
    rows = [];
    for (let row = 0; row < count; row++) {
      const parent = up[row];
      const visible = parent < 0 ? -1 : above[parent];
      const is = (marks[row] & mask && (!found || found[row])) || row === leaf;
      if (is) {
        rows.push(row);
        if (visible < 0) roots++;
        else below[visible]++;
      }
      // Until here the visible one above; from here on the one that stands for this row.
      above[row] = is ? row : visible;
    }
    const seen = new Uint32Array(count);
    const rest = new Array(count);
    let seenRoots = 0;
    guides = rows.map((row) => {
      const parent = up[row] < 0 ? -1 : above[up[row]];
      const before = parent < 0 ? '' : rest[parent];
      const siblings = parent < 0 ? roots : below[parent];
      if (siblings < 2) {
        rest[row] = before;
        return before;
      }
      const last = (parent < 0 ? ++seenRoots : ++seen[parent]) === siblings;
      const inner = before + (last ? '  ' : '│ ');
      rest[row] = inner.length > 48 ? '…' + inner.slice(-46) : inner;
      return before + (last ? '└ ' : '├ ');
    });
    space.style.height = rows.length * HEIGHT + 'px';
    $('count').textContent = rows.length === count ? count + ' entries' : rows.length + ' of ' + count + ' entries';
    draw();
  }

  function part(name, text) {
    const span = document.createElement('span');
    span.className = name;
    span.textContent = text;
    return span;
  }

  function drawRow(place) {
    const row = rows[place];
    const data = articles[row].dataset;
    const line = document.createElement('div');
    line.className = 'row ' + data.kind + (shown[row] ? ' shown' : '') + (row === chosen ? ' chosen' : '');
    line.dataset.row = row;
    line.setAttribute('role', 'treeitem');
    if (row === chosen) line.setAttribute('aria-selected', 'true');
    line.style.top = place * HEIGHT + 'px';
    line.append(part('guide', guides[place] + (marks[row] & ACTIVE ? '• ' : '  ')));
    if (data.label) line.append(part('label', '[' + data.label + '] '));
    line.append(part('who', data.who + ' '), part('says', data.says));
    if (row === leaf) line.append(part('label', ' ◀ leaf'));
    return line;
  }

  function draw() {
    const from = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 10);
    const to = Math.min(rows.length, from + Math.ceil(box.clientHeight / HEIGHT) + 20);
    const lines = [];
    for (let place = from; place < to; place++) lines.push(drawRow(place));
    space.replaceChildren(...lines);
  }

  // The path through a row, and on along the first branches to the end.
  function pathThrough(row) {
    const path = [];
    for (let at = row; at >= 0; at = up[at]) path.push(at);
    path.reverse();
    for (let at = row + 1; at < count && up[at] === at - 1; at++) path.push(at);
    return path;
  }

  function choose(row) {
    if (row < 0 || row >= count) return;
    if (chosen >= 0) articles[chosen].classList.remove('chosen');
    const path = pathThrough(row);
    const next = new Uint8Array(count);
    for (const at of path) next[at] = 1;
    for (let at = 0; at < count; at++) {
      if (shown[at] !== next[at]) articles[at].hidden = !next[at];
    }
    shown.set(next);
    chosen = row;
    articles[row].classList.add('chosen');
    articles[row].scrollIntoView({ block: 'start' });
    reveal(rows.indexOf(row));
    draw();
  }

  function reveal(place) {
    if (place < 0) return;
    const top = place * HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + HEIGHT - box.clientHeight;
  }

  function go(row) {
    if (location.hash === '#n' + row) choose(row);
    else location.hash = '#n' + row;
  }

  function fromAddress() {
    const named = /^#n(\d+)$/.exec(location.hash);
    if (named) choose(Number(named[1]));
  }

  // Looks through what is said, a little at a time, so that typing goes on.
  let searching = 0;
  function search() {
    clearTimeout(searching);
    const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      found = null;
      project();
      return;
    }
    const finds = new Uint8Array(count);
    let row = 0;
    const go = () => {
      const until = performance.now() + 12;
      while (row < count && performance.now() < until) {
        const text = articles[row].textContent.toLowerCase();
        finds[row] = words.every((word) => text.includes(word)) ? 1 : 0;
        row++;
      }
      if (row < count) {
        searching = setTimeout(go, 0);
        return;
      }
      found = finds;
      project();
    };
    searching = setTimeout(go, 80);
  }

  function move(key) {
    const page = Math.max(1, Math.floor(box.clientHeight / HEIGHT) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    if (!(key in steps) || rows.length === 0) return false;
    const place = rows.indexOf(chosen);
    const next = Math.min(rows.length - 1, Math.max(0, (place < 0 ? 0 : place) + steps[key]));
    go(rows[next]);
    return true;
  }

  box.addEventListener('click', (event) => {
    const line = event.target.closest('[data-row]');
    if (line) go(Number(line.dataset.row));
  });
  box.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.altKey && !event.metaKey && move(event.key)) event.preventDefault();
  });
  box.addEventListener('scroll', draw);
  new ResizeObserver(draw).observe(box);
  $('filter').addEventListener('change', project);
  $('search').addEventListener('input', search);
  $('controls').addEventListener('submit', (event) => event.preventDefault());
  $('open').addEventListener('click', () => {
    const details = articles.flatMap((article, row) => (shown[row] ? Array.from(article.querySelectorAll('details')) : []));
    const open = details.some((one) => !one.open);
    for (const one of details) one.open = open;
  });
  window.addEventListener('hashchange', fromAddress);

  $('tree').hidden = false;
  project();
  fromAddress();
  if (chosen < 0 && leaf >= 0) reveal(rows.indexOf(leaf));
  draw();
})();
