"""Slow, obvious answers about the columns of rules: codes, runs, coverage and scores.

Data is dense here: an array of numbers with a row for each record, NaN for what is missing.
"""

import numpy as np


def coded_column(values, wanted):
    """Rank one column: the numbers of codes, the predominant code, and {code: records}."""
    present = set(values[~np.isnan(values)].tolist())
    if not np.isnan(wanted):
        present.add(wanted + 0.0)
    numbers = sorted(present)
    codes = [-1 if np.isnan(v) else numbers.index(v) for v in values]
    predominant = -1 if np.isnan(wanted) else numbers.index(wanted)
    runs = {
        code: [r for r, own in enumerate(codes) if own == code]
        for code in sorted(set(codes) - {predominant})
    }
    return numbers, predominant, runs


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
    for record, own in zip(X, scores, strict=True):
        for conditions, head in zip(rules, heads, strict=True):
            if covers(record, conditions):
                for output, score in head:
                    own[output] += score
    return scores
