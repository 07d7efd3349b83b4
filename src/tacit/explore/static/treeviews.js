// A tree whose nodes select; clusters and what each of them has more often.

import { conditionWords, labelOf, withCondition } from "./conditions.js";
import { bdi, el, number } from "./dom.js";
import { percent, plain } from "./paint.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {{parent: number, column: number, given: Record<string, number[]>, counts: number[]}} TreeNode */
/** @typedef {{target: number, classes: number[], nodes: TreeNode[]}} Tree */
/** @typedef {{column: number, code: number, probability: number, overall: number, lift: number, low: number, high: number}} Trait */
/** @typedef {{size: number, traits: Trait[]}} Cluster */

const OPEN = 3; // levels of a tree that are shown at first

/**
 * @param {Page} page
 * @param {Tree} tree
 * @param {import("./state.js").Selection} base
 * @returns {(Node | string)[]}
 */
export function treeOf(page, tree, base) {
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
    const words = k ? `${plain(page.schema.columns[column].name.slice(0, 80))} ${conditionWords(page.schema.columns[column], { codes: given[column], excluded: false })}` : "all";
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
      el("span", { class: "quiet" }, `${number(total)} ${page.unit}`));
    if (!children[k].length) return el("li", {}, line);
    return el("li", {}, el("details", { open: depth < OPEN }, el("summary", {}, line),
      el("ul", {}, ...children[k].map((child) => branch(child, depth + 1)))));
  };
  return [el("h2", {}, "What tells ", bdi(target.name, 100), " apart"), el("ul", { class: "tree" }, branch(0, 0))];
}

/**
 * @param {Page} page
 * @param {Cluster[]} clusters
 * @returns {(Node | string)[]}
 */
export function clustersOf(page, clusters) {
  const total = clusters.reduce((n, cluster) => n + cluster.size, 0) || 1;
  const parts = clusters.map((cluster, k) => el("div", {},
    el("h3", {}, `Cluster ${k + 1}: ${number(Math.round(cluster.size))} ${page.unit}, ${percent(cluster.size / total)}`),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Cluster ${k + 1}` }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Label"),
        el("th", { scope: "col", class: "number" }, "here"), el("th", { scope: "col", class: "number" }, "overall"),
        el("th", { scope: "col", class: "number" }, "Lift"), el("th", { scope: "col", class: "number" }, "95 % interval"))),
      el("tbody", {}, ...cluster.traits.map((trait) => {
        const column = page.schema.columns[trait.column];
        const words = `${plain(column.name.slice(0, 80))} = ${labelOf(column, trait.code).slice(0, 80)}`;
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
