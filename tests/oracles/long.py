"""What a log says, in plain Python."""

__all__ = ["long_table"]


def long_table(
    rows, kind, *, duplicates="sum", min_count=1, min_items=0
):  # rows of (record, item, value); kind is "presence", "number" or "label"
    """Return the names of columns, the record ids and the dense rows of a table."""
    held = {}
    for record, item, value in rows:
        cell = held.setdefault(record, {})
        if kind == "presence":
            cell[item] = True
        elif item not in cell or duplicates == "last":
            cell[item] = value
        elif kind == "number" and duplicates == "sum":
            cell[item] += value
    totals = {}
    for cell in held.values():
        for item in cell:
            totals[item] = totals.get(item, 0) + 1
    items = sorted(item for item, n in totals.items() if n >= min_count)
    default = {"presence": False, "number": 0, "label": None}[kind]
    ids, dense = [], []
    for record in sorted(held):
        if sum(item in items for item in held[record]) >= min_items:
            ids.append(record)
            dense.append([held[record].get(item, default) for item in items])
    return [str(item) for item in items], ids, dense
