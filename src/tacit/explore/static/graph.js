// Boxes and arrows of columns that depend on each other; the server has laid them out.

import { bdi } from "./dom.js";
import { plain } from "./paint.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {{column: number, x: number, y: number, w: number, h: number}} Box */
/** @typedef {{from: number, to: number, width: number, line: string, head: string, gain?: number, influence?: string, change?: number}} Arrow */
/** @typedef {{boxes: Box[], arrows: Arrow[]}} Graph */

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 12;

/**
 * @param {string} tag
 * @param {Record<string, string | number | null>} given
 * @param {...Node} children
 */
function shape(tag, given, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) {
    if (value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * @param {Page} page
 * @param {Graph} graph
 * @param {object} look
 * @param {number} look.arrows how many arrows are shown
 * @param {number} look.chosen a column, or -1
 * @param {(column: number) => string} [look.mark] a class for the box of a column
 * @param {(column: number) => void} choose
 */
export function graphOf(page, graph, { arrows, chosen, mark }, choose) {
  const shown = graph.arrows.slice(0, arrows);
  const linked = new Set(shown.flatMap(({ from, to }) => [from, to]));
  const boxes = graph.boxes.filter(({ column }) => linked.has(column));
  const [left, top, right, bottom] = [
    Math.min(...boxes.map((box) => box.x - box.w / 2)), Math.min(...boxes.map((box) => box.y - box.h / 2)),
    Math.max(...boxes.map((box) => box.x + box.w / 2)), Math.max(...boxes.map((box) => box.y + box.h / 2)),
  ];
  const [width, height] = [right - left + 2 * MARGIN, bottom - top + 2 * MARGIN];
  const picture = shape("svg", {
    viewBox: `${left - MARGIN} ${top - MARGIN} ${width} ${height}`, width: Math.round(width), height: Math.round(height),
    class: "graph", role: "group", "aria-label": `${boxes.length} columns, ${shown.length} arrows`,
  });
  picture.style.minWidth = `${Math.min(width, Math.max(0.6 * width, 300))}px`; // below that it scrolls
  // The strongest arrows lie above the others.
  for (const { from, to, width: wide, line, head, influence } of [...shown].reverse()) {
    const near = chosen < 0 || from === chosen || to === chosen;
    picture.append(shape("g", { class: `arrow ${influence ?? ""} ${near ? "" : "far"}` },
      shape("path", { d: line, "stroke-width": wide }), shape("polygon", { points: head })));
  }
  for (const { column, x, y, w, h } of boxes) {
    const { name } = page.schema.columns[column];
    const text = shape("text", { x, y: y + 4 }, document.createTextNode(plain(name.slice(0, 28))));
    const box = shape("g", {
      class: `box ${column === chosen ? "chosen" : ""} ${mark?.(column) ?? ""}`, tabindex: 0, role: "button",
      "aria-pressed": String(column === chosen), "aria-label": name.slice(0, 100),
    }, shape("title", {}, document.createTextNode(plain(name.slice(0, 200)))),
    shape("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 5 }), text);
    box.addEventListener("click", () => choose(column));
    box.addEventListener("keydown", (event) => {
      const { key } = /** @type {KeyboardEvent} */ (event);
      if (key !== "Enter" && key !== " ") return;
      event.preventDefault();
      choose(column);
    });
    picture.append(box);
  }
  return picture;
}

/**
 * @param {Page} page
 * @param {number} column
 */
export function nameOf(page, column) {
  return bdi(page.schema.columns[column].name, 100);
}
