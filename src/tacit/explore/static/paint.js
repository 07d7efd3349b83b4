// Drawing, on a canvas or as SVG: bars side by side, bars in rows, cells.

/** @typedef {ArrayLike<number>} Numbers */
/**
 * @typedef {object} Painter
 * @property {(x: number, y: number, w: number, h: number, colour: string, opacity?: number) => void} rect
 * @property {(x: number, y: number, text: string, look: Look) => void} text
 * @property {(x: number, y: number, w: number, h: number, colour: string) => void} frame
 */
/** @typedef {{colour: string, size?: number, anchor?: "start" | "middle" | "end"}} Look */

export const FONT = 'system-ui, -apple-system, "Segoe UI", sans-serif';
const THEME = ["ink", "faint", "paper", "card", "line", "a", "b", "base", "off", "more", "less"];

/** @returns {Record<string, string>} the colours of the page, light or dark */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(THEME.map((x) => [x, style.getPropertyValue(`--${x}`).trim()]));
}

/** @implements {Painter} */
export class CanvasPainter {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {number} width
   * @param {number} height
   */
  constructor(canvas, width, height) {
    const ratio = globalThis.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.height = `${height}px`;
    }
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
  }

  /** @type {Painter["rect"]} */
  rect(x, y, w, h, colour, opacity = 1) {
    this.context.globalAlpha = opacity;
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, w, h);
    this.context.globalAlpha = 1;
  }

  /** @type {Painter["frame"]} */
  frame(x, y, w, h, colour) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = 1.5;
    this.context.strokeRect(x, y, w, h);
  }

  /** @type {Painter["text"]} */
  text(x, y, text, { colour, size = 11, anchor = "start" }) {
    this.context.font = `${size}px ${FONT}`;
    this.context.textAlign = anchor === "middle" ? "center" : anchor;
    this.context.fillStyle = colour;
    this.context.fillText(text, x, y);
  }
}

/** @param {string} text */
export function escapeMarkup(text) {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** @implements {Painter} */
export class SvgPainter {
  constructor() {
    /** @type {string[]} */
    this.parts = [];
    this.left = 0;
    this.top = 0;
  }

  /**
   * Draw from another corner on.
   * @param {number} left
   * @param {number} top
   */
  move(left, top) {
    this.left = left;
    this.top = top;
  }

  /** @type {Painter["rect"]} */
  rect(x, y, w, h, colour, opacity = 1) {
    const faded = opacity < 1 ? ` fill-opacity="${opacity.toFixed(2)}"` : "";
    this.parts.push(
      `<rect x="${(x + this.left).toFixed(1)}" y="${(y + this.top).toFixed(1)}" width="${w.toFixed(1)}" ` +
        `height="${h.toFixed(1)}" fill="${colour}"${faded}/>`,
    );
  }

  /** @type {Painter["frame"]} */
  frame(x, y, w, h, colour) {
    this.parts.push(
      `<rect x="${(x + this.left).toFixed(1)}" y="${(y + this.top).toFixed(1)}" width="${w.toFixed(1)}" ` +
        `height="${h.toFixed(1)}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    );
  }

  /** @type {Painter["text"]} */
  text(x, y, text, { colour, size = 11, anchor = "start" }) {
    this.parts.push(
      `<text x="${(x + this.left).toFixed(1)}" y="${(y + this.top).toFixed(1)}" font-size="${size}" fill="${colour}" ` +
        `text-anchor="${anchor}">${escapeMarkup(text)}</text>`,
    );
  }

  /**
   * @param {number} width
   * @param {number} height
   * @param {string} title
   * @param {string} paper
   */
  picture(width, height, title, paper) {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="${escapeMarkup(FONT)}" role="img">` +
      `<title>${escapeMarkup(title)}</title>` +
      `<rect width="100%" height="100%" fill="${paper}"/>${this.parts.join("")}</svg>`
    );
  }
}

/** @type {CanvasRenderingContext2D | null} */
let measuring = null;

/**
 * @param {string} text
 * @param {number} size
 */
export function textWidth(text, size) {
  measuring ??= document.createElement("canvas").getContext("2d");
  if (!measuring) return text.length * size * 0.6;
  measuring.font = `${size}px ${FONT}`;
  return measuring.measureText(text).width;
}

/** @type {Map<string, string>} texts that were fitted: every step of a drag draws them again */
const fittedTexts = new Map();

/**
 * The text, or as much of it as there is room for. Marks that turn the direction of text are shown.
 * @param {string} text
 * @param {number} room
 * @param {number} size
 */
export function fitted(text, room, size) {
  const key = `${size} ${room} ${text.length} ${text.slice(0, 201)}`;
  const known = fittedTexts.get(key);
  if (known !== undefined) return known;
  const said = plain(text.slice(0, 200));
  let low = 0;
  if (text.length <= 200 && textWidth(said, size) <= room) {
    low = said.length;
  } else {
    let high = said.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (textWidth(`${said.slice(0, middle)}…`, size) <= room) low = middle;
      else high = middle - 1;
    }
  }
  const all = low === said.length && text.length <= 200;
  const shown = all ? said : low ? `${said.slice(0, low).trimEnd()}…` : "";
  if (fittedTexts.size > 20_000) fittedTexts.clear();
  fittedTexts.set(key, shown);
  return shown;
}

/**
 * A text in one line, without marks that could turn what stands beside it.
 * @param {string} text
 */
export function plain(text) {
  return text.replace(/[\s\u2028\u2029]+/g, " ").replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, "◆");
}

/**
 * What is drawn of a column: counts of A and of what it is compared with.
 * @typedef {object} Drawn
 * @property {import("./source.js").Column} column
 * @property {Numbers} a
 * @property {Numbers | null} other
 * @property {boolean} paired side by side, or one before the other
 * @property {boolean[] | null} through which codes are let through
 * @property {"fraction" | "count"} scale
 * @property {number[]} order of rows
 * @property {number} cursor the code that the keyboard is at, or -1
 * @property {Margin} [margin] of the counts of A, if these are estimates
 */
/** @typedef {((count: number) => [number, number]) | null} Margin lower and upper ends of an interval */

/** @param {Numbers} counts */
function totalOf(counts) {
  let total = 0;
  for (let k = 0; k < counts.length; k++) total += counts[k];
  return total;
}

/**
 * Lengths of bars, up to 1.
 * @param {Drawn} drawn
 * @returns {{a: (k: number) => number, other: (k: number) => number}}
 */
function lengths({ a, other, scale }) {
  const [m, n] = scale === "fraction" ? [totalOf(a) || 1, (other && totalOf(other)) || 1] : [1, 1];
  let most = 0;
  for (let k = 0; k < a.length; k++) most = Math.max(most, a[k] / m, other ? other[k] / n : 0);
  const unit = most || 1;
  return { a: (k) => a[k] / m / unit, other: (k) => (other ? other[k] / n / unit : 0) };
}

export const ROW = 21;
const AXIS = 16;
const EDGE = 6;
const GAP = 7;

/**
 * Where bars stand: those of numbers, then apart from them that of what is missing.
 * @param {import("./source.js").Column} column
 * @param {number} width
 */
export function barPlaces(column, width) {
  const missing = column.missing !== null;
  const n = column.labels.length - (missing ? 1 : 0);
  const room = width - 2 * EDGE - (missing ? GAP : 0);
  const step = missing ? Math.min(room / (n + 1), (room - 10) / Math.max(n, 1)) : room / Math.max(n, 1);
  const x = (/** @type {number} */ k) => (k < n ? EDGE + k * step : EDGE + n * step + GAP);
  const w = (/** @type {number} */ k) => (k < n ? step : Math.max(room - n * step, 10));
  /** @param {number} at */
  const code = (at) => {
    if (missing && at >= EDGE + n * step + GAP / 2) return n;
    return Math.min(Math.max(Math.floor((at - EDGE) / step), 0), Math.max(n - 1, 0));
  };
  return { n, x, w, code };
}

/**
 * @param {Painter} p
 * @param {Drawn} drawn
 * @param {number} width
 * @param {number} height
 * @param {Record<string, string>} colour
 */
export function drawBars(p, drawn, width, height, colour) {
  const { column, paired, through, other } = drawn;
  const places = barPlaces(column, width);
  const base = height - AXIS;
  const { a: long, other: longOther } = lengths(drawn);
  const tall = base - 4;
  // One bar that towers above all others is cut off, so that they can be seen.
  const tops = Array.from(drawn.a, (_, k) => Math.max(long(k), longOther(k))).sort((x, y) => y - x);
  const stretch = tops.length > 2 && tops[1] > 0 && tops[0] > 4 * tops[1] ? 1 / (1.6 * tops[1]) : 1;
  const high = (/** @type {number} */ part) => Math.min(part * stretch, 1) * tall;
  for (let k = 0; k < column.labels.length; k++) {
    const gap = Math.min(1, places.w(k) * 0.15);
    const [x, w] = [places.x(k), places.w(k) - gap];
    const on = !through || through[k];
    if (!on) p.rect(x, 2, w + gap, base - 2, colour.off, 0.55);
    const h = high(long(k));
    if (paired) {
      const g = high(longOther(k));
      p.rect(x, base - h, w / 2, h, on ? colour.a : colour.base);
      p.rect(x + w / 2, base - g, w / 2, g, colour.b, 0.9);
    } else {
      if (other) p.rect(x, base - high(longOther(k)), w, high(longOther(k)), colour.base);
      const inset = other && w > 4 ? w * 0.18 : 0;
      p.rect(x + inset, base - h, w - 2 * inset, h, on ? colour.a : colour.faint, on ? 1 : 0.55);
    }
    const ends = drawn.margin && drawn.a[k] > 0 ? drawn.margin(drawn.a[k]) : null;
    if (ends) {
      const [low, top] = ends.map((end) => high((long(k) * end) / drawn.a[k]));
      p.rect(x + w / (paired ? 4 : 2) - 0.5, base - top, 1, Math.max(top - low, 1), colour.ink);
    }
    if (Math.max(long(k), longOther(k)) * stretch > 1) {
      p.rect(x - 1, 12, w + 2, 2, colour.card);
      p.rect(x - 1, 16, w + 2, 2, colour.card);
      const part = drawn.a[k] / (totalOf(drawn.a) || 1);
      const right = x < width / 2;
      p.text(right ? x + w + 4 : x - 4, 14, percent(part), {
        colour: colour.faint, size: 10, anchor: right ? "start" : "end",
      });
    }
    if (drawn.cursor === k) p.frame(x, 3, Math.max(w, 2), base - 3, colour.ink);
  }
  p.rect(EDGE, base, width - 2 * EDGE, 1, colour.line);
  drawAxis(p, column, places, width, height, colour);
}

/**
 * @param {Painter} p
 * @param {import("./source.js").Column} column
 * @param {ReturnType<typeof barPlaces>} places
 * @param {number} width
 * @param {number} height
 * @param {Record<string, string>} colour
 */
function drawAxis(p, column, places, width, height, colour) {
  const { n } = places;
  const y = height - 4;
  /** @type {[number, string][]} */
  const ticks = [];
  if (column.edges && column.edges.length) {
    column.edges.forEach((edge, k) => ticks.push([places.x(k) + places.w(k), short(edge)]));
  } else {
    for (let k = 0; k < n; k++) {
      ticks.push([places.x(k) + places.w(k) / 2, fitted(column.labels[k] ?? "", width / 2.4, 10)]);
    }
  }
  const end = column.missing === null ? width - 2 : places.x(n) - GAP / 2;
  /** @type {[number, number][]} */
  const taken = [];
  const put = (/** @type {number} */ k) => {
    const [at, text] = ticks[k];
    const half = textWidth(text, 10) / 2;
    const x = Math.min(Math.max(at, half + 2), Math.max(end - half, half + 2));
    if (taken.some(([a, b]) => x - half < b + 8 && x + half > a - 8)) return;
    taken.push([x - half, x + half]);
    p.text(x, y, text, { colour: colour.faint, size: 10, anchor: "middle" });
  };
  const last = ticks.length - 1;
  if (last >= 0) for (const part of [0, 1, 0.5, 0.25, 0.75]) put(Math.round(part * last));
  if (column.missing !== null) {
    const x = places.x(n) + places.w(n) / 2;
    p.text(x, y, "∅", { colour: colour.faint, size: 10, anchor: "middle" });
  }
}

/** @param {number} number */
export function short(number) {
  if (Math.abs(number) >= 1e5) {
    return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 }).format(number);
  }
  return String(Number(number.toPrecision(6))).replace("-", "−");
}

/** @param {number} part */
export function percent(part) {
  if (!Number.isFinite(part)) return "–";
  const digits = part > 0 && part < 0.001 ? 3 : part < 0.0995 ? 2 : part < 0.9995 ? 1 : 0;
  return `${(100 * part).toFixed(digits)} %`;
}

/**
 * @param {string | null} label
 */
export function labelText(label) {
  return label === null ? "(missing)" : label === "" ? "(empty)" : label;
}

/**
 * @param {Painter} p
 * @param {Drawn} drawn
 * @param {number} width
 * @param {Record<string, string>} colour
 */
export function drawRows(p, drawn, width, colour) {
  const { column, paired, through, other, order } = drawn;
  const { a: long, other: longOther } = lengths(drawn);
  const total = totalOf(drawn.a) || 1;
  const left = Math.min(Math.max(width * 0.42, 70), 170);
  const right = 52;
  const room = Math.max(width - left - right - 2 * EDGE, 10);
  order.forEach((k, row) => {
    const y = row * ROW;
    const on = !through || through[k];
    const text = fitted(labelText(column.labels[k]), left - 8, 12);
    p.text(EDGE, y + 15, text, { colour: on ? colour.ink : colour.faint, size: 12 });
    const x = EDGE + left;
    if (paired) {
      p.rect(x, y + 4, Math.max(long(k) * room, 0), 6, on ? colour.a : colour.base);
      p.rect(x, y + 11, Math.max(longOther(k) * room, 0), 6, colour.b, 0.9);
    } else {
      if (other) p.rect(x, y + 3, longOther(k) * room, 15, colour.base);
      const inset = other ? 3 : 0;
      p.rect(x, y + 3 + inset, long(k) * room, 15 - 2 * inset, on ? colour.a : colour.faint, on ? 1 : 0.55);
    }
    const ends = drawn.margin && drawn.a[k] > 0 ? drawn.margin(drawn.a[k]) : null;
    if (ends) {
      const [low, high] = ends.map((end) => Math.min((long(k) * end) / drawn.a[k], 1) * room);
      p.rect(x + low, y + (paired ? 6.5 : 10), Math.max(high - low, 1), 1, colour.ink);
    }
    p.text(width - EDGE, y + 15, percent(drawn.a[k] / total), {
      colour: colour.faint, size: 11, anchor: "end",
    });
    if (drawn.cursor === k) p.frame(1, y + 1, width - 2, ROW - 2, colour.ink);
  });
}
