"""Itemsets as the arrays of a file, and what must be true of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit import store
from tacit.baskets.items import Items
from tacit.baskets.itemset_list import Itemsets
from tacit.errors import InputError
from tacit.parameters import check_choice, is_number, plain_parameters
from tacit.table.input_spec import InputSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "itemsets_of_state", "itemsets_state"]

KINDS = ("all", "closed", "maximal")
UNLISTED = ("", "complete_", "min_size", "max_size", "must_hold", "one_of")
OF_ITEMS = ("must_hold", "must_not_hold", "one_of")
Model = TypeVar("Model")


def itemsets_state(model: Any) -> store.State:
    """Return the named arrays that a file of a fitted model holds."""
    sets: Itemsets = model.itemsets_
    plain = plain_parameters(model)
    given = {name: _with_pairs(getattr(model, name)) for name in OF_ITEMS if name in plain}
    facts = {
        "parameters": plain | given,
        "complete": model.complete_,
        "defaults": sets.items.defaults,
        "total": sets.total,
        "kind": sets.kind,
        "unlisted": sets.unlisted,
        "max_size": sets.max_size,
    }
    return {
        "features": np.frombuffer(model._input.to_json(), np.uint8),
        "settings": store.json_array(facts),
        "indptr": sets.indptr,
        "cells": sets.cells,
        "counts": sets.counts,
    }


def itemsets_of_state(cls: type[Model], state: store.State) -> Model:
    """Return the model that :func:`itemsets_state` described."""
    facts = store.read_json(state["settings"])
    parameters = facts["parameters"]
    given = {name: _from_pairs(parameters[name]) for name in OF_ITEMS if name in parameters}
    model: Any = cls(**(parameters | given))
    model._input = InputSpec.from_json(state["features"].tobytes())
    model._input.note(model)
    items = Items(model._input.schema, bool(facts["defaults"]))
    indptr, cells, counts = (np.array(state[name]) for name in ("indptr", "cells", "counts"))
    total, max_size = facts["total"], facts["max_size"]
    if not is_number(total) or not total > 0:
        raise InputError("'total' is no number of records")
    if max_size is not None and not isinstance(max_size, int):
        raise InputError("'max_size' is no size")
    check_choice(facts["kind"], "kind", KINDS)
    check_choice(facts["unlisted"], "unlisted", UNLISTED)
    _check_sets(items, indptr, cells, counts, total)
    model.itemsets_ = Itemsets(
        items, facts["kind"], indptr, cells, counts, total, facts["unlisted"], max_size
    )
    model.n_records_ = total
    model.complete_ = bool(facts["complete"])
    return model  # type: ignore[no-any-return]


def _check_sets(
    items: Items,
    indptr: NDArray[Any],
    cells: NDArray[Any],
    counts: NDArray[Any],
    total: float,
) -> None:
    """Refuse arrays that are no itemsets."""
    if (
        indptr.ndim != 1
        or counts.ndim != 1
        or len(indptr) != len(counts) + 1
        or indptr.dtype != np.int64
        or indptr[0] != 0
        or indptr[-1] != len(cells)
        or (np.diff(indptr) < 1).any()
    ):
        raise InputError("'indptr' does not go with 'cells' and 'counts'")
    if cells.ndim != 1 or cells.dtype != np.uint32 or not np.isin(cells, items.cells).all():
        raise InputError("'cells' are not those of the columns' items")
    within = np.ones(len(cells), np.bool_)
    within[indptr[:-1]] = False
    if (np.diff(cells.astype(np.int64), prepend=-1) < 1)[within].any():
        raise InputError("'cells' do not ascend within a set")
    if counts.dtype not in (np.int64, np.float64) or not (np.diff(counts) <= 0).all():
        raise InputError("'counts' do not begin with the greatest")
    if len(counts) and not 0 < counts[-1] <= counts[0] <= total:
        raise InputError("'counts' are not between 0 and the number of records")


def _with_pairs(items: Any) -> Any:
    """Return items as JSON can hold them, pairs of a column and a label told from lists.

    >>> _with_pairs(["milk", ("plan", "pro")])
    ['milk', {'pair': ['plan', 'pro']}]
    """
    if isinstance(items, tuple):
        return {"pair": [_with_pairs(item) for item in items]}
    if isinstance(items, list):
        return [_with_pairs(item) for item in items]
    return items.item() if isinstance(items, np.generic) else items


def _from_pairs(items: Any) -> Any:
    """Return the items that :func:`_with_pairs` described.

    >>> _from_pairs(_with_pairs(["milk", ("plan", "pro")]))
    ['milk', ('plan', 'pro')]
    """
    if isinstance(items, dict):
        return tuple(_from_pairs(item) for item in items["pair"])
    return [_from_pairs(item) for item in items] if isinstance(items, list) else items
