// A card for each column: its histogram, which takes clicks, drags and keys.

import { conditionWords, inverted, isOrdered, labelOf, range, rangeOf, toggled } from "./conditions.js";
import { bdi, el, estimate, hint, number, say } from "./dom.js";
import { CanvasPainter, ROW, barPlaces, drawBars, drawRows, percent } from "./paint.js";
import { allowed } from "./state.js";
import { sum } from "./measures.js";

/** @typedef {import("./state.js").Condition} Condition */
/** @typedef {import("./source.js").Column} Column */
/** @typedef {ArrayLike<number>} Numbers */
/**
 * What a card asks of the page.
 * @typedef {object} Desk
 * @property {(column: number) => Condition | undefined} condition
 * @property {(column: number, condition: Condition | null, last: boolean) => void} change
 * @property {(column: number) => void} ready a drag over this column is likely
 * @property {(column: number) => void} openPair
 * @property {(column: number) => void} openMenu
 * @property {Record<string, string>} colours
 */
/**
 * @typedef {object} Shown
 * @property {Numbers} a
 * @property {Numbers | null} other
 * @property {string} otherName
 * @property {boolean} paired
 * @property {"fraction" | "count"} scale
 * @property {string} note
 * @property {string} unit what is counted
 * @property {import("./paint.js").Margin} margin
 * @property {((code: number) => [number, number]) | null} otherEnds of intervals, if these are estimates
 */

const SIGNS = { numeric: "numbers", ordered: "in order", boolean: "yes or no" };

export class Card {
  /**
   * @param {Column} column
   * @param {number} position
   * @param {Numbers} base counts in all records
   * @param {Desk} desk
   */
  constructor(column, position, base, desk) {
    this.column = column;
    this.position = position;
    this.base = base;
    this.desk = desk;
    this.cursor = -1;
    this.visible = false;
    /** @type {Shown | null} */
    this.shown = null;
    /** @type {{from: number, moved: boolean, range: [number, number] | null} | null} */
    this.drag = null;
    this.bars = isOrdered(column);
    this.order = rowOrder(column, base);
    this.canvas = /** @type {HTMLCanvasElement} */ (
      el("canvas", { tabindex: 0, role: "img", "aria-label": column.name.slice(0, 80), "aria-keyshortcuts": "ArrowLeft ArrowRight Space i Delete" })
    );
    this.plot = el("div", { class: `plot ${this.bars ? "bars" : "rows"}` }, this.canvas);
    this.clear = el("button", {
      hidden: true, title: "Let everything through", "aria-label": `Clear ${column.name.slice(0, 80)}`,
      onclick: () => desk.change(position, null, true),
    }, "✕");
    this.invert = el("button", {
      hidden: true, title: "Exclude instead of select, or back",
      "aria-label": `Invert ${column.name.slice(0, 80)}`,
      onclick: () => {
        const condition = desk.condition(position);
        if (condition) desk.change(position, inverted(condition), true);
      },
    }, "⊘");
    this.foot = el("div", { class: "foot" });
    const name = el("h2", { title: column.name.slice(0, 300) }, bdi(column.name, 120));
    this.element = el("section", { class: "card", "data-column": position },
      el("div", { class: "head" }, name, this.invert, this.clear,
        el("button", {
          title: "With another column", "aria-label": `Two columns: ${column.name.slice(0, 80)}`,
          onclick: () => desk.openPair(position),
        }, "⊞"),
        el("button", {
          title: "Picture, numbers, code", "aria-label": `Export ${column.name.slice(0, 80)}`,
          onclick: () => desk.openMenu(position),
        }, "⤓")),
      el("div", { class: "kind" }, this.kindText()),
      this.plot, this.foot);
    this.listen();
  }

  kindText() {
    const { kind, labels, missing, merged } = this.column;
    const total = sum(this.base) || 1;
    const n = labels.length - (missing === null ? 0 : 1) - (merged ? 1 : 0) + merged;
    const parts = [
      /** @type {Record<string, string>} */ (SIGNS)[kind] ?? `${number(n)} labels`,
    ];
    if (missing !== null) parts.push(`${percent(this.base[missing] / total)} missing`);
    parts.push(`${percent(this.base[this.column.default] / total)} ${labelOf(this.column, this.column.default).slice(0, 24)}`);
    return parts.join(" · ");
  }

  get size() {
    const width = this.plot.clientWidth;
    return { width, height: this.bars ? this.plot.clientHeight : Math.max(this.order.length * ROW, 20) };
  }

  /** @returns {import("./paint.js").Drawn} */
  get drawn() {
    const shown = /** @type {Shown} */ (this.shown);
    const condition = this.desk.condition(this.position);
    return {
      column: this.column, a: shown.a, other: shown.other, paired: shown.paired,
      through: condition ? allowed(condition, this.column.labels.length) : null,
      scale: shown.scale, order: this.order, cursor: this.cursor,
      margin: shown.margin,
    };
  }

  /**
   * @param {boolean} visible
   */
  look(visible) {
    this.visible = visible;
    if (visible) this.draw();
    else this.canvas.width = 0; // a thousand pictures would take a lot of memory
  }

  /** @param {Shown | null} shown null until it is counted */
  show(shown) {
    this.shown = shown;
    this.draw();
  }

  draw() {
    if (!this.shown || !this.visible) return;
    const condition = this.desk.condition(this.position);
    const chosen = condition !== undefined;
    this.element.classList.toggle("chosen", chosen);
    this.clear.hidden = !chosen;
    this.invert.hidden = !chosen;
    const { width, height } = this.size;
    if (width < 10) return;
    const painter = new CanvasPainter(this.canvas, width, height);
    if (this.bars) drawBars(painter, this.drawn, width, height, this.desk.colours);
    else drawRows(painter, this.drawn, width, this.desk.colours);
    const said = condition ? conditionWords(this.column, condition) : this.shown.note;
    if (this.foot.textContent !== said) this.foot.replaceChildren(bdi(said));
    this.canvas.setAttribute("aria-label", this.summary());
  }

  summary() {
    const shown = /** @type {Shown} */ (this.shown);
    const total = sum(shown.a) || 1;
    const top = [...this.order].sort((x, y) => shown.a[y] - shown.a[x]).slice(0, 3)
      .map((k) => `${labelOf(this.column, k).slice(0, 40)} ${percent(shown.a[k] / total)}`);
    return `${this.column.name.slice(0, 80)}: ${top.join(", ")}. Arrow keys move, space selects.`;
  }

  /** @param {number} code */
  words(code) {
    const shown = /** @type {Shown} */ (this.shown);
    const total = sum(shown.a);
    const part = total ? shown.a[code] / total : 0;
    let said = `${labelOf(this.column, code).slice(0, 120)}\n${estimate(shown.a[code], shown.margin)} ${shown.unit} · ${percent(part)}`;
    if (shown.other) {
      const { otherEnds: ends } = shown;
      const all = sum(shown.other);
      const partOther = all ? shown.other[code] / all : 0;
      said += `\n${shown.otherName}: ${estimate(shown.other[code], ends && (() => ends(code)))} · ${percent(partOther)}`;
      if (partOther > 0 && total) said += ` · lift ${(part / partOther).toFixed(2)}`;
    }
    return said;
  }

  /** @param {{clientX: number, clientY: number}} event */
  codeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    if (this.bars) return barPlaces(this.column, box.width).code(event.clientX - box.left);
    const row = Math.floor((event.clientY - box.top) / ROW);
    return this.order[Math.min(Math.max(row, 0), this.order.length - 1)];
  }

  listen() {
    const { canvas, desk, position } = this;
    const arity = this.column.labels.length;
    canvas.addEventListener("pointerenter", () => desk.ready(position));
    canvas.addEventListener("focus", () => desk.ready(position));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.shown) return;
      const from = this.codeAt(event);
      const now = rangeOf(desk.condition(position));
      const inside = this.bars && now && now[1] > now[0] && from >= now[0] && from <= now[1];
      this.drag = { from, moved: false, range: inside ? now : null };
      if (event.pointerType === "mouse" || this.bars) canvas.setPointerCapture(event.pointerId);
      desk.ready(position);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.shown) return;
      const code = this.codeAt(event);
      hint(this.words(code), event.clientX, event.clientY);
      if (!this.drag || (event.pointerType !== "mouse" && !this.bars)) return;
      if (code === this.drag.from && !this.drag.moved) return;
      this.drag.moved = true;
      desk.change(position, this.dragged(code), false);
    });
    canvas.addEventListener("pointerup", (event) => {
      const drag = this.drag;
      this.drag = null;
      if (!drag) return;
      if (drag.moved) {
        desk.change(position, desk.condition(position) ?? null, true);
        return;
      }
      const condition = desk.condition(position);
      if (event.altKey) {
        const now = condition?.excluded ? condition : { codes: [], excluded: true };
        desk.change(position, toggled(now, drag.from, arity), true);
      } else if (this.bars && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        const only = rangeOf(condition);
        const same = only && only[0] === only[1] && only[0] === drag.from;
        desk.change(position, same ? null : range(drag.from, drag.from), true);
      } else {
        desk.change(position, toggled(condition, drag.from, arity), true);
      }
    });
    canvas.addEventListener("pointercancel", () => {
      if (this.drag?.moved) desk.change(position, desk.condition(position) ?? null, true);
      this.drag = null;
    });
    canvas.addEventListener("pointerleave", () => hint(""));
    canvas.addEventListener("blur", () => {
      this.cursor = -1;
      hint("");
      this.draw();
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * The condition while a drag is at this label.
   * @param {number} code
   * @returns {Condition | null}
   */
  dragged(code) {
    const drag = /** @type {NonNullable<Card["drag"]>} */ (this.drag);
    if (drag.range) {
      const n = this.column.labels.length - (this.column.missing === null ? 0 : 1);
      const [low, high] = drag.range;
      const by = Math.min(Math.max(code - drag.from, -low), n - 1 - high);
      return range(low + by, high + by);
    }
    if (this.bars) return range(drag.from, code);
    const [from, to] = [this.order.indexOf(drag.from), this.order.indexOf(code)];
    const rows = this.order.slice(Math.min(from, to), Math.max(from, to) + 1);
    return { codes: rows.sort((a, b) => a - b), excluded: false };
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.shown) return;
    const codes = this.bars ? this.column.labels.map((_, k) => k) : this.order;
    const condition = this.desk.condition(this.position);
    const at = codes.indexOf(this.cursor);
    const back = event.key === "ArrowLeft" || event.key === "ArrowUp";
    if (back || event.key === "ArrowRight" || event.key === "ArrowDown") {
      const next = Math.min(Math.max(at + (back ? -1 : 1), 0), codes.length - 1);
      if (event.shiftKey && at >= 0) {
        const through = condition ? allowed(condition, codes.length) : codes.map(() => false);
        const both = codes.filter((k) => through[k] || k === codes[at] || k === codes[next]);
        this.desk.change(this.position, { codes: both.sort((a, b) => a - b), excluded: false }, true);
      }
      this.moveTo(codes[next]);
    } else if (event.key === "Home" || event.key === "End") {
      this.moveTo(codes[event.key === "Home" ? 0 : codes.length - 1]);
    } else if ((event.key === " " || event.key === "Enter") && this.cursor >= 0) {
      this.desk.change(this.position, toggled(condition, this.cursor, codes.length), true);
    } else if (event.key === "i" && condition) {
      this.desk.change(this.position, inverted(condition), true);
    } else if ((event.key === "Delete" || event.key === "Backspace") && condition) {
      this.desk.change(this.position, null, true);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @param {number} code */
  moveTo(code) {
    this.cursor = code;
    if (!this.bars) {
      const y = this.order.indexOf(code) * ROW;
      if (y < this.plot.scrollTop) this.plot.scrollTop = y;
      const below = y + ROW - this.plot.clientHeight;
      if (below > this.plot.scrollTop) this.plot.scrollTop = below;
    }
    this.draw();
    const box = this.canvas.getBoundingClientRect();
    const x = this.bars ? barPlaces(this.column, box.width).x(code) : box.width / 2;
    hint(this.words(code), box.left + x, this.bars ? box.bottom - 30 : box.top + (this.order.indexOf(code) + 1) * ROW - 10);
    say(this.words(code).replace(/\n/g, ", "));
  }
}

/**
 * The rows of a column: the most common label first, what is missing or put together last.
 * @param {Column} column
 * @param {Numbers} base
 */
export function rowOrder(column, base) {
  const merged = column.merged ? column.labels.length - (column.missing === null ? 1 : 2) : -1;
  const late = (/** @type {number} */ k) => (k === column.missing ? 2 : k === merged ? 1 : 0);
  return column.labels.map((_, k) => k)
    .sort((x, y) => late(x) - late(y) || base[y] - base[x] || x - y);
}
