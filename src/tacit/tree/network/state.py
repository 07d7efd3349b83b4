"""Dependency networks as the arrays of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tacit import store
from tacit.errors import InputError
from tacit.parameters import earlier_parameters, plain_parameters
from tacit.table.input_spec import InputSpec
from tacit.tree.growth.settings import grow_settings
from tacit.tree.network.forest import Forest, array_names
from tacit.tree.state import is_averaged

if TYPE_CHECKING:
    from tacit.schema import Schema
    from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = ["network_from_state", "network_to_state"]

N = TypeVar("N", bound="DependencyNetwork")

# The arrays of Forest in their order, by their names in files: "share" is the prior's fraction.
_TYPES = {
    "roots": np.int64, "column": np.int32, "low": np.int32, "high": np.int32,
    "complete": np.uint8, "left": np.int32, "right": np.int32, "first": np.int32,
    "children": np.int32, "gain": np.float64, "share": np.float64, "also": np.int32,
    "stats": np.int64, "stat_start": np.int64,
}  # fmt: skip


def network_to_state(network: DependencyNetwork) -> store.State:
    """Return all of a fitted network."""
    facts = {
        "parameters": {**plain_parameters(network), **network._learnt_by},
        "unit": network.forest_.unit,
        "averaged": network._derived.averaged,
    }
    return {
        "features": np.frombuffer(network._input.to_json(), np.uint8),
        "settings": store.json_array(facts),
        **dict(zip(_TYPES, network.forest_.arrays.values(), strict=True)),
    }


def network_from_state(kind: type[N], state: store.State) -> N:
    """Make a network, after checking that the arrays go together."""
    spec = InputSpec.from_json(state["features"].tobytes())
    facts = store.read_json(state["settings"])
    network = kind(**earlier_parameters(facts["parameters"]))
    grow_settings(network)
    unit = facts["unit"]
    if not isinstance(unit, float) or not np.isfinite(unit) or unit <= 0:
        raise InputError(f"its unit of weight is {unit!r}, which cannot be")
    if "also" not in state:  # of files from before missing values could go below thresholds
        state = {**state, "also": np.full(len(state["column"]), -1, np.int32)}
    for name, dtype in _TYPES.items():
        if state[name].dtype != dtype or state[name].ndim != 1:
            raise InputError(f"{name!r} has the shape and the type of something else")
    arrays = dict(zip(array_names(), (state[name] for name in _TYPES), strict=True))
    forest = Forest(**arrays, unit=unit)
    _check_forest(spec.schema, forest)
    network._keep(spec, forest, averaged=is_averaged(facts))
    return network


def _check_forest(schema: Schema, forest: Forest) -> None:
    """Check every array: what is walked in the kernel, the rest here."""
    n_nodes = len(forest.column)
    if len(schema) < 2 or forest.n_trees != len(schema):
        raise InputError("it has not a tree for each of several columns")
    names = {"left": "left", "right": "right", "gain": "gain", "share": "prior_fraction"}
    for name, field in names.items():
        if len(forest.arrays[field]) != n_nodes:
            raise InputError(f"{name!r} has not one entry for each node")
    forest.to_kernel(schema, forest.stats.astype(np.float64))  # the kernel checks all arrays
    inner = forest.column >= 0
    if (forest.also[~inner] != -1).any():
        raise InputError("'also' has a value that no split asks about")
    if (forest.column < -1).any() or (forest.complete > 1).any():
        raise InputError("it has a node that is neither a split nor a leaf")
    if (forest.column[inner] == forest.tree_of_node[inner]).any():
        raise InputError("a column's tree asks about the column itself")
    if not np.isfinite(forest.gain).all():
        raise InputError("'gain' has a number that cannot be")
    fraction = forest.prior_fraction
    if not (np.isfinite(fraction) & (fraction > 0) & (fraction <= 1 + 1e-9)).all():
        raise InputError("'share' has a number that cannot be")
    _check_codes(schema, forest)
    _check_counts(schema, forest)


def _check_codes(schema: Schema, forest: Forest) -> None:
    """Check that thresholds lie between codes of their columns."""
    low, high = forest.left, forest.right
    arity = np.where(forest.column >= 0, schema.arities[np.maximum(forest.column, 0)], 0)
    none = (low == -1) & (high == -1)
    if not (none | ((low >= 0) & (low < high) & (high < arity))).all():
        raise InputError("'left' and 'right' are no codes on the two sides of a threshold")


def _check_counts(schema: Schema, forest: Forest) -> None:
    """Check that every node has the counts of its children, and all roots the same total."""
    sizes = schema.arities[forest.tree_of_node]
    begin = np.concatenate(([0], np.cumsum(sizes)))[:-1]
    sums = np.add.reduceat(forest.stats.astype(np.float64), begin)  # which cannot overflow
    if (forest.stats < 0).any() or sums.max() >= 2.0**62:
        raise InputError("'stats' has a count that cannot be")
    totals = np.add.reduceat(forest.stats, begin)
    if not (totals[forest.roots[:-1]] == totals[0]).all() or totals[0] == 0:
        raise InputError("the roots' counts do not add up to the same")
    parent, child = forest.edges
    below = np.bincount(parent, totals[child], len(sizes))
    if not (below == np.where(forest.n_children > 0, totals, 0)).all():
        raise InputError("a node's counts are not those of its children")
