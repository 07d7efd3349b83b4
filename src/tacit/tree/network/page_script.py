"""Style and script of the page of a dependency network; no part of them depends on data.

Names reach the document as text only, never as markup.
"""

from __future__ import annotations

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2430; --faint: #5c6878;
  --line: #c9d2dc; --box: #f3f6fa; --edge: #8294a8; --raises: #0b6aa8; --lowers: #b4530a;
  --varies: #66727f; --mark: #ffe08a; --mark-ink: #1c2430; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e8edf3;
  --faint: #9aa7b6; --line: #36404c; --box: #222a33; --edge: #6d7f93; --raises: #63b7f0;
  --lowers: #f0a35e; --varies: #9aa7b6; --mark: #7a5c00; --mark-ink: #fff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; }
.tacit-network { display: flex; flex-direction: column; min-height: 100vh; padding: 1rem 1.25rem;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h3 { font-size: .9rem; margin: .9rem 0 .2rem; }
p { margin: .2rem 0 .6rem; overflow-wrap: anywhere; }
.faint { color: var(--faint); }
.bar { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center;
  margin: .3rem 0 .7rem; }
.bar label { display: flex; flex-wrap: wrap; align-items: center; gap: .2rem .6rem; min-width: 0; }
#strength { width: min(24rem, 70vw); }
#count { font-weight: 600; }
input[type=search] { font: inherit; padding: .2rem .5rem; width: min(15rem, 60vw); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; margin: 0 0 .6rem; }
.sample { vertical-align: -3px; }
button { font: inherit; padding: .15rem .6rem; cursor: pointer; }
.stage { display: grid; grid-template-columns: minmax(0, 1fr) minmax(16rem, 24rem); gap: 1rem;
  flex: 1; min-height: 30rem; }
.view { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; position: relative;
  min-height: 30rem; }
#graph { width: 100%; height: 100%; display: block; position: absolute; touch-action: none;
  cursor: grab; }
aside { border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow: auto;
  max-height: calc(100vh - 9rem); }
aside ul { list-style: none; margin: 0; padding: 0; }
aside li { display: flex; justify-content: space-between; gap: .8rem; }
aside li button { border: 0; background: none; color: inherit; text-align: left; padding: .1rem 0;
  text-decoration: underline; text-decoration-color: var(--line); overflow-wrap: anywhere; }
aside pre { font-size: 12px; line-height: 1.35; overflow-x: auto; margin: .2rem 0 0; }
.node rect { fill: var(--box); stroke: var(--edge); }
.node text { fill: var(--ink); font-size: 12px; text-anchor: middle; dominant-baseline: central; }
.node { cursor: pointer; outline: none; }
.node:focus-visible rect { stroke: var(--ink); stroke-width: 3; }
.node.near-in rect, .node.near-out rect { stroke: var(--ink); stroke-width: 1.6; }
.node.chosen rect { fill: var(--mark); stroke: var(--ink); stroke-width: 2; }
.node.chosen text { fill: var(--mark-ink); font-weight: 600; }
.arc { fill: none; }
.arc.raises { stroke: var(--raises); } .tip.raises { fill: var(--raises); }
.arc.lowers { stroke: var(--lowers); stroke-dasharray: 6 4; } .tip.lowers { fill: var(--lowers); }
.arc.varies { stroke: var(--varies); } .tip.varies { fill: var(--varies); }
.dim { opacity: .13; }
[hidden] { display: none; }
@media (max-width: 50rem) { .stage { grid-template-columns: minmax(0, 1fr); }
  aside { max-height: none; } aside pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .tacit-network { padding: .8rem .9rem; } }
@media print { .bar, aside { display: none; } .stage { display: block; } }
"""

SCRIPT = """
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const find = id => document.getElementById(id);
const svg = find("graph"), slider = find("strength"), search = find("search");
const nodes = data.names.map((name, k) => ({ name, x: data.x[k], y: data.y[k], w: data.w[k],
  h: data.h, arcs: [] }));
const arcs = data.from.map((from, k) => ({ from, to: data.to[k], gain: data.gain[k], rank: k,
  influence: data.influence[k] }));
let chosen = -1;

function make(kind, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  parent.appendChild(element);
  return element;
}
function say(kind, text, parent, style) {
  const element = document.createElement(kind);
  element.textContent = text;
  if (style) element.className = style;
  parent.appendChild(element);
  return element;
}

// What an arc does to which probability.
function change(arc) {
  const k = arc.rank;
  return `${data.influence[k]} P(${data.event[arc.to]}), on average from ${data.before[k]} to ` +
    data.after[k];
}
const under = make("g", {}, svg), over = make("g", {}, svg);
for (const arc of arcs) {
  const a = nodes[arc.from], b = nodes[arc.to], k = arc.rank;
  a.arcs.push(arc); b.arcs.push(arc);
  arc.line = make("path", { class: "arc", d: data.line[k], "stroke-width": data.width[k],
    opacity: data.fade[k] }, under);
  arc.tip = make("path", { class: "tip", d: data.tip[k] }, under);
  const hint = `${a.name} \\u2192 ${b.name}: ${data.event[arc.from]} ${change(arc)}; ` +
    `gain ${arc.gain.toLocaleString()} ${data.unit}, rank ${k + 1}`;
  make("title", {}, arc.line).textContent = hint;
  make("title", {}, arc.tip).textContent = hint;
}
nodes.forEach((node, k) => {
  node.box = make("g", { class: "node", tabindex: 0, role: "button",
    transform: `translate(${node.x} ${node.y})` }, over);
  node.box.setAttribute("aria-label", node.name);
  make("rect", { x: -node.w / 2, y: -node.h / 2, width: node.w, height: node.h, rx: 8 }, node.box);
  const shown = node.name.length > data.longest
    ? node.name.slice(0, data.longest - 1) + "\\u2026" : node.name;
  make("text", {}, node.box).textContent = shown;
  make("title", {}, node.box).textContent = node.name;
  node.box.addEventListener("click", () => { if (!moved) choose(k); });
  node.box.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(k); }
    else if (event.key.startsWith("Arrow")) { event.preventDefault(); step(node, event.key); }
  });
});

// What is shown: the strongest arcs and their ends, and whatever belongs to the chosen node.
function show() {
  const k = Number(slider.value);
  find("count").textContent = k;
  find("least").textContent = k ? `${data.gain[k - 1].toLocaleString()} ${data.unit}` : "\\u2013";
  const seen = new Set(chosen >= 0 ? [chosen] : []), near = new Map();
  for (const arc of arcs) {
    const touching = arc.from === chosen || arc.to === chosen;
    arc.shown = arc.rank < k || touching;
    if (!arc.shown) continue;
    seen.add(arc.from); seen.add(arc.to);
    const other = arc.from === chosen ? arc.to : arc.from;
    if (touching) near.set(other, arc.from === chosen ? "out" : "in");
  }
  for (const arc of arcs) {
    const side = arc.to === chosen ? " in" : arc.from === chosen ? " out" : "";
    const dim = chosen >= 0 && !side ? " dim" : "";
    arc.line.setAttribute("class", `arc ${arc.influence}${side}${dim}`);
    arc.tip.setAttribute("class", `tip ${arc.influence}${side}${dim}`);
    arc.line.toggleAttribute("hidden", !arc.shown);
    arc.tip.toggleAttribute("hidden", !arc.shown);
  }
  nodes.forEach((node, k) => {
    const side = near.has(k) ? " near-" + near.get(k) : "";
    const dim = chosen >= 0 && k !== chosen && !side ? " dim" : "";
    node.box.setAttribute("class", "node" + (k === chosen ? " chosen" : side + dim));
    node.box.toggleAttribute("hidden", !seen.has(k));
    node.shown = seen.has(k);
  });
}

// The chosen node in words.
function list(title, touching, other, parent) {
  say("h3", `${title} (${touching.length})`, parent);
  const items = say("ul", "", parent);
  for (const arc of touching) {
    const item = say("li", "", items);
    const button = say("button", `${data.mark[arc.rank]} ${nodes[other(arc)].name}`, item);
    button.title = change(arc);
    button.type = "button";
    button.addEventListener("click", () => choose(other(arc), true));
    say("span", `${arc.gain.toLocaleString()} ${data.unit}`, item, "faint");
  }
  if (!touching.length) say("p", "none among these arcs", parent, "faint");
}
function choose(k, follow) {
  chosen = k === chosen && !follow ? -1 : k;
  const panel = find("panel");
  panel.replaceChildren();
  if (chosen < 0) {
    say("p", data.help, panel, "faint");
  } else {
    const node = nodes[chosen];
    say("h2", node.name, panel);
    list("Predicted by", node.arcs.filter(a => a.to === chosen), a => a.from, panel);
    list("Predicts", node.arcs.filter(a => a.from === chosen), a => a.to, panel);
    say("h3", `Its tree (${data.leaves[chosen]} leaves)`, panel);
    say("pre", data.trees[chosen], panel);
    if (follow) { centre(node); }
  }
  show();
  if (follow && chosen >= 0) nodes[chosen].box.focus();
}

// Where to look: pan by dragging, zoom by wheel and buttons.
let frame = { x: 0, y: 0, w: 100, h: 100 }, drag = null, moved = false;
function look() { svg.setAttribute("viewBox", `${frame.x} ${frame.y} ${frame.w} ${frame.h}`); }
function zoom(by, x = frame.x + frame.w / 2, y = frame.y + frame.h / 2) {
  frame = { x: x + (frame.x - x) * by, y: y + (frame.y - y) * by, w: frame.w * by,
    h: frame.h * by };
  look();
}
function fit() {
  const visible = nodes.filter(node => node.shown);
  if (!visible.length) return;
  const low = (f) => Math.min(...visible.map(f)), high = (f) => Math.max(...visible.map(f));
  const x = low(n => n.x - n.w / 2) - 20, y = low(n => n.y - n.h / 2) - 20;
  frame = { x, y, w: Math.max(high(n => n.x + n.w / 2) + 20 - x, 300),
    h: Math.max(high(n => n.y + n.h / 2) + 20 - y, 200) };
  look();
}
// At first no smaller than can be read: on a phone the strongest arc, and what is around it.
function start() {
  fit();
  const s = scale();
  if (s <= 1.6 || !arcs.length) return;
  const a = nodes[arcs[0].from], b = nodes[arcs[0].to];
  zoom(1.25 / s);
  centre({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
}
function centre(node) {
  frame = { ...frame, x: node.x - frame.w / 2, y: node.y - frame.h / 2 };
  look();
}
function scale() {
  const size = svg.getBoundingClientRect();
  return Math.max(frame.w / size.width, frame.h / size.height);
}
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const size = svg.getBoundingClientRect(), s = scale();
  const x = frame.x + frame.w / 2 + (event.clientX - size.left - size.width / 2) * s;
  const y = frame.y + frame.h / 2 + (event.clientY - size.top - size.height / 2) * s;
  zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, x, y);
}, { passive: false });
svg.addEventListener("pointerdown", event => {
  drag = { x: event.clientX, y: event.clientY, frame: { ...frame } };
  moved = false;
});
addEventListener("pointermove", event => {
  if (!drag) return;
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (Math.hypot(dx, dy) > 4) moved = true;
  if (moved) {
    frame.x = drag.frame.x - dx * scale();
    frame.y = drag.frame.y - dy * scale();
    look();
  }
});
addEventListener("pointerup", () => { drag = null; });

// The keyboard: arrow keys go to the nearest box that way.
function step(from, key) {
  const [sx, sy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
    ArrowDown: [0, 1] }[key];
  let best = null, least = Infinity;
  for (const node of nodes) {
    if (!node.shown || node === from) continue;
    const dx = node.x - from.x, dy = node.y - from.y, ahead = dx * sx + dy * sy;
    if (ahead <= 0) continue;
    const far = ahead + 2 * Math.abs(dx * sy) + 2 * Math.abs(dy * sx);
    if (far < least) { least = far; best = node; }
  }
  if (best) best.box.focus();
}
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && chosen >= 0) choose(chosen);
  const typing = event.target === search;
  if (!typing && event.key === "/") { event.preventDefault(); search.focus(); }
  if (!typing && event.key === "+") zoom(1 / 1.25);
  if (!typing && event.key === "-") zoom(1.25);
});

// Search: the first name that is, begins with, or holds the text.
function look_up() {
  const text = search.value.trim().toLowerCase();
  if (!text) { find("message").textContent = ""; return; }
  const names = nodes.map(node => node.name.toLowerCase());
  let k = names.indexOf(text);
  if (k < 0) k = names.findIndex(name => name.startsWith(text));
  if (k < 0) k = names.findIndex(name => name.includes(text));
  find("message").textContent = k < 0 ? "no such column on this page" : "";
  if (k >= 0) choose(k, true);
}
search.addEventListener("change", look_up);
search.addEventListener("keydown", event => { if (event.key === "Enter") look_up(); });
const choices = find("names");
for (const node of nodes) { say("option", "", choices).value = node.name; }
slider.addEventListener("input", show);
find("closer").addEventListener("click", () => zoom(1 / 1.25));
find("wider").addEventListener("click", () => zoom(1.25));
find("fit").addEventListener("click", fit);
say("p", data.help, find("panel"), "faint");
show();
start();
})();
"""
