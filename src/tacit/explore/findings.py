"""What sets the selected records apart: the best conjunctions of up to three conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.counts.formatting import free_name, label_text
from tacit.schema import Labels, Schema
from tacit.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.explore.state import Selection

__all__ = ["chosen_records", "conjunctions"]

_MOST_COLUMNS = 60  # that take part in conjunctions of three
_LEAST = 20  # records that match one


def chosen_records(table: Table, selection: Selection) -> NDArray[np.bool_]:
    """Return which records are selected."""
    chosen = np.zeros(table.n_records, np.bool_)
    chosen[table.where(selection.query(table.schema))] = True
    return chosen


def conjunctions(table: Table, a: Selection, b: Selection | None) -> dict[str, Any]:
    """Return the conjunctions under which a record is more likely in A than in B, or the rest.

    The columns that A and B are selected by take no part: they would say what is known. Rules are
    ranked by the lower end of the interval of the fraction of A, and those that are no better than
    a part of theirs are left out.
    """
    in_a = chosen_records(table, a)
    compared = ~in_a if b is None else chosen_records(table, b)
    records = np.flatnonzero(in_a | compared)
    known = {*a.conditions, *(b.conditions if b else ())}
    schema = table.schema
    free = [c for c in range(len(schema)) if c not in known and schema.arities[c] > 1]
    weights = np.ones(len(in_a)) if table.weights is None else table.weights
    size, rest = float(weights[in_a].sum()), float(weights[compared & ~in_a].sum())
    if not (size > 0 and rest > 0 and free):
        return {"rules": [], "fraction": 0.0, "conditions": 0}
    part = table.select(free).take(records)
    from tacit.rules import RuleFinder  # what many who only look never need

    name = free_name("selected", part.schema.names)
    joined, value = _with_flag(part, name, in_a[records])
    n_conditions = min(3 if len(free) <= _MOST_COLUMNS else 2, len(free))
    finder = RuleFinder(
        name, value, n_conditions=(1, n_conditions), min_support=min(_LEAST, size), n_rules=60,
        criterion="wilson", discretise=None, default_conditions=len(free) <= _MOST_COLUMNS,
    ).fit(joined)  # fmt: skip
    rules = []
    for rule in finder.rules_:
        given = {
            table.schema.position(column): table.schema[column].code(label)
            for column, label in rule.conditions.items()
        }
        rules.append(
            {
                "given": given,
                "text": " and ".join(
                    f"{column} = {label_text(label)}" for column, label in rule.conditions.items()
                ),
                "support": rule.support,
                "hits": rule.hits,
                "confidence": rule.confidence,
                "lift": rule.lift,
                "lowest": rule.score,
            }
        )
    fraction = float(finder.n_hits_) / float(finder.n_records_)
    return {"rules": rules, "fraction": fraction, "conditions": n_conditions}


def _with_flag(part: Table, name: str, flag: NDArray[np.bool_]) -> tuple[Table, Any]:
    """Return a table with another column, True for some records, and the label of those."""
    old = part.schema
    schema = Schema(
        (*old.names, name),
        (*old.labels, Labels([False, True], "Boolean")),
        (*old.defaults.tolist(), 0),
    )
    lengths = np.diff(part.indptr) + flag
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    values = np.insert(part.values.astype(np.int64), part.indptr[1:][flag], old.n_values)
    return Table.from_stored(schema, indptr, values, part.weights), True
