// Code that gives the numbers of the page: Python, the command line, CSV.

import { allowed } from "./state.js";
import { rangeOf } from "./conditions.js";

/** @typedef {import("./source.js").Schema} Schema */
/** @typedef {import("./source.js").Column} Column */
/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./state.js").Condition} Condition */

/**
 * A text as Python writes it; everything but plain characters is escaped.
 * @param {string} text
 */
export function pythonText(text) {
  let said = "";
  for (const character of text) {
    const point = /** @type {number} */ (character.codePointAt(0));
    if (character === '"' || character === "\\") said += `\\${character}`;
    else if (point >= 32 && point < 127) said += character;
    else if (/[\p{L}\p{N}\p{P}\p{S}]/u.test(character)) said += character;
    else if (point > 0xffff) said += `\\U${point.toString(16).padStart(8, "0")}`;
    else said += `\\u${point.toString(16).padStart(4, "0")}`;
  }
  return `"${said}"`;
}

/**
 * @param {Column} column
 * @param {number} code
 */
function literal(column, code) {
  const label = column.labels[code];
  if (label === null) return "None";
  if (column.code) return column.code[code];
  if (column.literal === "number" || column.literal === "boolean") return label;
  return pythonText(label);
}

/**
 * @param {Column} column
 * @param {Condition} condition
 */
function pythonCondition(column, condition) {
  const { codes, excluded } = condition;
  const labels = (/** @type {number[]} */ some) => `[${some.map((k) => literal(column, k)).join(", ")}]`;
  if (excluded) return `tacit.exclude(${labels(codes)})`;
  const ends = rangeOf(condition);
  return codes.length === 1 && ends ? literal(column, codes[0]) : labels(codes);
}

/**
 * Python that counts the same.
 * @param {Schema} schema
 * @param {Selection} selection
 * @param {number[]} columns
 */
export function pythonCode(schema, selection, columns) {
  const given = [...selection].map(([c, condition]) => {
    const column = schema.columns[c];
    return `    ${pythonText(column.name)}: ${pythonCondition(column, condition)},`;
  });
  const query = given.length ? `{\n${given.join("\n")}\n}` : "{}";
  const ask = columns.length
    ? `table.table([${columns.map((c) => pythonText(schema.columns[c].name)).join(", ")}], given)`
    : "table.count(given)";
  const read = `table = Explorer(${schema.code}).table  # as it is shown: numbers in bins`;
  const dates = /\bdatetime\./.test(query) ? "import datetime\n\n" : "";
  return `${dates}import tacit\nfrom tacit.explore import Explorer\n\n${read}\ngiven = ${query}\nprint(${ask})`;
}

/** @param {string} text */
function quoted(text) {
  return /^[\w./=:,+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/**
 * The `tacit` command that counts the same, if there is one.
 * @param {Schema} schema
 * @param {Selection} selection
 * @param {number[]} columns
 */
export function shellCommand(schema, selection, columns) {
  const given = [];
  const cuts = [];
  for (const c of new Set([...columns, ...selection.keys()])) {
    const column = schema.columns[c];
    if (column.merged || (column.kind === "ordered" && column.regrouped)) {
      return { possible: false, text: "The page puts labels of these columns together, which Python does, too." };
    }
    if (column.edges) cuts.push(`--discretise ${quoted(`${column.name}=${column.edges.join()}`)}`);
  }
  for (const [c, condition] of selection) {
    const column = schema.columns[c];
    const codes = allowed(condition, column.labels.length).flatMap((on, k) => (on ? [k] : []));
    if (codes.length !== 1) {
      return { possible: false, text: "The command counts single labels; this selection has ranges or sets, which Python counts." };
    }
    given.push(`--given ${quoted(`${column.name}=${column.labels[codes[0]] ?? ""}`)}`);
  }
  const names = columns.map((c) => quoted(schema.columns[c].name));
  return { possible: true, text: ["tacit count", schema.file || "FILE", ...names, ...cuts, ...given].join(" ") };
}

/** @param {string} text */
function csvField(text) {
  // A spreadsheet must not take a label for a formula.
  const safe = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d*\.?\d+(e[+-]?\d+)?$/i.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/**
 * @param {Column[]} columns
 * @param {[string, ArrayLike<number>][]} counts
 */
export function csvText(columns, counts) {
  const lines = [[...columns.map((column) => csvField(column.name)), ...counts.map(([name]) => name)].join(",")];
  const n = counts[0][1].length;
  for (let at = 0; at < n; at++) {
    if (counts.every(([, table]) => table[at] === 0)) continue;
    let rest = at;
    const labels = columns.map(() => "");
    for (let k = columns.length - 1; k >= 0; k--) {
      const arity = columns[k].labels.length;
      labels[k] = csvField(columns[k].labels[rest % arity] ?? "");
      rest = Math.floor(rest / arity);
    }
    lines.push([...labels, ...counts.map(([, table]) => String(table[at]))].join(","));
  }
  return `${lines.join("\n")}\n`;
}
