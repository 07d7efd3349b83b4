// Code that gives the numbers of the page: Python, the command line, CSV.

import { isOrdered, rangeOf } from "./conditions.js";

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
 * Both ends of a range of ordered labels as they are written, or null.
 * @param {Column} column
 * @param {Condition} condition
 * @param {(code: number) => string} write
 * @returns {[string | null, string | null] | null}
 */
function endsOf(column, condition, write) {
  const ends = rangeOf({ ...condition, excluded: false });
  if (!ends || ends[0] === ends[1] || !isOrdered(column) || ends[1] === column.missing) return null;
  const { edges } = column;
  if (!edges) return [write(ends[0]), write(ends[1])];
  const [low, high] = [ends[0] > 0 ? edges[ends[0] - 1] : null, ends[1] < edges.length ? edges[ends[1]] : null];
  return [low === null ? null : String(low), high === null ? null : String(high)];
}

/**
 * @param {Column} column
 * @param {Condition} condition
 */
function pythonCondition(column, condition) {
  const { codes, excluded } = condition;
  const ends = endsOf(column, condition, (code) => literal(column, code));
  const said = ends ? `tacit.between(${ends[0] ?? "None"}, ${ends[1] ?? "None"})`
    : codes.length === 1 ? literal(column, codes[0])
      : `[${codes.map((k) => literal(column, k)).join(", ")}]`;
  return excluded ? `tacit.exclude(${said})` : said;
}

/**
 * Python that counts the same.
 * @param {Schema} schema
 * @param {Selection} selection
 * @param {number[]} columns
 */
export function pythonCode(schema, selection, columns) {
  const used = [...new Set([...columns, ...selection.keys()])].map((c) => schema.columns[c]);
  const given = [...selection].map(([c, condition]) => {
    const column = schema.columns[c];
    return `    ${pythonText(column.name)}: ${pythonCondition(column, condition)},`;
  });
  const query = given.length ? `{\n${given.join("\n")}\n}` : "{}";
  const ask = columns.length
    ? `table.contingency([${columns.map((c) => pythonText(schema.columns[c].name)).join(", ")}], given=given)`
    : "table.count(given)";
  const imports = [/\bdatetime\./.test(query) ? "import datetime\n\n" : "", "import tacit\n"];
  let table = schema.code;
  if (used.some((column) => column.merged || column.regrouped)) {
    imports.push("from tacit.explore import Explorer\n");
    table = `Explorer(${schema.code}).table  # as it is shown: rare labels together`;
  } else {
    const cuts = used.filter((column) => column.cut).map((column) =>
      `    ${pythonText(column.name)}: [${(column.edges ?? []).join(", ")}],`);
    if (cuts.length) table += `.cut({\n${cuts.join("\n")}\n})`;
  }
  return `${imports.join("")}\ntable = ${table}\ngiven = ${query}\nprint(${ask})`;
}

/** @param {string} text */
function quoted(text) {
  return /^[\w./=:,+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/**
 * Whether the command would read a name as an option, or a condition as another one.
 * @param {Schema} schema
 * @param {Selection} selection
 * @param {Column[]} used
 */
function unclear(schema, selection, used) {
  const names = schema.columns.map((column) => column.name);
  return used.some(({ name }) => name.startsWith("-"))
    || [...selection].some(([c, { codes, excluded }]) => {
      const { name, labels } = schema.columns[c];
      return !codes.length
        || (excluded && names.includes(`${name}!`))
        || names.some((other) => name.startsWith(`${other}=`) || name.startsWith(`${other}!=`))
        || (codes.length > 1 && labels.some((label) => label !== null && /,|\.\./.test(label)))
        || (codes.some((k) => labels[k] === null) && labels.includes(""));
    });
}

/**
 * The `tacit` command that counts the same, if there is one.
 * @param {Schema} schema
 * @param {Selection} selection
 * @param {number[]} columns
 */
export function shellCommand(schema, selection, columns) {
  const used = [...new Set([...columns, ...selection.keys()])].map((c) => schema.columns[c]);
  if (!schema.file) return { possible: false, text: "The data are not in one file." };
  if (used.some((column) => column.merged || column.regrouped)) {
    return { possible: false, text: "The page puts rare labels together, which Python can do, too." };
  }
  if (unclear(schema, selection, used)) {
    return { possible: false, text: "Names or labels here would be read as something else; Python can say it." };
  }
  const cuts = used.filter((column) => column.cut)
    .map((column) => `--discretise ${quoted(`${column.name}=${(column.edges ?? []).join()}`)}`);
  const given = [...selection].map(([c, condition]) => {
    const column = schema.columns[c];
    const ends = endsOf(column, condition, (code) => column.labels[code] ?? "");
    const said = ends ? `${ends[0] ?? ""}..${ends[1] ?? ""}`
      : condition.codes.map((code) => column.labels[code] ?? "").join();
    return `--given ${quoted(`${column.name}${condition.excluded ? "!" : ""}=${said}`)}`;
  });
  const names = columns.map((c) => quoted(schema.columns[c].name));
  return { possible: true, text: ["tacit count", schema.file, ...names, ...cuts, ...given].join(" ") };
}

/** @param {string} text */
function csvField(text) {
  // A spreadsheet must not take a label for a formula.
  const safe = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d*\.?\d+(e[+-]?\d+)?$/i.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** @param {string[][]} rows */
export function csvLines(rows) {
  return `${rows.map((row) => row.map(csvField).join(",")).join("\n")}\n`;
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
