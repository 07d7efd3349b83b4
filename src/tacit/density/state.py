"""Mixtures of trees as named arrays, for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from tacit import store
from tacit.density.blocks import flat_labels, read_blocks
from tacit.density.clusters import Prior, Tree, TreeClusters
from tacit.density.layout import TreeLayout
from tacit.errors import InputError
from tacit.mixture.em.expected import ExpectedCounts
from tacit.network.inference.records import without_missing
from tacit.parameters import plain_parameters
from tacit.table.input_spec import InputSpec

if TYPE_CHECKING:
    from tacit.density.tree_mixture import TreeMixture

    Mixture = TypeVar("Mixture", bound=TreeMixture)

__all__ = ["mixture_of_state", "state_of_mixture"]

_OF_TREE = ("blocks", "labels", "parents", "weights", "cells", "means", "totals", "counts")


def state_of_mixture(mix: TreeMixture) -> store.State:
    """Return all of a mixture; data that were given to validate it are not kept."""
    parameters = plain_parameters(mix)
    if not isinstance(mix.validation, float | None):
        parameters["validation"] = None
    facts = {
        "parameters": parameters,
        "trees": len(mix._fitted()),
        "smoothing": mix.smoothing_,
        "log_likelihood": mix._expected[0].log_likelihood,
        "weight": mix._expected[0].weight,
        "converged": mix.converged_,
        "selection": mix.selection_.to_dict(as_series=False),
    }
    state = {
        "features": np.frombuffer(mix._input.to_json(), np.uint8),
        "settings": store.json_array(facts),
        "trace": mix.trace_,
    }
    parts = zip(mix._groups, mix._trees, mix._expected, strict=True)
    for k, (group, tree, expected) in enumerate(parts):
        arrays = (
            group.layout.blocks.block_of, flat_labels(group.layout.blocks),
            group.layout.parents, group.weights, group.cells, tree.prior.mean, expected.totals,
            expected.stored,
        )  # fmt: skip
        state |= {f"{k}.{name}": array for name, array in zip(_OF_TREE, arrays, strict=True)}
    return state


def mixture_of_state(kind: type[Mixture], state: store.State) -> Mixture:
    """Make a mixture of a file's arrays, after checking that they go together."""
    spec = InputSpec.from_json(state["features"].tobytes())
    facts = store.read_json(state["settings"])
    mix = kind(**facts["parameters"])
    mix._check()
    schema = without_missing(spec.schema) if mix.missing == "ignore" else spec.schema
    strength, weight = float(facts["smoothing"]), float(facts["weight"])
    if not (np.isfinite([strength, weight]).all() and strength >= 0 and weight >= 0):
        raise InputError("'smoothing' or 'weight' cannot be")
    mix._input, mix._schema = spec, schema
    mix._groups, mix._trees, mix._expected = [], [], []
    n_trees = facts["trees"]
    if type(n_trees) is not int or n_trees < 1:
        raise InputError(f"there are {n_trees!r} trees")
    for k in range(n_trees):
        arrays = {name: state[f"{k}.{name}"] for name in _OF_TREE}
        layout = _read_layout(schema, arrays["blocks"], arrays["labels"], arrays["parents"])
        _check_arrays(layout, arrays)
        mix._groups.append(TreeClusters(layout, arrays["weights"], arrays["cells"]))
        mix._trees.append(Tree(layout, Prior(strength, arrays["means"])))
        log_likelihood = float(facts["log_likelihood"]) if k == 0 else 0.0
        mix._expected.append(
            ExpectedCounts(arrays["totals"], arrays["counts"], log_likelihood, weight)
        )
    if abs(mix.weights_.sum() - 1) > 1e-6:
        raise InputError("the weights of clusters do not add up to 1")
    mix.smoothing_ = strength
    mix.trace_ = np.array(_of_type(state["trace"], "trace", np.float64, 1))
    mix.n_iter_, mix.converged_ = len(mix.trace_), bool(facts["converged"])
    try:
        mix.selection_ = pl.DataFrame(facts["selection"])
    except pl.exceptions.PolarsError as error:
        raise InputError(str(error)) from None
    spec.note(mix)
    return mix


def _of_type(array: Any, name: str, dtype: Any, ndim: int) -> Any:
    if array.dtype != dtype or array.ndim != ndim:
        raise InputError(f"{name!r} has the shape {array.shape} and the type {array.dtype}")
    return array


def _read_layout(schema: Any, block_of: Any, labels: Any, parents: Any) -> TreeLayout:
    """Return the layout of a forest, if that is what it is."""
    blocks = read_blocks(schema, block_of, labels)
    parents = _of_type(parents, "parents", np.int64, 1)
    n = len(blocks.members)
    if len(parents) != n or not ((parents >= -1) & (parents < n)).all():
        raise InputError("'parents' are not columns")
    layout = TreeLayout(blocks, parents)
    layout.order  # noqa: B018 - refuses circles
    return layout


def _check_arrays(layout: TreeLayout, arrays: dict[str, Any]) -> None:
    n_clusters, n_cells = len(arrays["weights"]), int(layout.first_cell[-1])
    shapes = {
        "weights": (n_clusters,),
        "cells": (n_cells, n_clusters),
        "means": (n_cells,),
        "totals": (n_clusters,),
        "counts": (layout.n_ids, n_clusters),
    }
    for name, shape in shapes.items():
        array = _of_type(arrays[name], name, np.float64, len(shape))
        if array.shape != shape or n_clusters == 0:
            raise InputError(f"{name!r} has the shape {array.shape}")
        if not (np.isfinite(array) & (array >= 0)).all():
            raise InputError(f"{name!r} has a number that cannot be")
    for name in ("cells", "means"):
        sums = np.add.reduceat(arrays[name], layout.row_starts, axis=0)
        if (np.abs(sums - 1) > 1e-6).any() or (arrays[name] <= 0).any():
            raise InputError(f"{name!r} are not probabilities that add up to 1")
    if (arrays["weights"] <= 0).any():
        raise InputError("'weights' has a number that cannot be")
