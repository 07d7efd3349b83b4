// Measures of counts: information, tests, intervals. Information is in nats.

/** @typedef {ArrayLike<number>} Numbers */

/** @param {Numbers} counts */
export function sum(counts) {
  let total = 0;
  for (let k = 0; k < counts.length; k++) total += counts[k];
  return total;
}

/** @param {Numbers} counts */
export function entropy(counts) {
  const total = sum(counts);
  let nats = 0;
  for (let k = 0; k < counts.length; k++) {
    if (counts[k] > 0) nats -= (counts[k] / total) * Math.log(counts[k] / total);
  }
  return nats;
}

/**
 * What a table of two columns says.
 * @param {Numbers} table row by row
 * @param {number} rows
 * @param {number} width
 * @param {number} [told] the fraction of all records that were counted, if they are a sample
 */
export function crossMeasures(table, rows, width, told = 1) {
  const down = new Float64Array(rows);
  const across = new Float64Array(width);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < width; j++) {
      down[i] += table[i * width + j];
      across[j] += table[i * width + j];
    }
  }
  const total = sum(down);
  const expected = new Float64Array(rows * width);
  let information = 0;
  let chi2 = 0;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < width; j++) {
      const at = i * width + j;
      if (!down[i] || !across[j]) continue;
      expected[at] = (down[i] / total) * across[j];
      if (table[at] > 0) information += (table[at] / total) * Math.log(table[at] / expected[at]);
      chi2 += (table[at] - expected[at]) ** 2 / expected[at];
    }
  }
  chi2 *= told;
  const occurring = (/** @type {Float64Array} */ x) => x.filter((count) => count > 0).length;
  const [m, n] = [occurring(down), occurring(across)];
  const dof = Math.max(m - 1, 0) * Math.max(n - 1, 0);
  const largest = told * total * (Math.min(m, n) - 1);
  return {
    total, down, across, expected, dof,
    information: Math.max(information, 0),
    chi2: dof ? chi2 : 0,
    p: dof ? chi2Tail(chi2, dof) : 1,
    v: largest > 0 ? Math.min(Math.sqrt(chi2 / largest), 1) : 0,
  };
}

/** @param {number} x */
function logGamma(x) {
  const c = [
    76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155,
    0.1208650973866179e-2, -0.5395239384953e-5,
  ];
  const t = x + 5.5;
  let series = 1.000000000190015;
  for (let j = 0; j < 6; j++) series += c[j] / (x + 1 + j);
  return (x + 0.5) * Math.log(t) - t + Math.log((2.5066282746310005 * series) / x);
}

/**
 * The probability that chi-squared is at least so large.
 * @param {number} x
 * @param {number} dof
 */
export function chi2Tail(x, dof) {
  const a = dof / 2;
  const z = x / 2;
  if (!(z > 0)) return 1;
  const front = Math.exp(a * Math.log(z) - z - logGamma(a));
  if (z < a + 1) {
    let term = 1 / a;
    let total = term;
    for (let n = 1; n < 10_000 && term > total * 1e-16; n++) {
      term *= z / (a + n);
      total += term;
    }
    return Math.min(Math.max(1 - front * total, 0), 1);
  }
  let b = z + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let n = 1; n < 10_000; n++) {
    const an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b || 1e-300);
    c = b + an / c || 1e-300;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return Math.min(front * h, 1);
}

/**
 * How much a column differs between two groups of records: the information that it has about which
 * group a record is in, if both were equally large.
 * @param {Numbers} a
 * @param {Numbers} b
 */
export function difference(a, b) {
  const [m, n] = [sum(a), sum(b)];
  if (!m || !n) return 0;
  let nats = 0;
  for (let k = 0; k < a.length; k++) {
    const [p, q] = [a[k] / m, b[k] / n];
    const mean = (p + q) / 2;
    if (p > 0) nats += (p / 2) * Math.log(p / mean);
    if (q > 0) nats += (q / 2) * Math.log(q / mean);
  }
  return Math.max(nats, 0);
}

/**
 * The lift of A over B in one label, with its 95 % interval; half a record is added to each count.
 * @param {number} a
 * @param {number} m all of A
 * @param {number} b
 * @param {number} n all of B
 */
export function lift(a, m, b, n) {
  const log = Math.log((a + 0.5) / (m + 0.5)) - Math.log((b + 0.5) / (n + 0.5));
  const error = Math.sqrt(
    Math.max(1 / (a + 0.5) - 1 / (m + 0.5) + 1 / (b + 0.5) - 1 / (n + 0.5), 0),
  );
  return {
    ratio: m && n && b ? a / m / (b / n) : a ? Infinity : 1,
    low: Math.exp(log - 1.96 * error),
    high: Math.exp(log + 1.96 * error),
    z: error > 0 ? log / error : 0,
  };
}

/**
 * The 95 % interval (Wilson's) of a count that was estimated from a sample without replacement.
 * @param {number} count
 * @param {number} size of the sample
 * @param {number} of all records
 * @returns {[number, number]}
 */
export function sampleInterval(count, size, of) {
  const k = (count * size) / of;
  const [p, zz] = [k / size, 1.96 ** 2 * (1 - size / of)];
  const centre = p + zz / (2 * size);
  const half = Math.sqrt(zz * ((p * (1 - p)) / size + zz / (4 * size * size)));
  const [low, high] = [(centre - half) / (1 + zz / size), (centre + half) / (1 + zz / size)];
  return [Math.max(Math.floor(low * of), Math.round(k)), Math.min(Math.ceil(high * of), of - Math.round(size - k))];
}
