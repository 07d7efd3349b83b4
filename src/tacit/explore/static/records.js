// Counts from the records that one file holds, computed beside the page; explore/offline.py wrote them.

import { allowed, parseSelection } from "./state.js";

/** @typedef {import("./source.js").Column} Column */
/** @typedef {import("./source.js").Group} Group */
/** @typedef {Uint8Array | Uint16Array | Uint32Array} Codes */
/**
 * A column: a code for each record, or the records that do not have the default, with their codes.
 * @typedef {object} Held
 * @property {Codes} codes
 * @property {Uint32Array | null} rows
 * @property {number} usual
 */
/**
 * The records that a selection lets through.
 * @typedef {object} Chosen
 * @property {Float64Array} weights how often each record counts; 0 if it is not let through
 * @property {Uint32Array | null} rows those that are let through, where they are few
 */

const KEPT_CHOICES = 3;
const FEW_ROWS = 0.5; // of all records

export class Records {
  /**
   * @param {ArrayBuffer} buffer
   * @param {Column[]} columns
   */
  constructor(buffer, columns) {
    this.arities = columns.map((column) => column.labels.length);
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    let at = 4 + length;
    /**
     * @param {number} size
     * @param {number} n
     * @returns {any}
     */
    const take = (size, n) => {
      const part = buffer.slice(at, at + size * n); // which an array may begin at
      at += size * n;
      if (size === 8) return new Float64Array(part);
      return size === 1 ? new Uint8Array(part) : size === 2 ? new Uint16Array(part) : new Uint32Array(part);
    };
    this.n = header.n;
    /** @type {Float64Array} how often each record occurs */
    this.times = header.times === "none" ? new Float64Array(header.n).fill(1)
      : Float64Array.from(take(header.times === "u32" ? 4 : 8, header.n));
    /** @type {Held[]} */
    this.columns = columns.map((column, c) => {
      const { size, rare } = header.columns[c];
      if (rare < 0) return { codes: take(size, header.n), rows: null, usual: column.default };
      /** @type {Uint32Array} */
      const rows = take(4, rare);
      for (let k = 1; k < rare; k++) rows[k] += rows[k - 1];
      return { codes: take(size, rare), rows, usual: column.default };
    });
    /** @type {number} how many records one of them stands for; more than 1 if they are a sample */
    this.scale = header.scale ?? 1;
    this.total = header.total ?? 0;
    /** @type {Map<string, Float64Array>} tables of one or two columns of all records, if these are a sample */
    this.exact = new Map();
    for (const [key, size] of header.exact ?? []) {
      const cells = key.split(",").reduce((/** @type {number} */ n, /** @type {string} */ c) => n * this.arities[Number(c)], 1);
      this.exact.set(key, Float64Array.from(take(size, cells)));
    }
    /** @type {Map<string, Chosen>} */
    this.choices = new Map();
  }

  /**
   * @param {Group[]} groups
   * @returns {Float64Array[][]}
   */
  tables(groups) {
    return groups.map(({ given, sets }) => {
      const selection = parseSelection(given, this.arities);
      if (selection === null) throw new Error(`This is no selection: ${given.slice(0, 60)}`);
      /** @type {Map<number, Float64Array>} */
      const singles = new Map();
      return sets.map((columns) => {
        const known = this.known(columns, selection);
        if (known) return known;
        const counts = this.table(columns, this.chosen(given, selection), singles);
        return this.scale === 1 ? counts : counts.map((count) => count * this.scale);
      });
    });
  }

  /**
   * The table of all records, if these are a sample and it is held.
   * @param {number[]} columns
   * @param {import("./state.js").Selection} selection
   */
  known(columns, selection) {
    if (this.scale === 1) return null;
    const every = [...new Set([...columns, ...selection.keys()])].sort((x, y) => x - y);
    const table = this.exact.get(every.join());
    if (!table) return null;
    const [first, second] = every;
    const wide = second === undefined ? 1 : this.arities[second];
    const through = every.map((c) => {
      const condition = selection.get(c);
      return condition ? allowed(condition, this.arities[c]) : null;
    });
    const counts = new Float64Array(columns.reduce((cells, c) => cells * this.arities[c], 1));
    for (let i = 0; i < this.arities[first]; i++) {
      if (through[0] && !through[0][i]) continue;
      for (let j = 0; j < wide; j++) {
        if (through[1] && !through[1][j]) continue;
        let place = 0;
        for (const c of columns) place = place * this.arities[c] + (c === first ? i : j);
        counts[place] += table[i * wide + j];
      }
    }
    return counts;
  }

  /**
   * @param {string} given
   * @param {import("./state.js").Selection} selection
   * @returns {Chosen}
   */
  chosen(given, selection) {
    if (!selection.size) return { weights: this.times, rows: null };
    const known = this.choices.get(given);
    if (known) return known;
    const weights = Float64Array.from(this.times);
    for (const [c, condition] of selection) {
      const through = allowed(condition, this.arities[c]);
      const { codes, rows, usual } = this.columns[c];
      if (!rows) {
        const pass = Uint8Array.from(through, Number);
        for (let r = 0; r < this.n; r++) if (!pass[codes[r]]) weights[r] = 0;
      } else if (through[usual]) {
        for (let k = 0; k < rows.length; k++) if (!through[codes[k]]) weights[rows[k]] = 0;
      } else {
        let k = 0;
        for (let r = 0; r < this.n; r++) {
          if (k < rows.length && rows[k] === r) {
            if (!through[codes[k]]) weights[r] = 0;
            k++;
          } else {
            weights[r] = 0;
          }
        }
      }
    }
    let left = 0;
    for (let r = 0; r < this.n; r++) if (weights[r] !== 0) left++;
    /** @type {Uint32Array | null} */
    let rows = null;
    if (left < FEW_ROWS * this.n) {
      rows = new Uint32Array(left);
      let k = 0;
      for (let r = 0; r < this.n; r++) if (weights[r] !== 0) rows[k++] = r;
    }
    if (this.choices.size >= KEPT_CHOICES) this.choices.delete([...this.choices.keys()][0]);
    this.choices.set(given, { weights, rows });
    return { weights, rows };
  }

  /**
   * @param {number[]} columns
   * @param {Chosen} chosen
   * @param {Map<number, Float64Array>} singles counts of single columns under these weights
   * @returns {Float64Array}
   */
  table(columns, chosen, singles) {
    if (columns.length === 1) return this.single(columns[0], chosen, singles);
    if (columns.length === 2) {
      const [a, b] = columns;
      if (this.columns[b].rows) return this.pair(a, b, chosen, singles);
      if (this.columns[a].rows) {
        return transposed(this.pair(b, a, chosen, singles), this.arities[b], this.arities[a]);
      }
    }
    const { weights, rows } = chosen;
    const counts = new Float64Array(columns.reduce((cells, c) => cells * this.arities[c], 1));
    const [first, second, ...others] = columns.map((c) => this.dense(c));
    const width = this.arities[columns[1]];
    const widths = columns.slice(2).map((c) => this.arities[c]);
    const n = rows ? rows.length : this.n;
    for (let k = 0; k < n; k++) {
      const r = rows ? rows[k] : k;
      let place = first[r] * width + second[r];
      for (let j = 0; j < others.length; j++) place = place * widths[j] + others[j][r];
      counts[place] += weights[r];
    }
    return counts;
  }

  /**
   * @param {number} c
   * @param {Chosen} chosen
   * @param {Map<number, Float64Array>} singles
   */
  single(c, chosen, singles) {
    const known = singles.get(c);
    if (known) return known;
    const counts = new Float64Array(this.arities[c]);
    const { codes, rows, usual } = this.columns[c];
    const { weights, rows: few } = chosen;
    if (rows) {
      let total = 0;
      for (let r = 0; r < this.n; r++) total += weights[r];
      for (let k = 0; k < rows.length; k++) counts[codes[k]] += weights[rows[k]];
      let stored = 0;
      for (let k = 0; k < counts.length; k++) stored += counts[k];
      counts[usual] = rest(total, stored);
    } else if (few) {
      for (let k = 0; k < few.length; k++) counts[codes[few[k]]] += weights[few[k]];
    } else {
      for (let r = 0; r < this.n; r++) counts[codes[r]] += weights[r];
    }
    singles.set(c, counts);
    return counts;
  }

  /**
   * A table with a column of mostly one label: that is what is left of the other column.
   * @param {number} a
   * @param {number} b
   * @param {Chosen} chosen
   * @param {Map<number, Float64Array>} singles
   */
  pair(a, b, chosen, singles) {
    const width = this.arities[b];
    const counts = new Float64Array(this.arities[a] * width);
    const { weights } = chosen;
    const { codes, rows, usual } = this.columns[b];
    const first = this.columns[a];
    const listed = /** @type {Uint32Array} */ (rows);
    if (first.rows) {
      let at = 0;
      for (let k = 0; k < listed.length; k++) {
        while (at < first.rows.length && first.rows[at] < listed[k]) at++;
        const has = at < first.rows.length && first.rows[at] === listed[k];
        counts[(has ? first.codes[at] : first.usual) * width + codes[k]] += weights[listed[k]];
      }
    } else {
      for (let k = 0; k < listed.length; k++) {
        counts[first.codes[listed[k]] * width + codes[k]] += weights[listed[k]];
      }
    }
    const all = this.single(a, chosen, singles);
    for (let i = 0; i < all.length; i++) {
      let stored = 0;
      for (let j = 0; j < width; j++) stored += counts[i * width + j];
      counts[i * width + usual] = rest(all[i], stored);
    }
    return counts;
  }

  /** @param {number} c */
  dense(c) {
    const { codes, rows, usual } = this.columns[c];
    if (!rows) return codes;
    const every = new Uint16Array(this.n).fill(usual);
    for (let k = 0; k < rows.length; k++) every[rows[k]] = codes[k];
    return every;
  }
}

/**
 * A difference of sums of weights; what rounding leaves of nothing is nothing.
 * @param {number} all
 * @param {number} part
 */
function rest(all, part) {
  const left = all - part;
  return Math.abs(left) < 1e-9 * Math.abs(all) ? 0 : left;
}

/**
 * @param {Float64Array} table
 * @param {number} rows
 * @param {number} width
 */
function transposed(table, rows, width) {
  const turned = new Float64Array(table.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < width; j++) turned[j * rows + i] = table[i * width + j];
  return turned;
}

/**
 * @param {string} text in base 64
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesOf(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

/** @type {Records | null} */
let records = null;

/**
 * Do what the page asks: read records, then count.
 * @param {{id: number, packed?: string, columns?: Column[], groups?: Group[]}} asked
 * @returns {Promise<any>}
 */
export async function answered({ packed, columns, groups }) {
  if (packed && columns) {
    try {
      const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
      records = new Records(await new Response(stream).arrayBuffer(), columns);
    } catch {
      throw new Error("The records in this file cannot be read: the file is damaged, or not all of it is here.");
    }
    return { n: records.n, scale: records.scale, total: records.total, exact: [...records.exact.keys()] };
  }
  if (!records || !groups) throw new Error("There are no records yet.");
  return records.tables(groups);
}
