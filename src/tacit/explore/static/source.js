// Where counts come from: the server, which answers one kind of question.

/** @typedef {{given: string, sets: number[][]}} Group tables of some columns, given a selection */
/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float64Array} Counts */
/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} kind
 * @property {(string | null)[]} labels
 * @property {string} literal how labels are written in Python
 * @property {number} default
 * @property {number | null} missing
 * @property {number[] | null} edges
 * @property {number} merged how many labels are together under the last one
 * @property {string[] | null} code labels as Python writes them, where that does not follow
 * @property {boolean} cut whether its numbers were cut for the page
 * @property {boolean} regrouped whether labels stand for several of the data
 */
/**
 * @typedef {object} Schema
 * @property {Column[]} columns
 * @property {number} records
 * @property {boolean} weighted
 * @property {string} fingerprint
 * @property {{name: string, why: string}[]} leftOut
 * @property {string} title
 * @property {number | null} target
 * @property {string} start
 * @property {string} code what reads the data in Python
 * @property {string} file the file and how it is read, on the command line
 */
/**
 * @typedef {object} Source
 * @property {() => Promise<Schema>} schema
 * @property {(groups: Group[], signal?: AbortSignal) => Promise<Counts[][]>} tables
 * @property {((request: object, signal?: AbortSignal) => Promise<any>) | null} findings
 * @property {((request: object) => Promise<any>) | null} model starts to learn a model
 * @property {((request: object, last?: boolean) => Promise<any>) | null} job how far a model is
 * @property {Sample | null} sample what is known, if not all records are
 */
/** @typedef {{size: number, of: number, exact: Set<string>}} Sample the sets of columns whose tables are exact */

/**
 * @param {ArrayBuffer} buffer the size of a count in the first of eight bytes, then the counts
 * @returns {Counts}
 */
export function unpack(buffer) {
  const size = new Uint8Array(buffer)[0];
  if (size === 1) return new Uint8Array(buffer, 8);
  if (size === 2) return new Uint16Array(buffer, 8);
  if (size === 4) return new Uint32Array(buffer, 8);
  return new Float64Array(buffer, 8);
}

/**
 * @param {Counts} counts of all tables, one after another
 * @param {Group[]} groups
 * @param {number[]} arities
 * @returns {Counts[][]}
 */
export function divide(counts, groups, arities) {
  let start = 0;
  return groups.map((group) =>
    group.sets.map((columns) => {
      const end = start + columns.reduce((cells, c) => cells * arities[c], 1);
      const table = counts.subarray(start, end);
      start = end;
      return table;
    }),
  );
}

/** @implements {Source} */
export class Server {
  constructor() {
    /** @type {number[]} */
    this.arities = [];
    this.requests = 0;
    /** @type {Source["sample"]} */
    this.sample = null;
  }

  /** @returns {Promise<Schema>} */
  async schema() {
    const schema = await (await this.ask("api/schema")).json();
    this.arities = schema.columns.map((/** @type {Column} */ column) => column.labels.length);
    return schema;
  }

  /**
   * @param {Group[]} groups
   * @param {AbortSignal} [signal]
   */
  async tables(groups, signal) {
    const answer = await this.ask("api/tables", { ask: groups }, signal);
    return divide(unpack(await answer.arrayBuffer()), groups, this.arities);
  }

  /**
   * @param {object} request
   * @param {AbortSignal} [signal]
   */
  async findings(request, signal) {
    return (await this.ask("api/findings", request, signal)).json();
  }

  /** @param {object} request */
  async model(request) {
    return (await this.ask("api/models", request)).json();
  }

  /**
   * @param {object} request
   * @param {boolean} [last] whether the page is being closed
   */
  async job(request, last = false) {
    return (await this.ask("api/job", request, undefined, last)).json();
  }

  /**
   * @param {string} path
   * @param {object} [body]
   * @param {AbortSignal} [signal]
   * @param {boolean} [keepalive]
   */
  async ask(path, body, signal, keepalive = false) {
    this.requests++;
    /** @type {RequestInit} */
    const options = { signal, keepalive, credentials: "same-origin" };
    if (body) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    let answer;
    try {
      answer = await fetch(path, options);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Error("The server does not answer. Is `tacit explore` still running?");
    }
    if (answer.ok) return answer;
    const said = await answer.text();
    let problem = said;
    try {
      problem = JSON.parse(said).problem;
    } catch {
      // It was said in plain text.
    }
    throw new Error(problem || `The server answered ${answer.status}.`);
  }
}
