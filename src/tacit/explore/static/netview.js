// A Bayes net: labels are clicked as evidence, and the distributions of all other columns move.

import { labelOf, withCondition } from "./conditions.js";
import { bdi, choice, el, number } from "./dom.js";
import { graphOf, nameOf } from "./graph.js";
import { difference } from "./measures.js";
import { percent, plain } from "./paint.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {{graph: Graph, arcs: number, interrupted: boolean, marginals: number[][], logEvidence: number}} Net */

const MOST_CARDS = 60;
const FEW = 40; // columns that stay where they are

export class NetView {
  /**
   * @param {Page} page
   * @param {Net} net
   * @param {(question: object) => Promise<any>} ask
   */
  constructor(page, net, ask) {
    this.page = page;
    this.net = net;
    this.ask = ask;
    /** @type {Map<number, number>} */
    this.evidence = new Map();
    this.marginals = net.marginals;
    this.logEvidence = 0;
    this.order = net.marginals.length > FEW ? "changed" : "file";
    this.asked = 0;
    this.place = el("div", {});
    this.beliefs = el("div", {});
    this.field = /** @type {HTMLInputElement} */ (
      el("input", { type: "search", placeholder: "Search columns", "aria-label": "Search columns" })
    );
    this.field.addEventListener("input", () => this.list());
  }

  /**
   * @param {number} column
   * @param {number} code
   */
  async click(column, code) {
    const before = new Map(this.evidence);
    if (this.evidence.get(column) === code) this.evidence.delete(column);
    else this.evidence.set(column, code);
    await this.update(before);
  }

  /** @param {Map<number, number>} before what was asked last, if this cannot be answered */
  async update(before) {
    const asked = ++this.asked;
    try {
      const answer = this.evidence.size
        ? await this.ask({ evidence: Object.fromEntries(this.evidence) })
        : { marginals: this.net.marginals, logEvidence: 0 };
      if (asked !== this.asked) return;
      this.marginals = answer.marginals;
      this.logEvidence = answer.logEvidence;
    } catch (error) {
      if (asked === this.asked) this.evidence = before;
      this.page.fail(error);
    }
    this.element();
  }

  element() {
    const { page, net: { graph, arcs, interrupted }, evidence, place } = this;
    const focused = place.contains(document.activeElement) ? document.activeElement?.getAttribute("data-at") : null;
    const held = [...evidence].map(([c, code]) => el("span", { class: "chip" }, bdi(`${plain(page.schema.columns[c].name.slice(0, 60))} = ${labelOf(page.schema.columns[c], code).slice(0, 60)}`, 140),
      el("button", { "aria-label": "Take this evidence away", onclick: () => this.click(c, code) }, "✕")));
    const select = () => {
      let a = new Map(page.state.a);
      for (const [c, code] of evidence) a = withCondition(a, c, { codes: [code], excluded: false }, page.arities[c]);
      page.set({ a, view: "overview" });
    };
    const none = () => {
      const before = evidence;
      this.evidence = new Map();
      this.update(before);
    };
    const scrolled = this.scrolled();
    place.replaceChildren(
      el("h2", {}, `A Bayes net: ${number(arcs)} arcs`),
      el("p", { class: "quiet" }, "Click a label to say that it is so: all other columns then show how probable their labels are, which the net computes exactly from its tables. What they are without evidence stands behind, in grey.",
        interrupted ? " The search was ended after a minute; this is the best net found by then." : ""),
      graph.arrows.length
        ? el("details", { open: graph.boxes.length <= 30, class: "scroll", tabindex: 0 }, el("summary", {}, "Arcs"),
          graphOf(page, graph, { arrows: graph.arrows.length, chosen: -1, mark: (c) => (evidence.has(c) ? "held" : "") },
            (c) => place.querySelector(`[data-net="${c}"]`)?.scrollIntoView({ block: "center" })))
        : el("p", {}, "No column depends on another."),
      el("div", { class: "tools" },
        choice("Order", [["file", "As in the file"], ["changed", "Most changed first"]], this.order, (order) => {
          this.order = order;
          this.element();
        }),
        this.marginals.length > MOST_CARDS ? this.field : "",
        ...held,
        evidence.size ? el("span", { class: "quiet", role: "status" }, `probability of this evidence: ${probability(this.logEvidence)}`) : "",
        evidence.size ? el("button", { onclick: none }, "Forget evidence") : "",
        evidence.size ? el("button", { onclick: select }, "Select these records") : ""),
      this.beliefs);
    this.list(scrolled);
    if (focused) /** @type {HTMLElement | null} */ (place.querySelector(`[data-at="${focused}"]`))?.focus({ preventScroll: true });
    return place;
  }

  /** @returns {[string, HTMLElement][]} the lists of labels, by column */
  labels() {
    const lists = /** @type {NodeListOf<HTMLElement>} */ (this.beliefs.querySelectorAll(".rowsof"));
    return [...lists].map((rows) => [rows.parentElement?.dataset.net ?? "", rows]);
  }

  /** How far each of them is scrolled, which elements forget when they are put anywhere. */
  scrolled() {
    return new Map(this.labels().map(([c, rows]) => [c, rows.scrollTop]));
  }

  list(scrolled = this.scrolled()) {
    const { beliefs } = this;
    const columns = this.columns();
    const more = columns.length - MOST_CARDS;
    beliefs.replaceChildren(
      el("div", { class: "beliefs" }, ...columns.slice(0, MOST_CARDS).map((c) => this.card(c))),
      columns.length ? "" : el("p", { class: "quiet" }, "No column has this in its name."),
      more > 0 ? el("p", { class: "quiet" }, `… and ${number(more)} columns more; search for them${this.order === "file" ? ", or take “most changed first”" : ""}.`) : "");
    for (const [c, rows] of this.labels()) rows.scrollTop = scrolled.get(c) ?? 0;
  }

  columns() {
    const { columns } = this.page.schema;
    const wanted = this.field.value.trim().toLowerCase();
    const every = this.marginals.map((_, c) => c).filter((c) => columns[c].name.toLowerCase().includes(wanted));
    if (this.order === "file") return every;
    const moved = every.map((c) => (this.evidence.has(c) ? Infinity : difference(this.marginals[c], this.net.marginals[c])));
    return every.sort((x, y) => moved[y] - moved[x] || x - y);
  }

  /** @param {number} c */
  card(c) {
    const { page } = this;
    const column = page.schema.columns[c];
    const [now, before] = [this.marginals[c], this.net.marginals[c]];
    const most = Math.max(...now, ...before, 1e-9);
    const rows = now.map((p, code) => {
      const [base, bar] = [el("i", { class: "base" }), el("i", {})];
      base.style.width = `${(100 * before[code]) / most}%`;
      bar.style.width = `${(100 * p) / most}%`;
      const held = this.evidence.get(c) === code;
      return el("button", {
        class: "belief", "aria-pressed": held, "data-at": `${c}-${code}`, onclick: () => this.click(c, code),
      }, bdi(labelOf(column, code), 60), el("span", { class: "beam", "aria-hidden": "true" }, base, bar), el("span", {}, percent(p)));
    });
    return el("section", { class: `card net ${this.evidence.has(c) ? "chosen" : ""}`, "data-net": c },
      el("h3", {}, nameOf(page, c)), el("div", { class: "rowsof" }, ...rows));
  }
}

/** @param {number} log */
function probability(log) {
  const p = Math.exp(log);
  return p >= 1e-4 ? percent(p) : p > 0 ? p.toExponential(2) : `e^${log.toFixed(0)}`;
}
