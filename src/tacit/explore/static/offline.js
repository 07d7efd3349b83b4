// The records that the page itself holds, counted by a worker so that the page never waits.

/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Schema} Schema */
/** @typedef {import("./source.js").Group} Group */

/** @implements {Source} */
export class Offline {
  constructor() {
    /** @type {Source["findings"]} */
    this.findings = null;
    /** @type {Source["model"]} */
    this.model = null;
    /** @type {Source["job"]} */
    this.job = null;
    /** @type {Source["sample"]} */
    this.sample = null;
    this.requests = 0;
    this.asked = 0;
    /** @type {Map<number, {done: (answer: any) => void, fail: (error: Error) => void}>} */
    this.waiting = new Map();
    const url = URL.createObjectURL(new Blob([textOf("worker")], { type: "text/javascript" }));
    this.worker = new Worker(url);
    this.worker.onmessage = ({ data: { id, answer, problem } }) => {
      const { done, fail } = this.waiting.get(id) ?? {};
      this.waiting.delete(id);
      if (problem === undefined) done?.(answer);
      else fail?.(new Error(problem));
    };
    this.worker.onerror = () => {
      for (const { fail } of this.waiting.values()) fail(new Error("The records in this file cannot be read by this browser."));
      this.waiting.clear();
    };
  }

  /**
   * @param {object} what
   * @returns {Promise<any>}
   */
  ask(what) {
    const id = ++this.asked;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.worker.postMessage({ id, ...what });
    });
  }

  /** @returns {Promise<Schema>} */
  async schema() {
    /** @type {Schema} */
    const schema = JSON.parse(textOf("facts"));
    const packed = textOf("records");
    document.getElementById("records")?.remove();
    const { n, scale, total, exact } = await this.ask({ packed, columns: schema.columns });
    this.n = n;
    if (scale > 1) this.sample = { size: Math.round(total / scale), of: total, exact: new Set(exact) };
    return schema;
  }

  /** @param {Group[]} groups */
  tables(groups) {
    this.requests++;
    return this.ask({ groups });
  }
}

/** @param {string} id */
function textOf(id) {
  return document.getElementById(id)?.textContent ?? "";
}
