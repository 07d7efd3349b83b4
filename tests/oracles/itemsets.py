"""Frequent itemsets by plain depth-first search over Python sets."""


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
