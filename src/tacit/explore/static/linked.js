// Linked counts: each view given the conditions on all other columns, and what a drag will need.

import { allowed, selectionText } from "./state.js";

/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Counts} Counts */
/** @typedef {import("./source.js").Group} Group */

/**
 * Tables of an active column and each other one, summed up along the active column.
 * @typedef {object} Cube
 * @property {number} active
 * @property {string} others the conditions on other columns
 * @property {Set<number>} columns
 * @property {Map<number, Float64Array>} sums by column: row k holds the counts of codes below k
 */

/**
 * @param {Counts} table rows of the active column
 * @param {number} rows
 * @param {number} width
 */
export function prefixSums(table, rows, width) {
  const sums = new Float64Array((rows + 1) * width);
  for (let k = 0; k < rows; k++) {
    const from = k * width;
    for (let j = 0; j < width; j++) sums[from + width + j] = sums[from + j] + table[from + j];
  }
  return sums;
}

/**
 * @param {Float64Array} sums
 * @param {number} width
 * @param {boolean[]} through which rows count
 */
export function sumRows(sums, width, through) {
  const total = new Float64Array(width);
  for (let k = 0; k < through.length; ) {
    if (!through[k]) {
      k++;
      continue;
    }
    let end = k;
    while (end < through.length && through[end]) end++;
    for (let j = 0; j < width; j++) total[j] += sums[end * width + j] - sums[k * width + j];
    k = end;
  }
  return total;
}

export class Linked {
  /**
   * @param {Source} source
   * @param {number[]} arities
   */
  constructor(source, arities) {
    this.source = source;
    this.arities = arities;
    /** @type {Cube | null} */
    this.cube = null;
    /** @type {string} */
    this.coming = "";
    /** @type {Map<string, Counts>} */
    this.known = new Map();
  }

  /**
   * Counts of each column, given the conditions on all others.
   * @param {Selection} selection
   * @param {number[]} columns
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<number, Counts>>}
   */
  async marginals(selection, columns, signal) {
    const everything = selectionText(selection);
    /** @type {Map<number, Counts>} */
    const found = new Map();
    /** @type {Map<string, number[]>} */
    const wanted = new Map();
    for (const c of columns) {
      const given = selection.has(c) ? selectionText(selection, c) : everything;
      const counts = this.known.get(`${c}|${given}`);
      if (counts) found.set(c, counts);
      else wanted.set(given, [...(wanted.get(given) ?? []), c]);
    }
    const groups = [...wanted].map(([given, cs]) => ({ given, sets: cs.map((c) => [c]) }));
    if (groups.length) {
      const answers = await this.source.tables(groups, signal);
      groups.forEach((group, g) =>
        group.sets.forEach(([c], k) => {
          found.set(c, answers[g][k]);
          this.known.set(`${c}|${group.given}`, answers[g][k]);
        }),
      );
      if (this.known.size > 20_000) this.known.clear();
    }
    return found;
  }

  /**
   * Fetch what dragging over a column will need, unless it is here.
   * @param {number} active
   * @param {Selection} selection
   * @param {number[]} columns
   */
  async prepare(active, selection, columns) {
    const others = selectionText(selection, active);
    const key = `${active}|${others}|${columns.join()}`;
    if (this.fits(active, selection, columns) || this.coming === key) return;
    this.coming = key;
    try {
      /** @type {Group[]} */
      const groups = [{ given: others, sets: [[active]] }];
      for (const c of columns) {
        if (c === active) continue;
        if (!selection.has(c)) groups[0].sets.push([active, c]);
        else groups.push({ given: selectionText(selection, active, c), sets: [[active, c]] });
      }
      const answers = await this.source.tables(groups);
      if (this.coming !== key) return;
      /** @type {Map<number, Float64Array>} */
      const sums = new Map();
      const rows = this.arities[active];
      groups.forEach((group, g) =>
        group.sets.forEach(([first, second = first], k) => {
          const width = second === first ? 1 : this.arities[second];
          sums.set(second, prefixSums(answers[g][k], rows, width));
        }),
      );
      this.cube = { active, others, columns: new Set(columns), sums };
    } finally {
      if (this.coming === key) this.coming = "";
    }
  }

  /**
   * @param {number} active
   * @param {Selection} selection
   * @param {number[]} columns
   */
  fits(active, selection, columns) {
    const cube = this.cube;
    return (
      cube !== null && cube.active === active && cube.others === selectionText(selection, active) &&
      columns.every((c) => cube.columns.has(c))
    );
  }

  /**
   * The same as `marginals`, from what is here; null if it is not.
   * @param {Selection} selection
   * @param {number[]} columns
   * @returns {Map<number, Counts> | null}
   */
  local(selection, columns) {
    const cube = this.cube;
    if (cube === null || !this.fits(cube.active, selection, columns)) return null;
    const rows = this.arities[cube.active];
    const condition = selection.get(cube.active);
    const through = condition ? allowed(condition, rows) : new Array(rows).fill(true);
    /** @type {Map<number, Counts>} */
    const found = new Map();
    for (const c of columns) {
      const sums = /** @type {Float64Array} */ (cube.sums.get(c));
      if (c === cube.active) {
        found.set(c, sums.slice(1).map((sum, k) => sum - sums[k]));
      } else {
        found.set(c, sumRows(sums, this.arities[c], through));
      }
    }
    return found;
  }
}
