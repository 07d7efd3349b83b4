// What is selected and shown, and how an address says it. explore/state.py reads the same selections.

/** @typedef {{codes: number[], excluded: boolean}} Condition codes that are let through, or not */
/** @typedef {Map<number, Condition>} Selection by position of the column */
/**
 * @typedef {object} State
 * @property {Selection} a
 * @property {Selection | null} b
 * @property {"all" | "rest" | "b"} against what A is compared with
 * @property {"fraction" | "count"} scale
 * @property {"file" | "name" | "target" | "difference" | "variety"} order
 * @property {number} target a column, or -1
 * @property {string} search
 * @property {number} page
 * @property {"overview" | "difference" | "pair" | "models"} view
 * @property {number} x
 * @property {number} y
 * @property {number} z a third column, or -1
 * @property {"heat" | "mosaic"} form
 * @property {"tree" | "clusters" | "web" | "net" | "itemsets" | "recommend"} model
 */

const ONE_OF = {
  against: ["all", "rest", "b"],
  scale: ["fraction", "count"],
  order: ["file", "name", "target", "difference", "variety"],
  view: ["overview", "difference", "pair", "models"],
  form: ["heat", "mosaic"],
  model: ["tree", "clusters", "web", "net", "itemsets", "recommend"],
};
const NUMBERS = ["target", "page", "x", "y", "z"];

/** @returns {State} */
export function firstState() {
  return {
    a: new Map(), b: null, against: "all", scale: "fraction", order: "file", target: -1, search: "",
    page: 0, view: "overview", x: 0, y: 1, z: -1, form: "heat", model: "tree",
  };
}

/**
 * @param {Condition} condition
 * @param {number} arity
 * @returns {boolean[]} for each code whether it is let through
 */
export function allowed(condition, arity) {
  const through = new Array(arity).fill(condition.excluded);
  for (const code of condition.codes) through[code] = !condition.excluded;
  return through;
}

/** @param {Condition} condition */
function conditionText(condition) {
  const parts = [];
  const codes = condition.codes;
  for (let k = 0; k < codes.length; ) {
    let end = k;
    while (end + 1 < codes.length && codes[end + 1] === codes[end] + 1) end++;
    parts.push(end === k ? `${codes[k]}` : `${codes[k]}-${codes[end]}`);
    k = end + 1;
  }
  return (condition.excluded ? "!" : "") + parts.join(",");
}

/**
 * @param {Selection} selection
 * @param {number[]} without columns whose conditions are left out
 */
export function selectionText(selection, ...without) {
  return [...selection.keys()]
    .filter((c) => !without.includes(c))
    .sort((a, b) => a - b)
    .map((c) => `${c}:${conditionText(/** @type {Condition} */ (selection.get(c)))}`)
    .join(";");
}

/**
 * @param {string} text
 * @param {number[]} arities
 * @returns {Selection | null} null if it is no selection of such columns
 */
export function parseSelection(text, arities) {
  /** @type {Selection} */
  const selection = new Map();
  for (const part of text.split(";").filter(Boolean)) {
    const match = /^(\d{1,9}):(!?)([\d,-]*)$/.exec(part);
    if (!match || Number(match[1]) >= arities.length) return null;
    const column = Number(match[1]);
    const codes = new Set();
    for (const range of match[3].split(",").filter(Boolean)) {
      const ends = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range);
      if (!ends) return null;
      const low = Number(ends[1]);
      const high = Number(ends[2] ?? ends[1]);
      if (low > high || high >= arities[column]) return null;
      for (let code = low; code <= high; code++) codes.add(code);
    }
    if (selection.has(column)) return null;
    selection.set(column, { codes: [...codes].sort((a, b) => a - b), excluded: match[2] === "!" });
  }
  return selection;
}

/**
 * @param {State} state
 * @param {string} fingerprint of the columns and labels that codes are about
 */
export function stateText(state, fingerprint) {
  const first = firstState();
  const parts = [`f=${fingerprint}`];
  if (state.a.size) parts.push(`a=${selectionText(state.a)}`);
  if (state.b) parts.push(`b=${selectionText(state.b)}`);
  for (const name of [...Object.keys(ONE_OF), ...NUMBERS, "search"]) {
    const key = /** @type {keyof State} */ (name);
    if (state[key] !== first[key]) parts.push(`${name}=${encodeURIComponent(String(state[key]))}`);
  }
  return parts.join("&");
}

/**
 * @param {string} text what is behind the # of an address
 * @param {string} fingerprint
 * @param {number[]} arities
 * @returns {{state: State, problem: string}}
 */
export function parseState(text, fingerprint, arities) {
  const state = firstState();
  /** @type {Map<string, string>} */
  const given = new Map();
  for (const part of text.split("&").filter(Boolean)) {
    const at = part.indexOf("=");
    try {
      given.set(part.slice(0, at), decodeURIComponent(part.slice(at + 1)));
    } catch {
      return { state, problem: "This address cannot be read; nothing is selected." };
    }
  }
  /** @type {any} */
  const filled = state;
  for (const [name, choices] of Object.entries(ONE_OF)) {
    const value = given.get(name);
    if (value !== undefined && choices.includes(value)) filled[name] = value;
  }
  const most = arities.length;
  for (const name of NUMBERS) {
    const value = given.get(name);
    if (value === undefined || !/^-?\d{1,9}$/.test(value)) continue;
    const number = Number(value);
    if (number >= -1 && (name === "page" || number < most)) filled[name] = number;
  }
  state.page = Math.max(state.page, 0);
  state.x = Math.max(state.x, 0);
  state.y = Math.min(Math.max(state.y, 0), most - 1);
  state.search = given.get("search") ?? "";
  let problem = "";
  const known = given.get("f");
  if ((given.has("a") || given.has("b")) && known !== undefined && known !== fingerprint) {
    problem = "This address is about other data, or data that have changed; nothing is selected.";
  } else {
    const a = parseSelection(given.get("a") ?? "", arities);
    const b = given.has("b") ? parseSelection(given.get("b") ?? "", arities) : null;
    if (a === null || (given.has("b") && b === null)) {
      problem = "The selection of this address cannot be read; nothing is selected.";
    } else {
      state.a = a;
      state.b = b;
    }
  }
  if (state.against === "b" && !state.b) state.against = "all";
  if (state.order === "target" && state.target < 0) state.order = "file";
  return { state, problem };
}
