"""Style and script of the page of a dependency network; no part of them depends on data.

Names reach the document as text only, never as markup.
"""

from __future__ import annotations

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2430; --faint: #5c6878;
  --line: #c9d2dc; --box: #f3f6fa; --edge: #8294a8; --arc: #7d8fa3; --in: #b4530a;
  --out: #0b6aa8; --mark: #ffe08a; --mark-ink: #1c2430; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e8edf3;
  --faint: #9aa7b6; --line: #36404c; --box: #222a33; --edge: #6d7f93; --arc: #64758a;
  --in: #f0a35e; --out: #63b7f0; --mark: #7a5c00; --mark-ink: #fff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; }
.tacit-network { display: flex; flex-direction: column; min-height: 100vh; padding: 1rem 1.25rem;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h3 { font-size: .9rem; margin: .9rem 0 .2rem; }
p { margin: .2rem 0 .6rem; }
.faint { color: var(--faint); }
.bar { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center;
  margin: .3rem 0 .7rem; }
.bar label { display: flex; align-items: center; gap: .6rem; }
#strength { width: min(24rem, 50vw); }
#count { min-width: 3ch; text-align: right; display: inline-block; font-weight: 600; }
input[type=search] { font: inherit; padding: .2rem .5rem; width: 15rem; }
button { font: inherit; padding: .15rem .6rem; cursor: pointer; }
.stage { display: grid; grid-template-columns: minmax(0, 1fr) minmax(16rem, 24rem); gap: 1rem;
  flex: 1; min-height: 30rem; }
.view { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; position: relative;
  min-height: 30rem; }
svg { width: 100%; height: 100%; display: block; position: absolute; touch-action: none;
  cursor: grab; }
aside { border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow: auto;
  max-height: calc(100vh - 9rem); }
aside ul { list-style: none; margin: 0; padding: 0; }
aside li { display: flex; justify-content: space-between; gap: .8rem; }
aside li button { border: 0; background: none; color: inherit; text-align: left; padding: .1rem 0;
  text-decoration: underline; text-decoration-color: var(--line); overflow-wrap: anywhere; }
aside pre { font-size: 12px; line-height: 1.35; overflow-x: auto; margin: .2rem 0 0; }
.in { color: var(--in); } .out { color: var(--out); }
.node rect { fill: var(--box); stroke: var(--edge); }
.node text { fill: var(--ink); font-size: 12px; text-anchor: middle; dominant-baseline: central; }
.node { cursor: pointer; outline: none; }
.node:focus-visible rect { stroke: var(--ink); stroke-width: 3; }
.node.near-in rect { stroke: var(--in); stroke-width: 2; }
.node.near-out rect { stroke: var(--out); stroke-width: 2; }
.node.chosen rect { fill: var(--mark); stroke: var(--ink); stroke-width: 2; }
.node.chosen text { fill: var(--mark-ink); font-weight: 600; }
.arc { fill: none; stroke: var(--arc); }
.arc.in { stroke: var(--in); } .arc.out { stroke: var(--out); }
.tip { fill: var(--arc); } .tip.in { fill: var(--in); } .tip.out { fill: var(--out); }
.dim { opacity: .13; }
[hidden] { display: none; }
@media (max-width: 50rem) { .stage { grid-template-columns: 1fr; } aside { max-height: none; } }
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
const arcs = data.from.map((from, k) => ({ from, to: data.to[k], gain: data.gain[k], rank: k }));
const most = arcs.length ? arcs[0].gain : 1;
const pairs = new Set(arcs.map(a => a.from + ">" + a.to));
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

// Arcs: curves from border to border, with a tip that has the width of its line.
function border(node, x, y) {
  const dx = x - node.x, dy = y - node.y;
  const reach = Math.max(Math.abs(dx) / (node.w / 2), Math.abs(dy) / (node.h / 2), 1e-9);
  return [node.x + dx / reach, node.y + dy / reach];
}
const under = make("g", {}, svg), over = make("g", {}, svg);
for (const arc of arcs) {
  const a = nodes[arc.from], b = nodes[arc.to];
  a.arcs.push(arc); b.arcs.push(arc);
  const bend = pairs.has(arc.to + ">" + arc.from) ? 0.18 : 0.05;
  const cx = (a.x + b.x) / 2 - bend * (b.y - a.y), cy = (a.y + b.y) / 2 + bend * (b.x - a.x);
  const strength = Math.sqrt(Math.max(arc.gain, 0) / most), width = 0.8 + 4 * strength * strength;
  const [x1, y1] = border(a, cx, cy), [x2, y2] = border(b, cx, cy);
  const long = 6 + 6 * strength, d = Math.hypot(x2 - cx, y2 - cy) || 1;
  const ux = (x2 - cx) / d, uy = (y2 - cy) / d, half = long * 0.42;
  const bx = x2 - long * ux, by = y2 - long * uy;
  arc.line = make("path", { class: "arc", d: `M${x1} ${y1}Q${cx} ${cy} ${bx} ${by}`,
    "stroke-width": width, opacity: 0.45 + 0.5 * strength }, under);
  arc.tip = make("path", { class: "tip", d: `M${x2} ${y2}L${bx - half * uy} ${by + half * ux}` +
    `L${bx + half * uy} ${by - half * ux}Z` }, under);
  const hint = `${a.name} \\u2192 ${b.name}: gain ${arc.gain}, rank ${arc.rank + 1}`;
  make("title", {}, arc.line).textContent = hint;
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
  find("least").textContent = k ? data.gain[k - 1].toLocaleString() : "\\u2013";
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
    arc.line.setAttribute("class", "arc" + side + dim);
    arc.tip.setAttribute("class", "tip" + side + dim);
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
function list(title, style, touching, other, parent) {
  const head = say("h3", `${title} (${touching.length})`, parent, style);
  const items = say("ul", "", parent);
  for (const arc of touching) {
    const item = say("li", "", items);
    const button = say("button", nodes[other(arc)].name, item);
    button.type = "button";
    button.addEventListener("click", () => choose(other(arc), true));
    say("span", arc.gain.toLocaleString(), item, "faint");
  }
  if (!touching.length) say("p", "none among these arcs", parent, "faint");
  return head;
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
    list("Predicted by", "in", node.arcs.filter(a => a.to === chosen), a => a.from, panel);
    list("Predicts", "out", node.arcs.filter(a => a.from === chosen), a => a.to, panel);
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
fit();
})();
"""
