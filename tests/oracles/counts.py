"""Slow, obvious answers, written from the papers' definitions and never by calling tacit.

Data is dense here: a list of rows of codes, the arity of each column, and where it matters the
default of each column. A stored value is a (column, code) pair whose code is not the default;
value ids number those pairs column by column, in code order.
"""

import itertools
import math

import numpy as np


def value_ids(arities, defaults):
    """Number the (column, non-default code) pairs."""
    pairs = [
        (column, code)
        for column, (arity, default) in enumerate(zip(arities, defaults, strict=True))
        for code in range(arity)
        if code != default
    ]
    return {pair: number for number, pair in enumerate(pairs)}


def stored_lists(rows, arities, defaults):
    """List for each row the ids of the values that differ from their column's default."""
    ids = value_ids(arities, defaults)
    return [
        [ids[column, code] for column, code in enumerate(row) if code != defaults[column]]
        for row in rows
    ]


def csr(lists, dtype):
    """Return lists of ids as the two arrays that kernels take."""
    indptr = np.array([0, *itertools.accumulate(len(ids) for ids in lists)], np.int64)
    return indptr, np.array(list(itertools.chain.from_iterable(lists)), dtype)


def chosen_rows(n_rows, chosen):
    return range(n_rows) if chosen is None else chosen


def joint_counts(rows, arities, columns, weights=None, chosen=None):
    """Count every combination of codes of the given columns, row by row."""
    counts = np.zeros([arities[c] for c in columns], np.int64 if weights is None else np.float64)
    for r in chosen_rows(len(rows), chosen):
        counts[tuple(rows[r][c] for c in columns)] += 1 if weights is None else weights[r]
    return counts


def id_counts(lists, n_values, weights=None, chosen=None):
    """Count how many (weighted) lists hold each id."""
    counts = np.zeros(n_values, np.int64 if weights is None else np.float64)
    for r in chosen_rows(len(lists), chosen):
        for v in lists[r]:
            counts[v] += 1 if weights is None else weights[r]
    return counts


def id_pair_counts(lists, n_values, weights=None, chosen=None):
    """Count how many (weighted) lists hold both ids, for every ordered pair of ids."""
    square = np.zeros((n_values, n_values), np.int64 if weights is None else np.float64)
    for r in chosen_rows(len(lists), chosen):
        for i, j in itertools.product(lists[r], repeat=2):
            square[i, j] += 1 if weights is None else weights[r]
    return square


def matching_rows(rows, query, chosen=None):
    """Return the rows that hold the given code, or one of a set of them, in each column given."""

    def matches(code, wanted):
        return code in wanted if isinstance(wanted, set) else code == wanted

    return [
        r
        for r in chosen_rows(len(rows), chosen)
        if all(matches(rows[r][column], wanted) for column, wanted in query.items())
    ]


def adtree_nodes(rows, arities, order, leaf_size=1, max_depth=None):
    """Number the nodes of an ADtree: for each column behind the last one, a child for each value
    that occurs, but not for the most common one (of several, the one with the lowest code)."""
    if len(rows) < leaf_size or max_depth == 0:
        return 1
    nodes = 1
    for place, column in enumerate(order):
        parts = [[row for row in rows if row[column] == code] for code in range(arities[column])]
        parts.remove(max(parts, key=len))
        deeper = None if max_depth is None else max_depth - 1
        nodes += sum(
            adtree_nodes(part, arities, order[place + 1 :], leaf_size, deeper)
            for part in parts
            if part
        )
    return nodes


def skewed_first(rows, arities):
    """Order columns by how many records have the most common value, most first."""
    columns = range(len(arities))
    most = [max(sum(row[c] == code for row in rows) for code in range(arities[c])) for c in columns]
    return sorted(columns, key=lambda c: -most[c])


def first_appearance_codes(values):
    """Number distinct values by appearance: codes, first places, counts, the code of None."""
    seen = {}
    codes = [seen.setdefault(value, len(seen)) for value in values]
    first = [codes.index(code) for code in range(len(seen))]
    counts = [codes.count(code) for code in range(len(seen))]
    return codes, first, counts, seen.get(None, -1)


def sparse_fault(indptr, indices, n):
    """Find the first fault of a compressed sparse structure: (fault, row, index)."""
    if indptr[0] != 0:
        return 1, 0, indptr[0]
    for row, (begin, end) in enumerate(itertools.pairwise(indptr)):
        if end < begin or end > len(indices):
            return 2, row, end
    if indptr[-1] != len(indices):
        return 3, len(indptr) - 1, indptr[-1]
    unsorted = None
    for row, (begin, end) in enumerate(itertools.pairwise(indptr)):
        own = indices[begin:end]
        for index in own:
            if not 0 <= index < n:
                return 4, row, index
        twice = sorted(index for index in set(own) if own.count(index) > 1)
        if twice:
            return 5, row, twice[0]
        if own != sorted(own) and unsorted is None:
            unsorted = row
    return (0, 0, 0) if unsorted is None else (6, unsorted, 0)


def rule_score(measure, hits, support, all_hits, total, z):
    """Score a rule, written as the textbooks have it."""
    confidence = hits / support
    if measure == "lift":
        return confidence / (all_hits / total)
    if measure == "leverage":
        return (hits * total - support * all_hits) / total
    if measure == "wilson":
        if hits == 0:
            return 0.0
        zz = z * z
        spread = confidence * (1 - confidence) / support + zz / (4 * support * support)
        return (confidence + zz / (2 * support) - z * math.sqrt(spread)) / (1 + zz / support)
    return confidence


def best_rules(rows, arities, target, code, *, lengths, min_support, n_rules, measure, z,
               forbidden=(), weights=None, redundant=True):  # fmt: skip
    """Try all conjunctions: (conditions, support, hits, score) of the best rules.

    `forbidden` holds (column, code) pairs that are no conditions. Unless `redundant`, a rule is
    better than those of some of its conditions, and the first about its records.
    """
    weigh = (lambda r: 1) if weights is None else weights.__getitem__
    total = sum(weigh(r) for r in range(len(rows)))
    all_hits = sum(weigh(r) for r, row in enumerate(rows) if row[target] == code)
    found, scores, covers = [], {}, set()
    others = [c for c in range(len(arities)) if c != target]
    for length in range(1, lengths[1] + 1):
        for columns in itertools.combinations(others, length):
            for codes in itertools.product(*(range(arities[c]) for c in columns)):
                conditions = tuple(zip(columns, codes, strict=True))
                if any(pair in forbidden for pair in conditions):
                    continue
                matches = matching_rows(rows, dict(conditions))
                support = sum(weigh(r) for r in matches)
                if support < min_support:
                    continue
                hits = sum(weigh(r) for r in matches if rows[r][target] == code)
                score = rule_score(measure, hits, support, all_hits, total, z)
                scores[conditions] = score
                cover = tuple(r for r in matches if weigh(r) > 0)
                order = (-score, -support, length, columns, codes)
                found.append((order, (conditions, support, hits, score), cover))
    kept = []
    for _, rule, cover in sorted(found):
        conditions = rule[0]
        if len(conditions) < lengths[0]:
            continue
        if not redundant:
            fewer = (
                some
                for n in range(1, len(conditions))
                for some in itertools.combinations(conditions, n)
            )
            if any(scores[some] >= rule[3] for some in fewer) or cover in covers:
                continue
            covers.add(cover)
        kept.append(rule)
    return kept[:n_rules]
