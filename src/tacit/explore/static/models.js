// Models of the selected records, learnt in the background: a tree whose nodes select, clusters.

import { conditionWords, labelOf, withCondition } from "./conditions.js";
import { bdi, choice, el, number, select } from "./dom.js";
import { percent } from "./paint.js";
import { selectionText } from "./state.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {{parent: number, column: number, given: Record<string, number[]>, counts: number[]}} TreeNode */
/** @typedef {{target: number, classes: number[], nodes: TreeNode[]}} Tree */
/** @typedef {{column: number, code: number, probability: number, overall: number, lift: number, low: number, high: number}} Trait */
/** @typedef {{size: number, traits: Trait[]}} Cluster */

const OPEN = 3; // levels of a tree that are shown at first
const WAIT = 400; // milliseconds

export class ModelsView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.kind = "tree";
    this.target = -1;
    this.clusters = 6;
    /** @type {string | null} */
    this.job = null;
    this.seconds = 0;
    /** @type {{model: any, base: import("./state.js").Selection, size: number} | null} */
    this.found = null;
    this.said = "";
  }

  /** @param {HTMLElement} place */
  refresh(place) {
    const { page } = this;
    const { columns } = page.schema;
    if (this.target < 0) this.target = page.state.target < 0 ? page.schema.target ?? 0 : page.state.target;
    /** @type {[string, string][]} */
    const names = columns.map((column, c) => [String(c), column.name]);
    /** @type {[string, string][]} */
    const sizes = [3, 4, 5, 6, 8, 10, 12, 16, 20].map((k) => [String(k), String(k)]);
    const again = () => this.refresh(place);
    const running = this.job !== null;
    place.replaceChildren(
      el("div", { class: "tools" },
        choice("Model", [["tree", "Decision tree"], ["clusters", "Clusters"]], this.kind, (kind) => {
          this.kind = kind;
          again();
        }),
        this.kind === "tree"
          ? select("of", names, String(this.target), (c) => {
            this.target = Number(c);
          })
          : select("Number", sizes, String(this.clusters), (k) => {
            this.clusters = Number(k);
          }),
        el("button", { disabled: running, onclick: () => this.learn() },
          page.state.a.size ? "Learn from the selection" : "Learn from all records"),
        running ? el("button", { onclick: () => this.cancel() }, "Cancel") : "",
        el("span", { class: "quiet", role: "status", id: "status" }, this.status())),
      this.result());
  }

  status() {
    return this.job === null ? this.said : `learning … ${this.seconds.toFixed(0)} s`;
  }

  show() {
    if (this.page.state.view === "models") this.refresh(this.page.place("views"));
  }

  async learn() {
    const { page } = this;
    if (!page.source.model || this.job !== null) return;
    const base = new Map(page.state.a);
    const request = this.kind === "tree" ? { target: this.target } : { clusters: this.clusters };
    try {
      const { job } = await page.source.model({ model: this.kind, given: selectionText(base), ...request });
      this.job = job;
      this.seconds = 0;
      this.show();
      await this.follow(job, base, page.sizes.a);
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
   * @param {import("./state.js").Selection} base
   * @param {number} size
   */
  async follow(job, base, size) {
    const { page } = this;
    while (this.job === job && page.source.job) {
      const report = await page.source.job({ job });
      if (this.job !== job) return;
      this.seconds = report.seconds;
      if (report.state === "running") {
        const status = document.getElementById("status");
        if (status) status.textContent = this.status();
        await new Promise((resolve) => setTimeout(resolve, WAIT));
        continue;
      }
      this.job = null;
      this.said = report.state === "done" ? `learnt in ${report.seconds.toFixed(1)} s` : report.state;
      if (report.state === "done") this.found = { model: report.model, base, size };
      if (report.problem) page.problem(report.problem);
      this.show();
    }
  }

  async cancel() {
    const { page, job } = this;
    if (job === null || !page.source.job) return;
    try {
      await page.source.job({ job, cancel: true });
      if (this.job === job) {
        this.job = null;
        this.said = "cancelled";
      }
    } catch (error) {
      page.fail(error);
    }
    this.show();
  }

  result() {
    if (!this.found) {
      return el("div", { class: "panel" }, el("p", { class: "quiet" },
        "A decision tree says what tells the labels of a column apart; each of its nodes can become the selection. Clusters are kinds of records: a naive Bayes mixture, with what each has more or less often than the others."));
    }
    const { model, base, size } = this.found;
    const given = [...base].map(([c, condition]) => {
      const column = this.page.schema.columns[c];
      return `${column.name.slice(0, 80)} ${conditionWords(column, condition)}`;
    });
    const of = el("p", { class: "quiet" }, `Learnt from ${number(size)} records`, given.length ? bdi(`: ${given.join("; ")}`, 300) : "");
    return el("div", { class: "panel" }, ...("nodes" in model ? this.tree(model, base) : this.groups(model.clusters)), of);
  }

  /**
   * @param {Tree} tree
   * @param {import("./state.js").Selection} base
   * @returns {(Node | string)[]}
   */
  tree(tree, base) {
    const { page } = this;
    const target = page.schema.columns[tree.target];
    const children = tree.nodes.map(() => /** @type {number[]} */ ([]));
    tree.nodes.forEach((node, k) => {
      if (node.parent >= 0) children[node.parent].push(k);
    });
    /**
     * @param {number} k
     * @param {number} depth
     * @returns {HTMLElement}
     */
    const branch = (k, depth) => {
      const { column, given, counts } = tree.nodes[k];
      const total = counts.reduce((x, y) => x + y, 0) || 1;
      const best = counts.indexOf(Math.max(...counts));
      const words = k ? `${page.schema.columns[column].name.slice(0, 80)} ${conditionWords(page.schema.columns[column], { codes: given[column], excluded: false })}` : "all";
      const choose = () => {
        let a = base;
        for (const [c, codes] of Object.entries(given)) {
          const before = base.get(Number(c));
          const known = new Set(codes);
          const both = before && !before.excluded ? before.codes.filter((code) => known.has(code))
            : before ? codes.filter((code) => !before.codes.includes(code)) : codes;
          a = withCondition(a, Number(c), { codes: both, excluded: false }, page.arities[Number(c)]);
        }
        page.set({ a });
      };
      const bar = el("i", {});
      bar.style.width = `${(100 * counts[best]) / total}%`;
      const line = el("span", { class: "node" },
        el("button", { class: "link", title: "Select these records", onclick: choose }, bdi(words, 160)),
        el("span", { class: "meter", "aria-hidden": "true" }, bar),
        bdi(`${labelOf(target, tree.classes[best]).slice(0, 60)} ${percent(counts[best] / total)}`, 120),
        el("span", { class: "quiet" }, `${number(total)} records`));
      if (!children[k].length) return el("li", {}, line);
      return el("li", {}, el("details", { open: depth < OPEN }, el("summary", {}, line),
        el("ul", {}, ...children[k].map((child) => branch(child, depth + 1)))));
    };
    return [el("h2", {}, "What tells ", bdi(target.name, 100), " apart"), el("ul", { class: "tree" }, branch(0, 0))];
  }

  /**
   * @param {Cluster[]} clusters
   * @returns {(Node | string)[]}
   */
  groups(clusters) {
    const { page } = this;
    const total = clusters.reduce((n, cluster) => n + cluster.size, 0) || 1;
    const parts = clusters.map((cluster, k) => el("div", {},
      el("h3", {}, `Cluster ${k + 1}: ${number(Math.round(cluster.size))} records, ${percent(cluster.size / total)}`),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Cluster ${k + 1}` }, el("table", {},
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Label"),
          el("th", { scope: "col", class: "number" }, "here"), el("th", { scope: "col", class: "number" }, "overall"),
          el("th", { scope: "col", class: "number" }, "Lift"), el("th", { scope: "col", class: "number" }, "95 % interval"))),
        el("tbody", {}, ...cluster.traits.map((trait) => {
          const column = page.schema.columns[trait.column];
          const words = `${column.name.slice(0, 80)} = ${labelOf(column, trait.code).slice(0, 80)}`;
          const choose = () => page.set({
            a: withCondition(page.state.a, trait.column, { codes: [trait.code], excluded: false }, page.arities[trait.column]),
          });
          return el("tr", {},
            el("td", {}, el("button", { class: "link", title: "Select it", onclick: choose }, bdi(words, 160))),
            el("td", { class: "number" }, percent(trait.probability)), el("td", { class: "number" }, percent(trait.overall)),
            el("td", { class: "number" }, trait.lift.toFixed(2)),
            el("td", { class: "number" }, `${trait.low.toFixed(2)} – ${trait.high.toFixed(2)}`));
        }))))));
    return [el("h2", {}, `${clusters.length} kinds of records`), el("div", { class: "kinds" }, ...parts)];
  }
}
