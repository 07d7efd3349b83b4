"""Exact dependency trees of discrete columns: mutual information of all pairs, and their tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from tacit import _core
from tacit.machine import check_fits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import Pairs
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["Missing", "informations", "learn"]

Missing = Literal["state", "ignore"]


def informations(table: Table, missing: Missing = "state", n_jobs: int = 1) -> NDArray[np.float64]:
    """Return the mutual information of every two columns in nats.

    Parameters
    ----------
    table : Table
    missing : {"state", "ignore"}
        Whether a missing value is a state like any other, or leaves its record out of the pair.
    n_jobs : int

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]})
    >>> informations(table).round(3).tolist()
    [[0.0, 0.693, 0.0], [0.693, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return _of_pairs(table.pairs(layout="dense", n_jobs=n_jobs), missing, n_jobs)


def _of_pairs(pairs: Pairs, missing: Missing, n_jobs: int) -> NDArray[np.float64]:
    schema, total = pairs.schema, float(pairs.total)
    check_fits(8 * len(schema) ** 2, f"all pairs of {len(schema):,} columns", "select fewer")
    if total <= 0:
        return np.zeros((len(schema), len(schema)))
    values, defaults = _unknown(schema) if missing == "ignore" else (None, None)
    square = np.asarray(pairs.stored)
    return _core.pair_information(square, schema.offsets, total, values, defaults, n_jobs)


def learn(
    table: Table, missing: Missing = "state", n_jobs: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the tree of most mutual information: its edges, a < b and ascending, and weights.

    A wide table of few stored values never becomes a square of columns. Columns that share a
    record are compared one by one; for all others the information grows with the number of
    records that hold anything but the default, so only the first of each queue matters
    (Meilă 1999).

    Parameters
    ----------
    table : Table
    missing : {"state", "ignore"}
    n_jobs : int

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]})
    >>> edges, weights = learn(table)
    >>> edges.tolist(), weights.round(3).tolist()
    ([[0, 1], [0, 2]], [0.693, 0.216])
    """
    schema = table.schema
    known_only = missing == "ignore" and any(labels.missing is not None for labels in schema.labels)
    pairs = table.pairs(layout="dense" if known_only else "auto", n_jobs=n_jobs)
    stored = pairs.stored
    if isinstance(stored, np.ndarray):
        return _core.spanning_tree(_of_pairs(pairs, missing, n_jobs))
    return _core.sparse_spanning_tree(
        stored.indptr.astype(np.int64),
        stored.indices.astype(np.int32, copy=False),
        stored.data,
        schema.offsets,
        float(pairs.total),
        n_jobs,
    )


def _unknown(schema: Schema) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return for each value id, and for each default, whether it says "not known"."""
    codes = [-1 if labels.missing is None else labels.missing for labels in schema.labels]
    missing = np.array(codes, np.int64)
    values = schema.value_codes == missing[schema.value_columns]
    return values.astype(np.uint8), (schema.defaults == missing).astype(np.uint8)
