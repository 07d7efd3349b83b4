"""Recommenders as named arrays, for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
from scipy import sparse

from tacit import store
from tacit.baskets.item_model import LinearItems
from tacit.errors import InputError
from tacit.parameters import plain_parameters
from tacit.table.input_spec import InputSpec
from tacit.tree import DependencyNetwork

if TYPE_CHECKING:
    from tacit.baskets.recommender import Recommender

    R = TypeVar("R", bound=Recommender)

__all__ = ["recommender_of_state", "state_of_recommender"]

_TREES = "trees."


def state_of_recommender(rec: Recommender) -> store.State:
    """Return all of a fitted recommender."""
    facts = {
        "parameters": plain_parameters(rec),
        "algorithm": rec.algorithm_,
        "l2": rec.l2_,
        "total": rec._total,
        "selection": rec.selection_.to_dict(as_series=False),
    }
    state = {
        "features": np.frombuffer(rec._input.to_json(), np.uint8),
        "settings": store.json_array(facts),
        "counts": rec.counts_,
        **_csr_state("near", rec._near),
    }
    if rec._linear is not None:
        state["intercept"] = rec._linear.intercept
        weights = rec._linear.weights
        if isinstance(weights, np.ndarray):
            state["weights"] = weights
        else:
            state |= _csr_state("weights", weights)
    if rec._blend is not None:
        state["blend"] = rec._blend
    if rec._trees is not None:
        state |= {_TREES + name: array for name, array in rec._trees.to_state().items()}
    return state


def _csr_state(name: str, matrix: Any) -> dict[str, Any]:
    return {
        f"{name}.indptr": matrix.indptr.astype(np.int64),
        f"{name}.indices": matrix.indices.astype(np.int32),
        f"{name}.data": matrix.data,
    }


def recommender_of_state(kind: type[R], state: store.State) -> R:
    """Make a recommender, after checking that the arrays go together."""
    spec = InputSpec.from_json(state["features"].tobytes())
    facts = store.read_json(state["settings"])
    rec = kind(**facts["parameters"])
    rec._check()
    n = spec.schema.n_values
    algorithm, total = facts["algorithm"], facts["total"]
    if algorithm not in ("blend", "linear", "neighbors", "popularity"):
        raise InputError(f"its algorithm is {algorithm!r}")
    if not isinstance(total, float) or not np.isfinite(total) or total <= 0:
        raise InputError(f"it is of {total!r} records")
    rec.algorithm_, rec._total, rec.l2_ = algorithm, total, facts["l2"]
    rec.counts_ = _floats(state, "counts", (n,))
    if (rec.counts_ < 0).any() or n == 0:
        raise InputError("'counts' has a number that cannot be")
    rec._near = _read_csr(state, "near", n)
    rec._linear, rec._trees, rec._blend = None, None, None
    if algorithm in ("linear", "blend"):
        dense = "weights" in state
        weights = _floats(state, "weights", (n, n)) if dense else _read_csr(state, "weights", n)
        rec._linear = LinearItems(weights, _floats(state, "intercept", (n,)))
    if "blend" in state:
        rec._blend = _floats(state, "blend", (4,))
        trees = {k.removeprefix(_TREES): x for k, x in state.items() if k.startswith(_TREES)}
        rec._trees = DependencyNetwork.from_state(trees)
        if rec._trees.schema_ != spec.schema:
            raise InputError("its trees are of other columns")
    try:
        rec.selection_ = pl.DataFrame(
            facts["selection"], schema={"l2": pl.Float64, "ndcg": pl.Float64}
        )
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InputError(str(error)) from None
    rec._input = spec
    spec.note(rec)
    return rec


def _floats(state: store.State, name: str, shape: tuple[int, ...]) -> Any:
    array = state[name]
    if array.dtype != np.float64 or array.shape != shape:
        raise InputError(f"{name!r} has the shape {array.shape} and the type {array.dtype}")
    if not np.isfinite(array).all():
        raise InputError(f"{name!r} has a number that cannot be")
    return array


def _read_csr(state: store.State, name: str, n: int) -> sparse.csr_array:
    """Return a sparse square of a file."""
    indptr, indices = state[f"{name}.indptr"], state[f"{name}.indices"]
    fine = indptr.dtype == np.int64 and indptr.shape == (n + 1,) and indices.dtype == np.int32
    fine = fine and bool(indptr[0] == 0 and indptr[-1] == len(indices))
    fine = fine and bool((np.diff(indptr) >= 0).all())
    if not fine or indices.ndim != 1 or not ((indices >= 0) & (indices < n)).all():
        raise InputError(f"{name!r} is no sparse matrix of {n} items")
    data = _floats(state, f"{name}.data", (len(indices),))
    return sparse.csr_array((data, indices, indptr), shape=(n, n))
