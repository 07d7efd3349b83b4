"""Slow, obvious answers about the columns of rules: codes, runs, coverage and scores.

Data is dense here: an array of numbers with a row for each record, NaN for what is missing.
"""

import numpy as np


def coded_column(values, wanted):
    """Rank one column: the numbers of codes, the default code, and {code: records}."""
    present = set(values[~np.isnan(values)].tolist())
    if not np.isnan(wanted):
        present.add(wanted + 0.0)
    numbers = sorted(present)
    codes = [-1 if np.isnan(v) else numbers.index(v) for v in values]
    default = -1 if np.isnan(wanted) else numbers.index(wanted)
    runs = {
        code: [r for r, value in enumerate(codes) if value == code]
        for code in sorted(set(codes) - {default})
    }
    return numbers, default, runs


def satisfies(value, op, threshold):
    """Tell whether a value satisfies a condition; what is missing satisfies none."""
    if np.isnan(value):
        return False
    return [value <= threshold, value > threshold, value == threshold, value != threshold][op]


def covers(record, conditions):
    return all(satisfies(record[column], op, t) for column, op, t in conditions)


def rule_scores(X, rules, heads, default_scores):
    """Add up the heads of rules, each a list of (output, score), record by record."""
    scores = np.tile(np.array(default_scores, np.float64), (len(X), 1))
    for record, totals in zip(X, scores, strict=True):
        for conditions, head in zip(rules, heads, strict=True):
            if covers(record, conditions):
                for output, score in head:
                    totals[output] += score
    return scores
