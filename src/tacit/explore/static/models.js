// Models of the selected records, learnt in the background; each kind is shown by a module of its own.

import { conditionWords } from "./conditions.js";
import { bdi, choice, el, number, select } from "./dom.js";
import { percent, plain } from "./paint.js";
import { selectionText } from "./state.js";
import { itemsetsOf, RecommendView } from "./basketviews.js";
import { NetView } from "./netview.js";
import { clustersOf, treeOf } from "./treeviews.js";
import { WebView } from "./webview.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./state.js").State["model"]} Kind */
/**
 * A model that was learnt.
 * @typedef {object} Found
 * @property {any} model
 * @property {Selection} base the records that it was learnt from
 * @property {number} size
 * @property {{element: () => HTMLElement} | null} view of kinds that can be asked
 */

const WAIT = 400; // milliseconds
/** @type {[Kind, string, string][]} */
const KINDS = [
  ["tree", "Decision tree", "A decision tree says what tells the labels of a column apart; each of its nodes can become the selection."],
  ["clusters", "Clusters", "Clusters are kinds of records: a naive Bayes mixture, with what each has more or less often than the others."],
  ["web", "Dependency web", "A dependency network has a tree for each column, grown from all others; its arrows say which columns predict which."],
  ["net", "Bayes net", "A Bayes net is one joint distribution of all columns. Click labels as evidence, and see how probable all others become."],
  ["itemsets", "Itemsets, rules", "Labels that often occur together (other than the most common one of a column), and rules from some of them to one more."],
  ["recommend", "Recommendations", "Type what is in a basket, and see what goes with it, and because of what."],
];

export class ModelsView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.target = -1;
    this.clusters = 6;
    this.support = 0.01;
    this.confidence = 0.3;
    /** @type {"selection" | "all"} */
    this.of = "selection";
    /** @type {string | null} */
    this.job = null;
    this.seconds = 0;
    this.progress = "";
    /** @type {Map<Kind, Found>} */
    this.learnt = new Map();
    this.said = "";
    // Who closes the page waits for no model.
    addEventListener("pagehide", () => {
      if (this.job) page.source.job?.({ job: this.job, cancel: true }, true).catch(() => {});
    });
  }

  /** @type {Found | null} */
  get found() {
    return this.learnt.get(this.page.state.model) ?? null;
  }

  /** @param {HTMLElement} place */
  refresh(place) {
    const { page } = this;
    const { model: kind, a } = page.state;
    if (!page.source.model) {
      place.replaceChildren(el("div", { class: "panel" }, el("h2", {}, "This file cannot learn models"),
        el("p", { class: "quiet" }, "It holds records and counts them. Trees, clusters, nets, itemsets and recommendations are learnt by `tacit explore` with the data, where the same address shows the same selection.")));
      return;
    }
    if (this.target < 0) this.target = page.state.target < 0 ? page.schema.target ?? 0 : page.state.target;
    const running = this.job !== null;
    const of = a.size ? choice("Learn from", [["selection", "Selection"], ["all", "All records"]], this.of, (value) => {
      this.of = value;
      this.refresh(place);
    }) : "";
    place.replaceChildren(
      el("div", { class: "tools" },
        choice("Model", KINDS.map(([value, name]) => [value, name]), kind, (value) => {
          this.said = running ? this.said : "";
          page.set({ model: value });
        })),
      el("div", { class: "tools" },
        ...this.parameters(kind), of,
        el("button", { class: "main", disabled: running, onclick: () => this.learn() },
          a.size && this.of === "selection" ? "Learn from the selection" : "Learn from all records"),
        running ? el("button", { onclick: () => this.cancel() }, "Cancel") : "",
        el("span", { class: "quiet", role: "status", id: "status" }, this.status())),
      this.result(kind));
  }

  /**
   * @param {Kind} kind
   * @returns {(Node | string)[]}
   */
  parameters(kind) {
    const choices = (/** @type {number[]} */ values, /** @type {(value: number) => string} */ text) =>
      /** @type {[string, string][]} */ (values.map((value) => [String(value), text(value)]));
    if (kind === "tree") {
      return [select("of", this.page.schema.columns.map((column, c) => [String(c), column.name]), String(this.target), (c) => {
        this.target = Number(c);
      })];
    }
    if (kind === "clusters") {
      return [select("Number", choices([3, 4, 5, 6, 8, 10, 12, 16, 20], String), String(this.clusters), (k) => {
        this.clusters = Number(k);
      })];
    }
    if (kind === "itemsets") {
      return [
        select("Support at least", choices([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2], percent), String(this.support), (x) => {
          this.support = Number(x);
        }),
        select("Confidence at least", choices([0.1, 0.2, 0.3, 0.5, 0.7, 0.9], percent), String(this.confidence), (x) => {
          this.confidence = Number(x);
        })];
    }
    return [];
  }

  status() {
    return this.job === null ? this.said : `learning … ${this.seconds.toFixed(0)} s${this.progress}`;
  }

  show() {
    if (this.page.state.view === "models") this.refresh(this.page.place("views"));
  }

  async learn() {
    const { page } = this;
    if (!page.source.model || this.job !== null) return;
    const kind = page.state.model;
    const whole = this.of === "all" || !page.state.a.size;
    /** @type {Selection} */
    const base = whole ? new Map() : new Map(page.state.a);
    const size = whole ? page.total : page.sizes.a;
    const { target, clusters, support, confidence } = this;
    const request = kind === "tree" ? { target } : kind === "clusters" ? { clusters } : kind === "itemsets" ? { support, confidence } : {};
    this.job = "";
    this.progress = "";
    this.seconds = 0;
    this.show();
    try {
      const { job } = await page.source.model({ model: kind, given: selectionText(base), ...request });
      if (this.job !== "") { // cancelled before it had a name
        await page.source.job?.({ job, cancel: true });
        return;
      }
      this.job = job;
      await this.follow(job, base, size);
    } catch (error) {
      this.job = null;
      this.said = "";
      page.fail(error);
      this.show();
    }
  }

  /**
   * Ask until it is done.
   * @param {string} job
   * @param {Selection} base
   * @param {number} size
   */
  async follow(job, base, size) {
    const { page } = this;
    while (this.job === job && page.source.job) {
      const report = await page.source.job({ job });
      if (this.job !== job) return;
      this.seconds = report.seconds;
      this.progress = report.what ? `, ${number(report.done)} of ${number(report.total)} ${report.what}` : "";
      if (report.state === "running") {
        const status = document.getElementById("status");
        if (status) status.textContent = this.status();
        await new Promise((resolve) => setTimeout(resolve, WAIT));
        continue;
      }
      this.job = null;
      this.said = report.state === "done" ? `learnt in ${report.seconds.toFixed(1)} s` : report.state;
      if (report.state === "done") this.keep(job, report.model, base, size);
      if (report.problem) page.problem(report.problem);
      this.show();
    }
  }

  /**
   * @param {string} job
   * @param {any} model
   * @param {Selection} base
   * @param {number} size
   */
  keep(job, model, base, size) {
    const { page } = this;
    const ask = (/** @type {object} */ question) =>
      /** @type {NonNullable<Page["source"]["job"]>} */ (page.source.job).call(page.source, { job, question });
    const view = model.kind === "web" ? new WebView(page, model) : model.kind === "net" ? new NetView(page, model, ask)
      : model.kind === "recommend" ? new RecommendView(page, model, ask) : null;
    this.learnt.set(model.kind, { model, base, size, view });
  }

  async cancel() {
    const { page, job } = this;
    if (job === null || !page.source.job) return;
    this.job = null;
    this.said = "cancelled";
    this.show();
    if (!job) return;
    try {
      await page.source.job({ job, cancel: true });
    } catch (error) {
      page.fail(error);
    }
  }

  /** @param {Kind} kind */
  result(kind) {
    if (!this.found) {
      return el("div", { class: "panel" }, el("p", { class: "quiet" }, KINDS.find(([value]) => value === kind)?.[2] ?? ""));
    }
    const { page } = this;
    const { model, base, size, view } = this.found;
    const given = [...base].map(([c, condition]) => {
      const column = page.schema.columns[c];
      return `${plain(column.name.slice(0, 80))} ${conditionWords(column, condition)}`;
    });
    const of = el("p", { class: "quiet" }, `Learnt from ${number(size)} ${page.schema.weighted ? "(weight) of records" : "records"}`, given.length ? bdi(`: ${given.join("; ")}`, 300) : "");
    const parts = view ? [view.element()] : model.kind === "tree" ? treeOf(page, model, base)
      : model.kind === "clusters" ? clustersOf(page, model.clusters) : itemsetsOf(page, model);
    return el("div", { class: "panel" }, ...parts, of);
  }
}
