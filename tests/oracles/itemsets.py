"""Frequent itemsets by plain depth-first search over Python sets, and rules of all of them."""

import itertools
from fractions import Fraction


def frequent_itemsets(records, min_count, kind="all", weights=None):
    """Return {items: count} of the itemsets that are in records of at least this weight."""
    weights = [1] * len(records) if weights is None else weights
    items = sorted({item for record in records for item in record})
    frequent = {}

    def extend(base, first, held):
        for position in range(first, len(items)):
            rest = [r for r in held if items[position] in records[r]]
            count = sum(weights[r] for r in rest)
            if count >= min_count:
                frequent[(*base, items[position])] = count
                extend((*base, items[position]), position + 1, rest)

    extend((), 0, range(len(records)))
    if kind == "all":
        return frequent
    covered = set()  # sets that a superset makes needless
    for larger, count in frequent.items():
        for position in range(len(larger)):
            smaller = larger[:position] + larger[position + 1 :]
            if kind == "maximal" or frequent.get(smaller) == count:
                covered.add(smaller)
    return {items: count for items, count in frequent.items() if items not in covered}


def most_frequent(sets, n):
    """Return the n most frequent of {items: count}, and those level with the last."""
    counts = sorted(sets.values(), reverse=True)
    least = counts[n - 1] if len(counts) >= n else 0
    return {items: count for items, count in sets.items() if count >= least}


def association_rules(sets, total, min_confidence, *, redundant=True, min_improvement=0):
    """Return {(antecedent, consequent): (both, antecedent, consequent)} of all frequent sets."""
    found = {}
    for items, both in sets.items():
        for k, consequent in enumerate(items):
            antecedent = items[:k] + items[k + 1 :]
            if not antecedent or Fraction(both, sets[antecedent]) < Fraction(str(min_confidence)):
                continue
            gain = Fraction(both, sets[antecedent]) - _best_of_parts(sets, total, items, k)
            if redundant or (gain > 0 and gain >= Fraction(str(min_improvement))):
                found[antecedent, consequent] = (both, sets[antecedent], sets[consequent,])
    return found


def _best_of_parts(sets, total, items, k):
    """Return the highest confidence of rules to item k from parts of the others."""
    others = items[:k] + items[k + 1 :]
    best = Fraction(sets[items[k],], total)
    for size in range(1, len(others)):
        for part in itertools.combinations(others, size):
            both = sets[tuple(sorted((*part, items[k])))]
            best = max(best, Fraction(both, sets[part]))
    return best
