// The dependency web: which columns predict which.

import { bdi, el, number } from "./dom.js";
import { graphOf, nameOf } from "./graph.js";
import { openTable, tableOf } from "./export.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {{graph: Graph, arcs: number}} Web */

const FIRST = 40;
const LISTED = 30;
const MEANINGS = { raises: "raises", lowers: "lowers", varies: "now one, now the other" };

export class WebView {
  /**
   * @param {Page} page
   * @param {Web} web
   */
  constructor(page, web) {
    this.page = page;
    this.web = web;
    this.arrows = Math.min(FIRST, web.graph.arrows.length);
    this.chosen = -1;
    this.place = el("div", {});
  }

  element() {
    const { page, web: { graph, arcs } } = this;
    const shown = graph.arrows.length;
    if (!shown) {
      this.place.replaceChildren(el("h2", {}, "No column predicts another one"));
      return this.place;
    }
    const slider = /** @type {HTMLInputElement} */ (el("input", { type: "range", min: 1, max: shown, value: this.arrows }));
    slider.addEventListener("input", () => {
      this.arrows = Number(slider.value);
      label.textContent = this.words();
      this.draw(drawn, list);
    });
    const label = el("span", {}, this.words());
    const drawn = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Graph" });
    const list = el("div", {});
    this.place.replaceChildren(
      el("h2", {}, "Which columns predict which"),
      el("p", { class: "quiet" }, `A tree for each column, with splits on others: ${number(arcs)} arrows, from predictor to predicted; the wider, the stronger. `,
        "A triangle raises the probability that a column is not its default, a bar (dashed) lowers it, a diamond does now one, now the other."),
      el("div", { class: "tools" }, el("label", {}, label, slider),
        el("button", { onclick: () => openTable(page, "web", this.rows()) }, "Export")),
      drawn, list);
    this.draw(drawn, list);
    return this.place;
  }

  words() {
    return `The ${number(this.arrows)} strongest`;
  }

  rows() {
    const { columns } = this.page.schema;
    return [["predictor", "predicted", "gain", "influence"],
      ...this.web.graph.arrows.map(({ from, to, gain, influence }) => [columns[from].name, columns[to].name, String(gain), String(influence)])];
  }

  /**
   * @param {HTMLElement} drawn
   * @param {HTMLElement} list
   */
  draw(drawn, list) {
    const { page, web: { graph }, chosen } = this;
    const choose = (/** @type {number} */ column) => {
      this.chosen = column === this.chosen ? -1 : column;
      this.draw(drawn, list);
      const box = drawn.querySelector(".box.chosen");
      if (box instanceof SVGElement) box.focus({ preventScroll: true });
    };
    drawn.replaceChildren(graphOf(page, graph, { arrows: this.arrows, chosen }, choose));
    const arrows = graph.arrows.filter(({ from, to }) => chosen < 0 || from === chosen || to === chosen);
    const open = (/** @type {number} */ x, /** @type {number} */ y) => page.set({ view: "pair", x, y, z: -1 });
    list.replaceChildren(
      el("h3", {}, ...(chosen < 0 ? ["The strongest arrows"] : ["Arrows of ", bdi(page.schema.columns[chosen].name, 100)])),
      tableOf("Arrows", ["Predictor", "Predicted", "Influence", "#Gain, nats", ""], arrows.slice(0, LISTED).map(({ from, to, gain, influence }) => [
        nameOf(page, from), nameOf(page, to), MEANINGS[/** @type {keyof MEANINGS} */ (influence)] ?? "", number(gain ?? 0),
        el("button", { class: "link", onclick: () => open(from, to) }, "Two columns"),
      ])));
  }
}
