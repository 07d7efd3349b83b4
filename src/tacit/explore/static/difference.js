// What is different here: columns and labels by how A differs, then conjunctions.

import { labelOf, withCondition } from "./conditions.js";
import { bdi, el, estimate, number } from "./dom.js";
import { openTable } from "./export.js";
import { lift, sum } from "./measures.js";
import { percent, plain } from "./paint.js";
import { selectionText } from "./state.js";

/** @typedef {import("./page.js").Page} Page */

const SHOWN = 40;

export class DifferenceView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.asked = "";
    /** @type {any} */
    this.found = null;
  }

  /** @param {HTMLElement} place */
  async refresh(place) {
    const { page } = this;
    const { a, b, against } = page.state;
    if (!a.size && !(b && against === "b")) {
      place.replaceChildren(el("div", { class: "panel" },
        el("h2", {}, "Nothing is selected yet"),
        el("p", { class: "quiet" },
          "Select values in the overview; here you then see what sets those records apart. To see what changed between two periods or two files, select one, keep it as B, and select the other.")));
      return;
    }
    const { generation } = page;
    const ranked = await page.differences();
    if (generation !== page.generation || page.state.view !== "difference") return;
    const name = against === "b" && b ? "B" : "the rest";
    const known = new Set([...a.keys(), ...(against === "b" && b ? b.keys() : [])]);
    const rows = ranked.filter(({ column, nats }) => nats > 0 && !known.has(column));
    const most = rows.length ? rows[0].nats : 1;
    const table = el("table", {},
      el("thead", {}, el("tr", {},
        el("th", { scope: "col" }, "Column"),
        el("th", { scope: "col", title: "What the column says about whether a record is in A, in nats, if both sides were equally large" }, "Difference"),
        el("th", { scope: "col" }, "Label"),
        el("th", { scope: "col", class: "number" }, "in A"),
        el("th", { scope: "col", class: "number" }, `in ${name}`),
        el("th", { scope: "col", class: "number" }, "Lift"),
        el("th", { scope: "col", class: "number" }, "95 % interval"),
        el("th", { scope: "col", class: "number" }, page.heading))),
      el("tbody", {}, ...rows.slice(0, SHOWN).flatMap((row) => this.rows(row, most))));
    const more = rows.length > SHOWN ? el("p", { class: "quiet" }, `… and ${number(rows.length - SHOWN)} columns that differ less`) : "";
    const sizes = sum(ranked[0].a) && sum(ranked[0].other);
    place.replaceChildren(
      el("div", { class: "panel" },
        el("h2", {}, `How A differs from ${name}`),
        sizes && rows.length ? el("p", {}, el("button", { onclick: () => openTable(page, "difference", this.exported(rows, name)) }, "Export")) : "",
        sizes && rows.length ? el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Differences" }, table)
          : el("p", { class: "quiet" }, sizes ? "No column differs." : `There are no records in A or in ${name}.`),
        more),
      this.conjunctions(name));
  }

  /**
   * The lift and its interval, which is that of the records that were counted.
   * @param {number} column
   * @param {number} a
   * @param {number} m
   * @param {number} b
   * @param {number} n
   */
  lift(column, a, m, b, n) {
    const { state, source: { sample } } = this.page;
    const about = this.page.margin([column, ...state.a.keys()]) ?? (state.b && this.page.margin([column, ...state.b.keys()]));
    const told = about && sample ? sample.size / sample.of : 1;
    return lift(a * told, m * told, b * told, n * told);
  }

  /**
   * All labels of all columns that differ, for a file.
   * @param {Awaited<ReturnType<Page["differences"]>>} rows
   * @param {string} name
   */
  exported(rows, name) {
    const { columns } = this.page.schema;
    return [["column", "nats", "label", "count_a", `count_${name === "B" ? "b" : "rest"}`, "lift", "lift_low", "lift_high"],
      ...rows.flatMap(({ column, nats, a, other }) => Array.from(a, (count, k) => {
        const { ratio, low, high } = this.lift(column, count, sum(a), other[k], sum(other));
        return [columns[column].name, String(nats), columns[column].labels[k] ?? "", String(count), String(other[k]), String(ratio), String(low), String(high)];
      }))];
  }

  /**
   * @param {Awaited<ReturnType<Page["differences"]>>[number]} row
   * @param {number} most
   */
  rows({ column, a, other, nats }, most) {
    const { page } = this;
    const info = page.schema.columns[column];
    const [m, n] = [sum(a), sum(other)];
    const labels = Array.from(a, (count, k) => ({ k, count, ...this.lift(column, count, m, other[k], n) }))
      .filter(({ k, count }) => count > 0 || other[k] > 0)
      .sort((x, y) => Math.abs(y.z) - Math.abs(x.z)).slice(0, 3);
    const bar = el("i", {});
    bar.style.width = `${(100 * nats) / most}%`;
    return labels.map((label, k) => {
      const narrow = () => page.set({
        a: withCondition(page.state.a, column, { codes: [label.k], excluded: false }, info.labels.length),
      });
      return el("tr", {},
        el("td", {}, k ? "" : el("button", { class: "link", onclick: () => page.openPair(column) }, bdi(info.name, 120))),
        el("td", {}, ...(k ? [] : [el("span", { class: "meter", "aria-hidden": "true" }, bar), el("small", { class: "quiet" }, nats.toPrecision(3))])),
        el("td", {}, el("button", { class: "link", title: "Select it, too", onclick: narrow }, bdi(labelOf(info, label.k), 120))),
        el("td", { class: "number" }, percent(label.count / (m || 1))),
        el("td", { class: "number" }, percent(other[label.k] / (n || 1))),
        el("td", { class: "number" }, Number.isFinite(label.ratio) ? label.ratio.toFixed(2) : "∞"),
        el("td", { class: "number" }, `${label.low.toFixed(2)} – ${label.high.toFixed(2)}`),
        el("td", { class: "number" }, estimate(label.count, page.margin([column, ...page.state.a.keys()]))));
    });
  }

  /** @param {string} name */
  conjunctions(name) {
    const { page } = this;
    const panel = el("div", { class: "panel" }, el("h2", {}, `Combinations that are typical of A rather than of ${name}`));
    if (!page.source.findings) {
      panel.append(el("p", { class: "quiet" },
        "This file holds the counts; the search for combinations needs `tacit explore` and the data."));
      return panel;
    }
    const { a, b, against } = page.state;
    const request = { a: selectionText(a), b: against === "b" && b ? selectionText(b) : null };
    const key = JSON.stringify(request);
    if (this.asked === key && this.found) {
      panel.append(this.list());
      return panel;
    }
    const status = el("p", { class: "quiet", role: "status" }, "Searching all combinations of up to three conditions …");
    panel.append(status);
    this.asked = key;
    this.found = null;
    page.source.findings(request).then((found) => {
      if (this.asked !== key) return;
      this.found = found;
      status.replaceWith(this.list());
    }, (error) => {
      if (this.asked !== key) return;
      this.asked = "";
      status.textContent = error instanceof Error ? error.message : String(error);
    });
    return panel;
  }

  list() {
    const { page } = this;
    /** @type {any[]} */
    const rules = this.found.rules;
    if (!rules.length) return el("p", { class: "quiet" }, "No combination is typical of A.");
    const rows = rules.slice(0, SHOWN).map((rule) => {
      const narrow = () => {
        let a = page.state.a;
        for (const [c, code] of Object.entries(rule.given)) {
          a = withCondition(a, Number(c), { codes: [Number(code)], excluded: false }, page.arities[Number(c)]);
        }
        page.set({ a });
      };
      const words = Object.entries(rule.given).map(([c, code]) => {
        const column = page.schema.columns[Number(c)];
        return `${plain(column.name.slice(0, 80))} = ${labelOf(column, Number(code)).slice(0, 80)}`;
      });
      return el("tr", {},
        el("td", {}, el("button", { class: "link", title: "Select them, too", onclick: narrow }, bdi(words.join("  and  "), 300))),
        el("td", { class: "number" }, percent(rule.confidence)),
        el("td", { class: "number" }, rule.lift.toFixed(2)),
        el("td", { class: "number" }, percent(rule.lowest)),
        el("td", { class: "number" }, `${number(rule.hits)} of ${number(rule.support)}`));
    });
    const exported = () => openTable(page, "combinations", [["conditions", "records", "in_a", "fraction", "lift", "at_least"],
      ...rules.map(({ text, support, hits, confidence, lift: ratio, lowest }) => [text, support, hits, confidence, ratio, lowest].map(String))]);
    return el("div", {},
      el("p", {}, el("button", { onclick: exported }, "Export")),
      el("p", { class: "quiet" }, `${percent(this.found.fraction)} of all records compared are in A. Of those that match, this many are:`),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Combinations" }, el("table", {},
        el("thead", {}, el("tr", {},
          el("th", { scope: "col" }, "Conditions"), el("th", { scope: "col", class: "number" }, "in A"),
          el("th", { scope: "col", class: "number" }, "Lift"),
          el("th", { scope: "col", class: "number", title: "The lower end of the 95 % interval, by which they are ranked" }, "at least"),
          el("th", { scope: "col", class: "number" }, page.heading))),
        el("tbody", {}, ...rows))));
  }
}
