"""Recommendations for a basket that is typed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.baskets import Recommender
from tacit.errors import InputError
from tacit.explore.model_kinds.asked import code_of, column_of
from tacit.table import Table
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ask", "check", "learn"]

_MOST_ASKED = 60  # items of a basket
_SHOWN, _REASONS = 20, 3


def check(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request: there are none."""
    return {}


def learn(table: Table, request: dict[str, Any]) -> tuple[dict[str, Any], Recommender]:
    """Return the items that there are, the most frequent first."""
    model = Recommender(discretise=None, random_state=0).fit(table)
    order = np.argsort(-model.counts_, kind="stable").tolist()
    pairs = _pairs(table, model)
    return {
        "items": [[*pairs[v], float(model.counts_[v])] for v in order],
        "algorithm": model.algorithm_,
    }, model


def ask(table: Table, model: Recommender, question: dict[str, Any]) -> dict[str, Any]:
    """Rank items for ``{"basket": [[column, code], …]}``, and say which ones speak for each."""
    asked = question.get("basket")
    if not isinstance(asked, list) or len(asked) > _MOST_ASKED:
        raise InputError(f"basket must be a list of at most {_MOST_ASKED} items")
    pairs = _pairs(table, model)
    value_of = {pair: v for v, pair in enumerate(pairs)}
    held: dict[int, int] = {}
    for item in asked:
        if not isinstance(item, list) or len(item) != 2:
            raise InputError("basket: an item is a column and a code")
        column = column_of(table, item[0], "basket")
        value = value_of.get((column, code_of(table, column, item[1], "basket")))
        if value is None:
            raise InputError("basket: this is what most records have, and no item")
        if column in held:
            raise InputError("basket: a column is there twice")
        held[column] = value
    values = np.array(sorted(held.values()), np.int64)
    scores = _scores(model, values)
    # What an item contributes is what scores lose without it.
    lost = scores[0] - scores[1:]
    free = scores[0].copy()
    schema = model.schema_
    taken = np.isin(schema.value_columns, schema.value_columns[values])
    missing = np.array([-1 if x.missing is None else x.missing for x in schema.labels])
    free[taken | (schema.value_codes == missing[schema.value_columns])] = -np.inf
    ranked = []
    for v in np.argsort(-free, kind="stable")[:_SHOWN].tolist():
        if free[v] == -np.inf:
            break
        reasons = np.argsort(-lost[:, v], kind="stable")[:_REASONS].tolist()
        because = [list(pairs[values[k]]) for k in reasons if lost[k, v] > 0]
        ranked.append({"item": list(pairs[v]), "score": float(free[v]), "because": because})
    return {"ranked": ranked}


def _scores(model: Recommender, values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores of all items for a basket, then for it without each of its items."""
    baskets = [values, *(np.delete(values, k) for k in range(len(values)))]
    indptr = np.concatenate(([0], np.cumsum([len(basket) for basket in baskets])))
    schema = model.schema_
    stored = np.concatenate(baskets).astype(value_type(schema.n_values))
    return model._scores(Table.from_stored(schema, indptr, stored))


def _pairs(table: Table, model: Recommender) -> list[tuple[int, int]]:
    """Return the column and the code of each item, as the page has them."""
    schema, shown = model.schema_, table.schema
    pairs = []
    for v in range(schema.n_values):
        name, label = schema.value_label(v)
        pairs.append((shown.position(name), shown[name].code(label)))
    return pairs
