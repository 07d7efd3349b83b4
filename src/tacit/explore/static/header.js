// What is selected, above the views: counts, conditions, what A is compared with.

import { conditionWords } from "./conditions.js";
import { bdi, choice, el, estimate, number } from "./dom.js";
import { percent, plain } from "./paint.js";
import { openExport } from "./export.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {import("./state.js").Selection} Selection */

/**
 * @param {Page} page
 * @param {Selection} selection
 * @param {"a" | "b"} which
 */
function chips(page, selection, which) {
  return [...selection].map(([c, condition]) => {
    const column = page.schema.columns[c];
    const name = plain(column.name.slice(0, 80));
    const words = `${name} ${conditionWords(column, condition)}`;
    const drop = () => {
      const rest = new Map(page.state[which]);
      rest.delete(c);
      page.set({ [which]: rest });
    };
    return el("span", { class: `chip of-${which}` }, bdi(words, 160),
      el("button", { "aria-label": `Remove ${words.slice(0, 100)}`, onclick: drop }, "✕"));
  });
}

/**
 * @param {Page} page
 * @param {{a: number, b: number}} sizes
 */
export function selectionBar(page, sizes) {
  const { a, b, view } = page.state;
  // A part is not told apart from the whole, but from the rest of it.
  const apart = view === "difference";
  const against = apart && page.state.against === "all" ? "rest" : page.state.against;
  const size = (/** @type {number} */ n, /** @type {Selection} */ of) =>
    el("span", { class: "count" }, estimate(n, page.margin(of.keys())), el("small", {},
      n === page.total ? ` ${page.unit}, all of them` : ` of ${number(page.total)} ${page.unit} · ${percent(n / (page.total || 1))}`));
  /** @type {[string, string][]} */
  const others = apart ? [["rest", "the rest"]] : [["all", "all"], ["rest", "the rest"]];
  if (b) others.push(["b", "B"]);
  const acts = el("span", { class: "acts" });
  if (a.size || b) {
    acts.append("A against ", choice("A is compared with", others, against, (value) => page.set({ against: value })));
  }
  if (a.size) {
    acts.append(el("button", {
      title: "Keep what is selected as B, to compare something else with it",
      onclick: () => page.set({ b: new Map(a), against: "b" }),
    }, "Keep as B"));
  }
  if (b) {
    acts.append(
      el("button", { title: "A becomes B and B becomes A", onclick: () => page.set({ a: new Map(b), b: new Map(a) }) }, "Swap"),
      el("button", { onclick: () => page.set({ b: null, against: against === "b" ? "all" : against }) }, "Drop B"),
    );
  }
  if (a.size) acts.append(el("button", { onclick: () => page.set({ a: new Map() }) }, "Clear"));
  acts.append(
    el("button", { disabled: !page.canUndo, title: "Ctrl+Z", onclick: () => history.back() }, "↶ Undo"),
    el("button", { title: "Pictures, numbers, code", onclick: () => openExport(page, []) }, "Export"),
  );
  const empty = sizes.a === 0 ? el("span", { class: "quiet" }, "No record matches; take a condition away.") : null;
  /** @type {(Node | string)[]} */
  const parts = [];
  if (b) parts.push(el("span", { class: "letter", "aria-label": "A" }, "A"));
  parts.push(size(sizes.a, a), ...chips(page, a, "a"));
  if (empty) parts.push(empty);
  if (b) {
    parts.push(el("span", { class: "letter of-b", "aria-label": "B" }, "B"), size(sizes.b, b), ...chips(page, b, "b"));
  }
  const bar = page.place("selection");
  const focused = bar.contains(document.activeElement) ? document.activeElement?.textContent : null;
  bar.replaceChildren(...parts, acts);
  if (focused) {
    const again = [...bar.querySelectorAll("button")].find((button) => button.textContent === focused);
    (again ?? page.place("views")).focus({ preventScroll: true });
  }
}
