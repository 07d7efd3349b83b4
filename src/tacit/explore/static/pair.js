// Two columns against each other, and over the labels of a third.

import { isOrdered, labelOf, range } from "./conditions.js";
import { bdi, choice, el, estimate, hint, number, select } from "./dom.js";
import { openExport } from "./export.js";
import { crossMeasures } from "./measures.js";
import { CanvasPainter, SvgPainter, fitted, labelText, percent, short } from "./paint.js";
import { rowOrder } from "./cards.js";
import { selectionText } from "./state.js";

/** @typedef {import("./page.js").Page} Page */
/** @typedef {import("./paint.js").Painter} Painter */
/** @typedef {ReturnType<typeof crossMeasures>} Measures */
/**
 * @typedef {object} Cross a table of two columns, given a selection
 * @property {ArrayLike<number>} table a row for each label of y
 * @property {Measures} measures
 * @property {string} title
 */
/** @typedef {{i: number, j: number, x: number, y: number, w: number, h: number}} Cell */

const MULTIPLES = 12;

export class PairView {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** @type {Cross[]} */
    this.crosses = [];
    /** @type {{canvas: HTMLCanvasElement, cross: Cross, cells: Cell[]}[]} */
    this.drawn = [];
    /** @type {number[][]} rows and columns in the order in which they are drawn */
    this.orders = [[], []];
    /** @type {import("./paint.js").Margin} */
    this.margin = null;
  }

  /** @param {HTMLElement} place */
  async refresh(place) {
    const { page } = this;
    const { columns } = page.schema;
    const { x, y, z, a, form } = page.state;
    const { generation } = page;
    if (columns.length < 2) {
      place.replaceChildren(el("p", { class: "quiet" }, "There is one column only."));
      return;
    }
    /** @type {[string, string][]} */
    const names = columns.map((column, c) => [String(c), column.name]);
    const set = (/** @type {any} */ change) => page.set(change);
    const tools = el("div", { class: "tools" },
      select("Across", names, String(x), (c) => set({ x: Number(c) })),
      select("Down", names, String(y), (c) => set({ y: Number(c) })),
      el("button", { onclick: () => set({ x: y, y: x }) }, "⇄ Swap"),
      select("For each", [["-1", "–"], ...names], String(z), (c) => set({ z: Number(c) })),
      choice("Form", [["heat", "Heat map"], ["mosaic", "Mosaic"]], form, (value) => set({ form: value })),
      el("span", { class: "end" },
        el("button", { onclick: () => openExport(page, [x, y, ...(z < 0 ? [] : [z])]) }, "Export")));
    if (x === y || z === x || z === y) {
      place.replaceChildren(tools, el("p", { class: "quiet" }, "Choose different columns."));
      return;
    }
    const [nx, ny] = [page.arities[x], page.arities[y]];
    const given = selectionText(a, x, y, z);
    const [[table]] = await page.source.tables([{ given, sets: [z < 0 ? [y, x] : [z, y, x]] }]);
    if (generation !== page.generation || page.state.view !== "pair") return;
    this.orders = [y, x].map((c) =>
      isOrdered(columns[c]) ? columns[c].labels.map((_, k) => k) : rowOrder(columns[c], page.base[c]));
    const parts = [];
    if (z < 0) {
      parts.push({ table, title: "" });
    } else {
      const size = nx * ny;
      const most = rowOrder(columns[z], page.base[z]);
      const shown = isOrdered(columns[z]) ? most.slice(0, MULTIPLES).sort((p, q) => p - q) : most.slice(0, MULTIPLES);
      for (const k of shown) {
        parts.push({ table: table.subarray(k * size, (k + 1) * size), title: labelOf(columns[z], k) });
      }
    }
    const { sample } = page.source;
    this.margin = page.margin([x, y, ...(z < 0 ? [] : [z]), ...a.keys()]);
    const told = sample && this.margin ? sample.size / sample.of : 1; // what a count says of others
    this.crosses = parts.map((part) => ({ ...part, measures: crossMeasures(part.table, ny, nx, told) }));
    this.drawn = [];
    const conditions = given ? " among the selected records" : "";
    const title = el("h2", {}, bdi(columns[y].name, 120), " and ", bdi(columns[x].name, 120), conditions);
    let body;
    if (z < 0) {
      const [cross] = this.crosses;
      body = el("div", {}, this.facts(cross.measures), this.heat(cross));
    } else {
      const rest = page.arities[z] - this.crosses.length;
      body = el("div", {}, el("div", { class: "multiples" }, ...this.crosses.map((cross) =>
        el("div", {}, el("h3", {}, bdi(`${columns[z].name.slice(0, 60)}: ${cross.title}`, 200)),
          el("p", { class: "quiet" }, `${number(cross.measures.total)} ${page.unit} · ${cross.measures.information.toPrecision(3)} nats · V ${cross.measures.v.toFixed(2)}`),
          this.heat(cross)))),
        rest > 0 ? el("p", { class: "quiet" }, `${rest} rarer labels are not drawn.`) : "");
    }
    place.replaceChildren(tools, el("div", { class: "panel" }, title, body, this.legend()));
    this.draw();
  }

  /** @param {Measures} measures */
  facts(measures) {
    const { total, information, chi2, dof, p, v } = measures;
    const fact = (/** @type {string} */ name, /** @type {string} */ value) =>
      el("span", {}, `${name} `, el("b", {}, value));
    return el("div", { class: "facts" },
      fact(this.page.unit, number(total)),
      fact("mutual information", `${this.margin ? "≈ " : ""}${information.toPrecision(3)} nats`),
      fact("χ²", `${chi2 < 1000 ? chi2.toPrecision(4) : number(chi2)}, ${dof} d.f.`),
      fact("p", p < 1e-300 ? "< 1e-300" : p.toPrecision(2)),
      fact("Cramér's V", v.toFixed(3)));
  }

  /** @param {Cross} cross */
  heat(cross) {
    const { page } = this;
    const canvas = /** @type {HTMLCanvasElement} */ (el("canvas", {
      tabindex: 0, role: "img", "aria-label": `${cross.title} ${this.summary(cross)}`.slice(0, 400),
    }));
    const drawn = { canvas, cross, cells: /** @type {Cell[]} */ ([]) };
    this.drawn.push(drawn);
    let at = 0;
    const cellAt = (/** @type {PointerEvent} */ event) => {
      const box = canvas.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      return drawn.cells.findIndex((c) => px >= c.x && px < c.x + c.w && py >= c.y && py < c.y + c.h);
    };
    const choose = (/** @type {number} */ k) => {
      const cell = drawn.cells[k];
      if (!cell) return;
      const a = new Map(page.state.a);
      a.set(page.state.x, range(cell.j, cell.j)).set(page.state.y, range(cell.i, cell.i));
      page.set({ a });
    };
    canvas.addEventListener("pointermove", (event) => {
      const k = cellAt(event);
      hint(k < 0 ? "" : this.words(cross, drawn.cells[k]), event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerleave", () => hint(""));
    canvas.addEventListener("blur", () => hint(""));
    canvas.addEventListener("click", (event) => choose(cellAt(/** @type {PointerEvent} */ (event))));
    canvas.addEventListener("keydown", (event) => {
      const wide = this.orders[1].length;
      const moves = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide });
      if (event.key in moves) {
        at = Math.min(Math.max(at + moves[event.key], 0), drawn.cells.length - 1);
        const cell = drawn.cells[at];
        const box = canvas.getBoundingClientRect();
        hint(this.words(cross, cell), box.left + cell.x, box.top + cell.y);
      } else if (event.key === "Enter" || event.key === " ") {
        choose(at);
      } else {
        return;
      }
      event.preventDefault();
    });
    return el("div", { class: "heat" }, canvas);
  }

  /** @param {Cross} cross */
  summary({ measures }) {
    return `Heat map: ${number(measures.total)} ${this.page.unit}, mutual information ${measures.information.toPrecision(3)} nats. Arrow keys move, Enter selects.`;
  }

  /**
   * @param {Cross} cross
   * @param {Cell} cell
   */
  words({ table, measures }, { i, j }) {
    const { columns } = this.page.schema;
    const { x, y } = this.page.state;
    const at = i * this.page.arities[x] + j;
    const expected = measures.expected[at];
    const ratio = expected ? (table[at] / expected).toFixed(2) : "–";
    const names = [[y, i], [x, j]].map(([c, k]) => `${columns[c].name.slice(0, 60)}: ${labelOf(columns[c], k).slice(0, 90)}`);
    return `${names.join("\n")}\n${estimate(table[at], this.margin)} ${this.page.unit}, ${number(expected)} expected · lift ${ratio}\n`
      + `${percent(table[at] / (measures.across[j] || 1))} of the column, ${percent(table[at] / (measures.down[i] || 1))} of the row`;
  }

  draw() {
    for (const drawn of this.drawn) {
      const width = drawn.canvas.parentElement?.clientWidth ?? 0;
      if (width < 20) continue;
      const height = this.height(width);
      const painter = new CanvasPainter(drawn.canvas, width, height);
      drawn.cells = this.paint(painter, drawn.cross, width, height, this.page.colours);
    }
  }

  /** @param {number} width */
  height(width) {
    const rows = this.orders[0].length;
    if (this.page.state.form === "mosaic") return Math.min(Math.max(width * 0.55, 240), 520);
    return rows * Math.min(Math.max(300 / rows, 15), 34) + 22;
  }

  /**
   * The view as one picture: small multiples two by two, each under its label.
   * @param {number} width
   * @param {string} title
   */
  picture(width, title) {
    const { card, ink } = this.page.colours;
    const painter = new SvgPainter();
    const one = this.height(width);
    if (this.crosses.length === 1) {
      this.paint(painter, this.crosses[0], width, one, this.page.colours);
      return painter.picture(width, one, title, card);
    }
    const gap = 22;
    this.crosses.forEach((cross, k) => {
      const [x, y] = [(k % 2) * (width + gap), Math.floor(k / 2) * (one + 2 * gap) + gap];
      painter.move(x, y);
      painter.text(2, -6, fitted(cross.title || " ", width - 4, 13), { colour: ink, size: 13 });
      this.paint(painter, cross, width, one, this.page.colours);
    });
    painter.move(0, 0);
    return painter.picture(2 * width + gap, Math.ceil(this.crosses.length / 2) * (one + 2 * gap), title, card);
  }

  /**
   * Draw cells, and return where they are.
   * @param {Painter} p
   * @param {Cross} cross
   * @param {number} width
   * @param {number} height
   * @param {Record<string, string>} colour
   * @returns {Cell[]}
   */
  paint(p, cross, width, height, colour) {
    const { page, orders: [rows, across] } = this;
    const { columns } = page.schema;
    const { x, y, form } = page.state;
    const { table, measures } = cross;
    const left = Math.min(Math.max(width * 0.24, 60), 170);
    const tall = height - 20;
    const room = width - left - 4;
    const n = page.arities[x];
    /** @type {Cell[]} */
    const cells = [];
    const total = measures.total || 1;
    if (form === "mosaic") {
      const start = new Map();
      let from = left;
      for (const j of across) {
        start.set(j, from);
        from += (measures.across[j] / total) * room;
      }
      const down = new Map(across.map((j) => [j, 0]));
      for (const i of rows) {
        for (const j of across) {
          const h = measures.across[j] ? (table[i * n + j] / measures.across[j]) * tall : 0;
          cells.push({ i, j, x: start.get(j), y: down.get(j) ?? 0, w: (measures.across[j] / total) * room, h });
          down.set(j, (down.get(j) ?? 0) + h);
        }
      }
    } else {
      const [w, h] = [room / across.length, tall / rows.length];
      rows.forEach((i, r) => across.forEach((j, c) => cells.push({ i, j, x: left + c * w, y: r * h, w, h })));
    }
    for (const cell of cells) {
      const at = cell.i * n + cell.j;
      const gap = Math.min(1, cell.w * 0.1, cell.h * 0.1);
      p.rect(cell.x, cell.y, cell.w - gap, cell.h - gap, colour.off);
      const strength = cellStrength(table[at], measures.expected[at]);
      if (strength) {
        p.rect(cell.x, cell.y, cell.w - gap, cell.h - gap, strength > 0 ? colour.more : colour.less, Math.abs(strength));
      }
      if (form === "heat" && cell.w > 42 && cell.h >= 15) {
        const ink = Math.abs(strength) > 0.55 ? colour.card : colour.ink;
        p.text(cell.x + cell.w / 2, cell.y + cell.h / 2 + 4, fitted(number(table[at]), cell.w - 4, 11), { colour: ink, anchor: "middle" });
      }
    }
    const edges = new Map();
    for (const cell of cells) if (cell.j === across[0]) edges.set(cell.i, cell);
    let free = -Infinity;
    for (const [i, cell] of edges) {
      const at = Math.min(Math.max(cell.y + cell.h / 2 + 4, 9), tall);
      if (at - free < 12) continue;
      free = at;
      p.text(2, at, fitted(labelText(columns[y].labels[i]), left - 8, 11), { colour: colour.ink });
    }
    let taken = -Infinity;
    for (const cell of cells.filter(({ i }) => i === rows[0])) {
      const { edges: cuts } = columns[x];
      const text = cuts && cell.j > 0 && cell.j <= cuts.length ? short(cuts[cell.j - 1]) : cuts && cell.j === 0 ? "" : labelText(columns[x].labels[cell.j]);
      const said = fitted(text, Math.max(cell.w - 4, 34), 10);
      const at = cuts && cell.j <= cuts.length ? cell.x : cell.x + cell.w / 2;
      if (!said || at < taken) continue;
      p.text(Math.min(at, width - 16), height - 6, said, { colour: colour.faint, size: 10, anchor: "middle" });
      taken = at + 42;
    }
    return cells;
  }

  legend() {
    const { colours } = this.page;
    const canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { "aria-hidden": "true" }));
    const painter = new CanvasPainter(canvas, 120, 10);
    for (let k = 0; k < 24; k++) {
      const part = (k - 11.5) / 11.5;
      painter.rect(k * 5, 0, 5, 10, part > 0 ? colours.more : colours.less, Math.abs(part));
    }
    return el("div", { class: "legend" }, "fewer than expected", canvas, "more than expected, if the columns were independent");
  }
}

/**
 * How strongly a cell is coloured, from -1 to 1: by its lift, fainter where it may be chance.
 * @param {number} count
 * @param {number} expected
 */
export function cellStrength(count, expected) {
  if (!expected) return 0;
  const lifted = Math.max(Math.min(Math.log2((count + 1e-9) / expected) / 2, 1), -1);
  const residual = Math.abs(count - expected) / Math.sqrt(expected);
  return lifted * Math.min(residual / 2, 1);
}
