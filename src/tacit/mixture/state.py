"""Mixtures as named arrays, for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import store
from tacit.errors import InputError
from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.iterations import Parameters
from tacit.mixture.em.prior import Prior
from tacit.parameters import plain_parameters
from tacit.table.input_spec import InputSpec

if TYPE_CHECKING:
    from tacit.mixture.naive_bayes_mixture import NaiveBayesMixture
    from tacit.schema import Schema

__all__ = ["mixture_of_state", "state_of_mixture"]


def state_of_mixture(mix: NaiveBayesMixture) -> store.State:
    """Return all of a mixture but the labels of the records it was fitted on."""
    selection = mix.selection_
    facts = {
        "parameters": plain_parameters(mix),
        "prior_clusters": mix._prior.clusters,
        "log_prior": mix._parameters.log_prior,
        "log_likelihood": mix.expected_.log_likelihood,
        "weight": mix.expected_.weight,
        "converged": mix.converged_,
        "batches": mix._n_batches,
        "selection": None if selection is None else selection.to_dict(as_series=False),
    }
    return {
        "features": np.frombuffer(mix._input.to_json(), np.uint8),
        "settings": store.json_array(facts),
        "totals": mix.expected_.totals,
        "counts": mix.expected_.stored,
        "shares": mix._parameters.weights,
        "stored": mix._parameters.stored,
        "defaults": mix._parameters.defaults,
        "prior": mix._prior.cells,
        "trace": mix.trace_,
    }


def mixture_of_state(kind: type[NaiveBayesMixture], state: store.State) -> NaiveBayesMixture:
    """Make a mixture of a file's arrays, after checking that they go together."""
    spec = InputSpec.from_json(state["features"].tobytes())
    schema, facts = spec.schema, store.read_json(state["settings"])
    _check_arrays(schema, state)
    parameters = facts["parameters"]
    if parameters.get("prior_mean") == "shares":  # as it was called up to version 0.1
        parameters["prior_mean"] = "marginals"
    mix = kind(**parameters)
    mix._check_settings()
    mix._input = spec
    mix._prior = Prior.of(schema, _number(facts, "prior_clusters", 0), state["prior"])
    mix._parameters = Parameters(
        state["shares"], state["stored"], state["defaults"], _number(facts, "log_prior")
    )
    _check_sums(schema, mix._prior, mix._parameters)
    mix.expected_ = ExpectedCounts(
        state["totals"],
        state["counts"],
        _number(facts, "log_likelihood"),
        _number(facts, "weight", 0),
    )
    mix.trace_ = np.array(state["trace"])
    mix.n_iter_ = len(mix.trace_)
    mix.converged_ = bool(facts["converged"])
    mix._n_batches = int(_number(facts, "batches", 1))
    try:
        mix.selection_ = None if facts["selection"] is None else pl.DataFrame(facts["selection"])
    except pl.exceptions.PolarsError as error:
        raise InputError(str(error)) from None
    spec.note(mix)
    return mix


def _check_arrays(schema: Schema, state: store.State) -> None:
    """Check that arrays are of the schema's shape, and hold what they can."""
    n_clusters = len(state["totals"])
    shapes = {
        "totals": (n_clusters,),
        "counts": (schema.n_values, n_clusters),
        "shares": (n_clusters,),
        "stored": (schema.n_values, n_clusters),
        "defaults": (len(schema), n_clusters),
        "prior": (int(schema.cells[-1]),),
        "trace": (state["trace"].size,),
    }
    least = {"prior": -1.0, "trace": -np.inf}
    for name, shape in shapes.items():
        array = state[name]
        if array.dtype != np.float64 or array.shape != shape or n_clusters == 0:
            raise InputError(f"{name!r} has the shape {array.shape} and the type {array.dtype}")
        if not (np.isfinite(array) & (array >= least.get(name, 0.0))).all():
            raise InputError(f"{name!r} has a number that cannot be")
        if name in ("shares", "stored", "defaults") and (array > 1 + 1e-9).any():
            raise InputError(f"{name!r} has a probability above 1")


def _check_sums(schema: Schema, prior: Prior, parameters: Parameters) -> None:
    """Check that probabilities of clusters, and of each column's values, add up to 1."""
    if abs(parameters.weights.sum() - 1) > 1e-6:
        raise InputError("'shares' do not add up to 1")
    sums = np.where(prior.defaults[:, None] < 0, 0.0, parameters.defaults)
    np.add.at(
        sums, schema.value_columns, np.where(prior.stored[:, None] < 0, 0.0, parameters.stored)
    )
    some = np.maximum.reduceat(prior.cells, schema.cells[:-1]) >= 0  # not missing values alone
    wrong = some & (np.abs(sums - 1) > 1e-6).any(axis=1)
    if wrong.any():
        name = schema.names[int(wrong.argmax())]
        raise InputError(f"the probabilities of column {name!r} do not add up to 1")


def _number(facts: dict[str, Any], name: str, least: float = -np.inf) -> float:
    number = float(facts[name])
    if not np.isfinite(number) or number < least:
        raise InputError(f"{name!r} is {number}, which cannot be")
    return number
