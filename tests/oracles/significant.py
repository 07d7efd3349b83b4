"""Significant conjunctions by trying all of them, with SciPy's tests."""

import itertools
from functools import cache

import numpy as np
from scipy import stats


@cache
def p_value(n, n_positives, support, positives, test, alternative):
    table = [
        [positives, support - positives],
        [n_positives - positives, n - n_positives - support + positives],
    ]
    if test == "fisher":
        return float(stats.fisher_exact(table, alternative=alternative).pvalue)
    if support == n:
        return 1.0
    spread = support * (n - support) * n_positives * (n - n_positives) / n
    z = (positives * n - support * n_positives) / np.sqrt(spread)
    one_sided = {"greater": stats.norm.sf, "less": stats.norm.cdf}
    if alternative in one_sided:
        return float(one_sided[alternative](z))
    return float(stats.chi2.sf(z * z, 1))


def least_p_value(n, n_positives, support, test, alternative):
    possible = range(max(0, support - n + n_positives), min(support, n_positives) + 1)
    return min(p_value(n, n_positives, support, k, test, alternative) for k in possible)


def hypotheses(held, max_size=None, min_support=1):
    """Return the distinct sets of records that conjunctions of items have, but for all records."""
    n, n_items = held.shape
    sets = set()
    for size in range(1, (max_size or n_items) + 1):
        for items in itertools.combinations(range(n_items), size):
            records = held[:, items].all(axis=1)
            if min_support <= records.sum() < n:
                sets.add(records.tobytes())
    return [np.frombuffer(records, np.bool_) for records in sorted(sets)]


def westfall_young(found, labels, permuted, alpha, test, alternative):
    """Return the p-value that rules are below, and the least p-values of all permutations."""
    n, positives = len(labels), int(labels.sum())

    def least(label):
        return min(
            (p_value(n, positives, int(h.sum()), int(label[h].sum()), test, alternative))
            for h in found
        )

    minima = np.array([least(label) if found else 1.0 for label in permuted])
    rank = int(np.floor(alpha * (len(permuted) + 1) * (1 + 1e-12)))
    return np.sort(minima)[rank - 1], minima


def tarone(found, labels, alpha, test, alternative):
    """Return by how many tests p-values are to be divided, and how many are testable."""
    n, positives = len(labels), int(labels.sum())
    least = np.array([least_p_value(n, positives, int(h.sum()), test, alternative) for h in found])
    n_tests = 1
    while (testable := int((least <= alpha / n_tests * (1 + 1e-9)).sum())) > n_tests:
        n_tests += 1
    return n_tests, testable
