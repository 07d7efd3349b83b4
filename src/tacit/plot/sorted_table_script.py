"""Style and script of tables that are sorted and searched in the browser; neither has data in it.

Names reach the document as text only, never as markup.
"""

from __future__ import annotations

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root { --paper: #fff; --ink: #1c2430; --faint: #5c6878; --line: #c9d2dc; --mark: #fff0c2;
  --mark-ink: #1c2430; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e8edf3; --faint: #a3afbc;
  --line: #36404c; --mark: #5b4700; --mark-ink: #fff; } }
body { background: var(--paper); color: var(--ink); font-variant-numeric: tabular-nums; }
.faint, .hint { color: var(--faint); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr));
  gap: 1rem; margin: 1rem 0; }
.pictures figure { border: 1px solid var(--line); border-radius: 8px; padding: .4rem; }
.pictures svg { display: block; margin: 0 auto; }
.hint { min-height: 1.4em; margin: .2rem .4rem; font-size: .9rem; overflow-wrap: anywhere; }
.dots { cursor: pointer; }
.bar { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: center;
  margin: 1rem 0 .4rem; }
.bar label { display: flex; flex-wrap: wrap; gap: .2rem .6rem; align-items: center; min-width: 0; }
input[type=search] { font: inherit; padding: .25rem .5rem; width: min(24rem, 75vw); }
button { font: inherit; cursor: pointer; color: var(--ink); background: var(--paper);
  border: 1px solid var(--line); border-radius: 4px; }
button:disabled { color: var(--faint); cursor: default; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .25em .7em; text-align: left; vertical-align: top; font-weight: normal;
  border-bottom: 1px solid var(--line); }
td.items { min-width: 9em; max-width: 34em; overflow-wrap: anywhere; }
th.number, td.number { text-align: right; white-space: nowrap; }
th { padding: 0; border-bottom: 2px solid var(--line); }
th button { border: 0; background: none; color: inherit; padding: .3em .7em; white-space: nowrap;
  font-weight: 600; width: 100%; text-align: inherit; }
th button::after { content: "\\2195" / ""; color: var(--faint); padding-left: .35em; }
th[aria-sort=ascending] button::after { content: "\\2191" / ""; color: var(--ink); }
th[aria-sort=descending] button::after { content: "\\2193" / ""; color: var(--ink); }
button:focus-visible, input:focus-visible { outline: 2px solid var(--ink); outline-offset: -2px; }
tr.chosen td { background: var(--mark); color: var(--mark-ink); }
@media print { .bar, .hint { display: none; } }
"""

SCRIPT = """
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const find = id => document.getElementById(id);
const columns = data.columns, n = data.n, PAGE = 100;
const sides = columns.filter(column => column.kind === "items");
const names = data.names.map(name => name.toLowerCase());
const collator = new Intl.Collator(undefined, { numeric: true });
const search = find("search"), body = find("rows"), heads = [...document.querySelectorAll("th")];
let sorted = data.sorted, descending = data.descending, page = 0, chosen = -1;
let order = Array.from({ length: n }, (_, k) => k), shown = order;

const words = (column, k) => column.values[k].map(item => data.names[item]).join(", ");
function text(column, k) {
  const value = column.values[k];
  if (column.kind === "items") return words(column, k);
  if (value === null) return "";
  if (value === "inf") return "\\u221e";
  if (column.kind === "percent") return `${(100 * value).toFixed(column.digits)}%`;
  if (column.kind === "count") return value.toLocaleString("en", { maximumFractionDigits: 3 });
  return String(Number(value.toPrecision(4)));
}

// Missing numbers are last, whichever way; of equal ones the first stays first.
function sort() {
  const column = columns[sorted], sign = descending ? -1 : 1;
  order = Array.from({ length: n }, (_, k) => k);
  if (column.kind === "items") {
    const keys = order.map(k => words(column, k));
    order.sort((a, b) => sign * collator.compare(keys[a], keys[b]) || a - b);
  } else {
    const keys = column.values.map(x => x === "inf" ? Infinity : x);
    order.sort((a, b) => {
      if (keys[a] === null || keys[b] === null) {
        return (keys[a] === null) - (keys[b] === null) || a - b;
      }
      return keys[a] === keys[b] ? a - b : sign * (keys[a] < keys[b] ? -1 : 1);
    });
  }
}

// What to look for on each side, or on either: parts of names, with commas between them.
function asked() {
  const parts = search.value.toLowerCase().split(/\\u2192|->/);
  const terms = part => part.split(",").map(x => x.trim()).filter(Boolean).map(term =>
    names.map(name => name.includes(term)));
  if (sides.length === 2 && parts.length > 1) {
    return { each: [terms(parts[0]), terms(parts.slice(1).join(" "))], either: [] };
  }
  return { each: sides.map(() => []), either: terms(parts.join(" ")) };
}
function filter() {
  const { each, either } = asked();
  const holds = (side, k, hits) => side.values[k].some(item => hits[item]);
  shown = order.filter(k => either.every(hits => sides.some(side => holds(side, k, hits))) &&
    sides.every((side, j) => each[j].every(hits => holds(side, k, hits))));
  page = 0;
}

function show() {
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  page = Math.min(Math.max(page, 0), pages - 1);
  const rows = shown.slice(page * PAGE, (page + 1) * PAGE).map(k => {
    const row = document.createElement("tr");
    if (k === chosen) row.className = "chosen";
    for (const column of columns) {
      const cell = row.insertCell();
      cell.className = column.kind === "items" ? "items" : "number";
      cell.textContent = text(column, k);
      if (column.low) cell.title = `${data.level} interval: ` +
        [column.low, column.high].map(values => text({ ...column, values }, k)).join(" to ");
    }
    return row;
  });
  body.replaceChildren(...rows);
  const count = x => x.toLocaleString("en");
  const part = shown.length === n ? "" : ` of ${count(n)}`;
  find("status").textContent = shown.length === 0 ? `None of ${count(n)} ${data.what} found` :
    `${count(page * PAGE + 1)}\\u2013${count(Math.min((page + 1) * PAGE, shown.length))} of ` +
    `${count(shown.length)} ${data.what} ${part ? `found, ${part.trim()}` : ""}`.trim();
  find("before").disabled = page === 0;
  find("after").disabled = page === pages - 1;
  heads.forEach((head, j) => head.setAttribute("aria-sort",
    j !== sorted ? "none" : descending ? "descending" : "ascending"));
}

heads.forEach((head, j) => head.querySelector("button").addEventListener("click", () => {
  const first = columns[j].kind !== "items" && !columns[j].least;
  descending = j === sorted ? !descending : first;
  sorted = j;
  sort(); filter(); show();
}));
search.addEventListener("input", () => { filter(); show(); draw(); });
find("before").addEventListener("click", () => { page--; show(); });
find("after").addEventListener("click", () => { page++; show(); });
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault(); search.focus();
  } else if (event.key === "Escape" && document.activeElement === search) {
    search.value = ""; filter(); show(); draw();
  }
});

// The dots of what was found; the one under the mouse is told, and chosen by a click.
const dots = data.dots, paths = [...document.querySelectorAll("path.dots")];
function draw() {
  if (!dots) return;
  const lines = paths.map(() => new Set());
  for (const k of shown) lines[dots.class[k]].add(`M${dots.x[k]} ${dots.y[k]}h0`);
  paths.forEach((path, c) => path.setAttribute("d", [...lines[c]].join("")));
}
if (dots && paths.length) {
  const svg = paths[0].ownerSVGElement, hint = find("hint"), before = hint.textContent;
  const near = event => {
    const at = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(svg.getScreenCTM().inverse());
    let best = -1, least = 100;
    for (const k of shown) {
      const far = (dots.x[k] - at.x) ** 2 + (dots.y[k] - at.y) ** 2;
      if (far < least || (far === least && best >= 0 && dots.class[k] > dots.class[best])) {
        best = k; least = far;
      }
    }
    return best;
  };
  svg.addEventListener("mousemove", event => {
    const k = near(event);
    hint.textContent = k < 0 ? before : `${sides.map(side => words(side, k)).join(" \\u2192 ")}: ` +
      columns.filter(column => column.kind !== "items").slice(0, 3)
        .map(column => `${column.name} ${text(column, k)}`).join(", ");
  });
  svg.addEventListener("click", event => {
    const k = near(event);
    if (k < 0) return;
    chosen = k;
    page = Math.floor(shown.indexOf(k) / PAGE);
    show();
    body.querySelector("tr.chosen").scrollIntoView({ block: "center" });
  });
}
show();
})();
"""
