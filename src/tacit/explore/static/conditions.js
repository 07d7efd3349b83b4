// Conditions as people make and read them.

import { allowed } from "./state.js";
import { labelText, plain } from "./paint.js";

/** @typedef {import("./state.js").Condition} Condition */
/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./source.js").Column} Column */

/**
 * @param {Column} column
 * @param {number} code
 */
export function labelOf(column, code) {
  return plain(labelText(column.labels[code]));
}

/** @param {Column} column */
export function isOrdered(column) {
  return column.kind === "numeric" || column.kind === "ordered";
}

/**
 * A condition in words.
 * @param {Column} column
 * @param {Condition} condition
 */
export function conditionWords(column, condition) {
  const { codes, excluded } = condition;
  if (!codes.length) return excluded ? "anything" : "nothing";
  const sign = excluded ? "is not" : "is";
  const [first, last] = [codes[0], codes[codes.length - 1]];
  const oneRange = codes.length > 1 && last - first + 1 === codes.length && last !== column.missing;
  if (oneRange && isOrdered(column)) {
    const edges = column.edges;
    if (edges) {
      const most = edges.length;
      const low = first > 0 ? edges[first - 1] : null;
      const high = last < most ? edges[last] : null;
      const words = low === null && high === null ? "known" : low === null ? `below ${high}`
        : high === null ? `${low} or more` : `${low} to below ${high}`;
      return excluded ? `not ${words}` : words;
    }
    return `${excluded ? "not " : ""}${labelOf(column, first)} to ${labelOf(column, last)}`;
  }
  const shown = codes.slice(0, 3).map((code) => labelOf(column, code).slice(0, 60));
  const more = codes.length > 3 ? ` + ${codes.length - 3} more` : "";
  return `${sign} ${shown.join(", ")}${more}`;
}

/**
 * The selection with another condition on a column; with none if it lets everything through.
 * @param {Selection} selection
 * @param {number} column
 * @param {Condition | null} condition
 * @param {number} arity
 * @returns {Selection}
 */
export function withCondition(selection, column, condition, arity) {
  const changed = new Map(selection);
  const idle = !condition || (condition.excluded ? !condition.codes.length
    : !condition.codes.length || condition.codes.length === arity);
  if (idle) changed.delete(column);
  else changed.set(column, /** @type {Condition} */ (condition));
  return changed;
}

/**
 * The condition with a label let through that was not, or the other way round.
 * @param {Condition | undefined} condition
 * @param {number} code
 * @param {number} arity
 * @returns {Condition | null}
 */
export function toggled(condition, code, arity) {
  if (!condition) return { codes: [code], excluded: false };
  const codes = new Set(condition.codes);
  if (codes.has(code)) codes.delete(code);
  else codes.add(code);
  if (!codes.size || codes.size === arity) return null;
  return { codes: [...codes].sort((a, b) => a - b), excluded: condition.excluded };
}

/**
 * The opposite: what is let through is excluded, and the other way round.
 * @param {Condition} condition
 * @returns {Condition}
 */
export function inverted(condition) {
  return { codes: condition.codes, excluded: !condition.excluded };
}

/**
 * @param {number} from
 * @param {number} to
 * @returns {Condition}
 */
export function range(from, to) {
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  return { codes: Array.from({ length: high - low + 1 }, (_, k) => low + k), excluded: false };
}

/**
 * Both ends of a condition that is one range, or null.
 * @param {Condition | undefined} condition
 * @returns {[number, number] | null}
 */
export function rangeOf(condition) {
  if (!condition || condition.excluded || !condition.codes.length) return null;
  const { codes } = condition;
  const [first, last] = [codes[0], codes[codes.length - 1]];
  return last - first + 1 === codes.length ? [first, last] : null;
}

/**
 * Counts of the records that all conditions let through.
 * @param {import("./source.js").Counts} counts given the conditions on other columns
 * @param {Condition | undefined} condition on this one
 */
export function within(counts, condition) {
  if (!condition) return counts;
  const through = allowed(condition, counts.length);
  return Float64Array.from(counts, (count, k) => (through[k] ? count : 0));
}
