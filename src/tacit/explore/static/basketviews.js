// Itemsets and rules; recommendations for a basket that is typed in.

import { labelOf, withCondition } from "./conditions.js";
import { bdi, el, number } from "./dom.js";
import { openTable, tableOf } from "./export.js";
import { percent, plain } from "./paint.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {[number, number]} Item a column and a code */
/** @typedef {{if: Item[], then: Item, both: number, confidence: number, lift: number, low: number, high: number}} Rule */
/** @typedef {{sets: {items: Item[], count: number}[], nSets: number, rules: Rule[], nRules: number, total: number}} Itemsets */
/** @typedef {{items: [number, number, number][], algorithm: string}} Recommender */

const OFFERED = 3000; // items in the list that is typed into

/**
 * @param {Page} page
 * @param {Item} item
 */
export function itemName(page, [c, code]) {
  const column = page.schema.columns[c];
  const label = column.labels[code];
  const flag = column.labels.length === 2 && (column.literal === "boolean" || column.literal === "number") && (label === "True" || label === "1");
  return flag ? plain(column.name) : `${plain(column.name.slice(0, 80))} = ${labelOf(column, code).slice(0, 80)}`;
}

/**
 * A name that nothing has yet: names are cut, so that they may agree.
 * @param {Map<string, unknown>} taken
 * @param {string} name
 */
function freeName(taken, name) {
  let free = name;
  for (let k = 2; taken.has(free); k++) free = `${name} (${k})`;
  return free;
}

/**
 * @param {Page} page
 * @param {Item[]} items
 */
function selectItems(page, items) {
  let { a } = page.state;
  for (const [c, code] of items) a = withCondition(a, c, { codes: [code], excluded: false }, page.arities[c]);
  return page.set({ a });
}

/**
 * @param {Page} page
 * @param {Itemsets} found
 */
export function itemsetsOf(page, found) {
  const names = (/** @type {Item[]} */ items) => items.map((item) => itemName(page, item)).join(", ");
  const link = (/** @type {string} */ text, /** @type {Item[]} */ items) =>
    el("button", { class: "link", title: "Select the records with these items", onclick: () => selectItems(page, items) }, bdi(text, 300));
  const rules = found.rules.map((rule) => [
    link(names(rule.if), rule.if), link(itemName(page, rule.then), [...rule.if, rule.then]), percent(rule.confidence),
    rule.lift.toFixed(2), `${rule.low.toFixed(2)} – ${rule.high.toFixed(2)}`, number(rule.both),
  ]);
  const sets = found.sets.map(({ items, count }) => [link(names(items), items), percent(count / (found.total || 1)), number(count)]);
  const exported = [["if", "then", "records", "confidence", "lift", "lift_low", "lift_high"],
    ...found.rules.map((rule) => [names(rule.if), itemName(page, rule.then), String(rule.both), String(rule.confidence), String(rule.lift), String(rule.low), String(rule.high)])];
  const some = (/** @type {number} */ n, /** @type {number} */ all, /** @type {string} */ by) =>
    `${n < all ? `${number(n)} of ${number(all)}` : `All ${number(all)}`}, ${by} first.`;
  return [
    el("h2", {}, "Rules: who has these has that, too"),
    rules.length ? el("p", { class: "quiet" }, some(rules.length, found.nRules, "those of greatest lift"), " Up to four items in all. ",
      el("button", { onclick: () => openTable(page, "rules", exported) }, "Export"))
      : el("p", { class: "quiet" }, "There are none: take a lower support or confidence."),
    rules.length ? tableOf("Rules", ["If", "then", "#Confidence", "#Lift", "#95 % interval", `#${page.heading}`], rules) : "",
    el("h2", {}, "Itemsets"),
    sets.length ? el("p", { class: "quiet" }, some(sets.length, found.nSets, "the most frequent"), " ", el("button", {
      onclick: () => openTable(page, "itemsets", [["items", "records"], ...found.sets.map(({ items, count }) => [names(items), String(count)])]),
    }, "Export")) : el("p", { class: "quiet" }, "No two items are so often together."),
    sets.length ? tableOf("Itemsets", ["Items", "#Support", `#${page.heading}`], sets) : "",
  ];
}

export class RecommendView {
  /**
   * @param {Page} page
   * @param {Recommender} model
   * @param {(question: object) => Promise<any>} ask
   */
  constructor(page, model, ask) {
    this.page = page;
    this.ask = ask;
    /** @type {Map<string, Item>} by what is typed */
    this.items = new Map();
    /** @type {Map<string, string>} */
    this.names = new Map();
    for (const [c, code] of model.items) {
      const name = freeName(this.items, itemName(page, [c, code]));
      this.items.set(name, [c, code]);
      this.names.set(`${c},${code}`, name);
    }
    /** @type {Item[]} */
    this.basket = [];
    /** @type {{item: Item, score: number, because: Item[]}[] | null} */
    this.ranked = null;
    this.said = "";
    this.asked = 0;
    this.place = el("div", {});
    this.update();
  }

  /** @param {Item} item */
  nameOf(item) {
    return this.names.get(item.join()) ?? itemName(this.page, item);
  }

  /** @param {Item} item */
  add(item) {
    this.basket = [...this.basket.filter(([c]) => c !== item[0]), item];
    return this.update();
  }

  async update() {
    const asked = ++this.asked;
    try {
      const { ranked } = await this.ask({ basket: this.basket });
      if (asked !== this.asked) return;
      this.ranked = ranked;
    } catch (error) {
      this.page.fail(error);
    }
    this.element();
  }

  /** @param {string} text */
  typed(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    const names = [...this.items.keys()];
    const exact = names.find((name) => name.toLowerCase() === wanted);
    const partly = names.filter((name) => name.toLowerCase().includes(wanted));
    const found = exact ?? (partly.length === 1 ? partly[0] : undefined);
    this.said = found ? "" : partly.length ? `${number(partly.length)} items have “${text.slice(0, 40)}” in them, such as ${partly[0].slice(0, 80)}.` : `There is no item “${text.slice(0, 60)}”.`;
    if (found) this.add(/** @type {Item} */ (this.items.get(found)));
    else this.element(text);
  }

  /** @param {string} [text] what was typed and not understood */
  element(text = "") {
    const { page, place } = this;
    const typing = place.contains(document.activeElement);
    const input = /** @type {HTMLInputElement} */ (el("input", {
      type: "search", list: "items", placeholder: "Type an item, then Enter", "aria-label": "Item to add", autocomplete: "off",
    }));
    input.value = text;
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.typed(input.value);
    });
    input.addEventListener("input", () => {
      // What is taken from the list comes as a whole, without a key.
      if (this.items.has(input.value) && ![...this.items.keys()].some((name) => name !== input.value && name.startsWith(input.value))) this.typed(input.value);
    });
    const chips = this.basket.map((item) => el("span", { class: "chip" }, bdi(this.nameOf(item), 200), el("button", {
      "aria-label": `Take ${this.nameOf(item).slice(0, 200)} out`,
      onclick: () => {
        this.basket = this.basket.filter((other) => other !== item);
        this.update();
      },
    }, "✕")));
    const ranked = this.ranked?.map(({ item, because }) => [
      el("button", { class: "link", title: "Add it to the basket", onclick: () => this.add(item) }, bdi(this.nameOf(item), 200)),
      because.length ? bdi(because.map((one) => this.nameOf(one)).join(", "), 300) : "",
    ]);
    place.replaceChildren(
      el("h2", {}, "What goes with a basket"),
      el("div", { class: "tools" }, input, ...chips,
        this.basket.length ? el("button", { onclick: () => selectItems(page, this.basket) }, "Select records with these") : "",
        el("span", { class: "quiet", role: "status" }, this.said)),
      el("datalist", { id: "items" }, ...[...this.items.keys()].slice(0, OFFERED).map((name) => el("option", { value: name }))),
      !ranked ? el("p", { class: "quiet" }, "…") : ranked.length
        ? tableOf("Recommendations", [this.basket.length ? "Recommended" : "Recommended to anybody", "because of"], ranked)
        : el("p", { class: "quiet" }, "There is nothing left to recommend."));
    if (typing) input.focus({ preventScroll: true });
    return place;
  }
}
