// Counts from the records that the page itself holds; explore/offline.py wrote them.

/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Schema} Schema */
/** @typedef {import("./source.js").Group} Group */
/** @typedef {import("./source.js").Counts} Counts */
/** @typedef {Uint8Array | Uint16Array | Uint32Array} Codes */

import { allowed, parseSelection } from "./state.js";

/**
 * A column: a code for each record, or the records that do not have the default, with their codes.
 * @typedef {object} Held
 * @property {Codes} codes
 * @property {Uint32Array | null} rows
 * @property {number} usual
 */

/** @implements {Source} */
export class Offline {
  constructor() {
    /** @type {Source["findings"]} */
    this.findings = null;
    /** @type {Source["model"]} */
    this.model = null;
    /** @type {Source["job"]} */
    this.job = null;
    this.requests = 0;
    this.n = 0;
    /** @type {Uint32Array | Float64Array | null} how often each record occurs, if not once */
    this.times = null;
    /** @type {Held[]} */
    this.columns = [];
    /** @type {number[]} */
    this.arities = [];
  }

  /** @returns {Promise<Schema>} */
  async schema() {
    const text = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? "";
    /** @type {Schema} */
    const schema = JSON.parse(text("facts"));
    this.arities = schema.columns.map((column) => column.labels.length);
    const packed = bytesOf(text("records"));
    document.getElementById("records")?.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    this.read(await new Response(stream).arrayBuffer(), schema);
    return schema;
  }

  /**
   * @param {ArrayBuffer} buffer
   * @param {Schema} schema
   */
  read(buffer, schema) {
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
    if (header.times !== "none") this.times = take(header.times === "u32" ? 4 : 8, header.n);
    this.columns = schema.columns.map((column, c) => {
      const { size, rare } = header.columns[c];
      if (rare < 0) return { codes: take(size, header.n), rows: null, usual: column.default };
      /** @type {Uint32Array} */
      const rows = take(4, rare);
      for (let k = 1; k < rare; k++) rows[k] += rows[k - 1];
      return { codes: take(size, rare), rows, usual: column.default };
    });
  }

  /** @param {Group[]} groups */
  async tables(groups) {
    this.requests++;
    return groups.map(({ given, sets }) => {
      const selection = parseSelection(given, this.arities);
      if (selection === null) throw new Error(`This is no selection: ${given.slice(0, 60)}`);
      const weights = this.weights(selection);
      /** @type {Map<number, Float64Array>} */
      const singles = new Map();
      return sets.map((columns) => this.table(columns, weights, singles));
    });
  }

  /**
   * How often each record counts: not at all if a condition does not let it through.
   * @param {import("./state.js").Selection} selection
   */
  weights(selection) {
    const weights = this.times ? Float64Array.from(this.times) : new Float64Array(this.n).fill(1);
    for (const [c, condition] of selection) {
      const through = allowed(condition, this.arities[c]);
      const { codes, rows, usual } = this.columns[c];
      if (!rows) {
        for (let r = 0; r < this.n; r++) if (!through[codes[r]]) weights[r] = 0;
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
    return weights;
  }

  /**
   * @param {number[]} columns
   * @param {Float64Array} weights
   * @param {Map<number, Float64Array>} singles counts of single columns under these weights
   * @returns {Float64Array}
   */
  table(columns, weights, singles) {
    if (columns.length === 1) return this.single(columns[0], weights, singles);
    if (columns.length === 2) {
      const [a, b] = columns;
      if (this.columns[b].rows) return this.pair(a, b, weights, singles);
      if (this.columns[a].rows) {
        return transposed(this.pair(b, a, weights, singles), this.arities[b], this.arities[a]);
      }
    }
    const size = columns.reduce((cells, c) => cells * this.arities[c], 1);
    const counts = new Float64Array(size);
    const places = new Uint32Array(this.n);
    for (const c of columns) {
      const codes = this.dense(c);
      const arity = this.arities[c];
      for (let r = 0; r < this.n; r++) places[r] = places[r] * arity + codes[r];
    }
    for (let r = 0; r < this.n; r++) counts[places[r]] += weights[r];
    return counts;
  }

  /**
   * @param {number} c
   * @param {Float64Array} weights
   * @param {Map<number, Float64Array>} singles
   */
  single(c, weights, singles) {
    const known = singles.get(c);
    if (known) return known;
    const counts = new Float64Array(this.arities[c]);
    const { codes, rows, usual } = this.columns[c];
    if (rows) {
      let total = 0;
      for (let r = 0; r < this.n; r++) total += weights[r];
      for (let k = 0; k < rows.length; k++) counts[codes[k]] += weights[rows[k]];
      let stored = 0;
      for (let k = 0; k < counts.length; k++) stored += counts[k];
      counts[usual] = rest(total, stored);
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
   * @param {Float64Array} weights
   * @param {Map<number, Float64Array>} singles
   */
  pair(a, b, weights, singles) {
    const width = this.arities[b];
    const counts = new Float64Array(this.arities[a] * width);
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
    const all = this.single(a, weights, singles);
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
