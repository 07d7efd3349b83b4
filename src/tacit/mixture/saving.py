"""Mixtures in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import store
from tacit.errors import FileError, InputError
from tacit.mixture.em import Parameters
from tacit.mixture.expected import ExpectedCounts
from tacit.mixture.prior import Prior
from tacit.table.features import features_from_json, features_to_json, note_features

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.mixture.naive_bayes_mixture import NaiveBayesMixture

__all__ = ["write_mixture"]

_KIND = "naive_bayes_mixture"


def write_mixture(path: str | os.PathLike[str], mix: NaiveBayesMixture) -> None:
    """Write all of a mixture but the labels of the records it was fitted on."""
    tried = mix.selection_
    facts = {
        "parameters": {k: v for k, v in mix.get_params().items() if _is_plain(v)},
        "prior_clusters": mix._prior.clusters,
        "log_prior": mix._parameters.log_prior,
        "log_likelihood": mix.expected_.log_likelihood,
        "weight": mix.expected_.weight,
        "converged": mix.converged_,
        "batches": mix._n_batches,
        "selection": None if tried is None else tried.to_dict(as_series=False),
    }
    arrays: dict[str, NDArray[Any]] = {
        "features": np.frombuffer(features_to_json(mix._features), np.uint8),
        "settings": np.frombuffer(json.dumps(facts).encode(), np.uint8),
        "totals": mix.expected_.totals,
        "counts": mix.expected_.stored,
        "shares": mix._parameters.shares,
        "stored": mix._parameters.stored,
        "defaults": mix._parameters.defaults,
        "prior": mix._prior.cells,
        "trace": mix.trace_,
    }
    store.write_arrays(path, _KIND, arrays)


def _is_plain(value: Any) -> bool:
    """Return whether JSON can hold a parameter."""
    return value is None or isinstance(value, str | int | float)


@store.loads(_KIND)
def _load(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]]) -> NaiveBayesMixture:
    """Make a mixture of a file's arrays, after checking that they go together."""
    try:
        return _make(arrays)
    except KeyError as error:
        raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
    except (InputError, ValueError, TypeError, AttributeError) as error:
        raise FileError(path, f"is damaged: {error}") from None


def _make(arrays: dict[str, NDArray[Any]]) -> NaiveBayesMixture:
    from tacit.mixture.naive_bayes_mixture import NaiveBayesMixture

    features = features_from_json(arrays["features"].tobytes())
    schema, facts = features.schema, json.loads(arrays["settings"].tobytes())
    n_clusters = len(arrays["totals"])
    shapes = {
        "totals": (n_clusters,),
        "counts": (schema.n_values, n_clusters),
        "shares": (n_clusters,),
        "stored": (schema.n_values, n_clusters),
        "defaults": (len(schema), n_clusters),
        "prior": (int(schema.cells[-1]),),
    }
    for name, shape in shapes.items():
        array = arrays[name]
        if array.dtype != np.float64 or array.shape != shape or n_clusters == 0:
            raise InputError(f"{name!r} has the shape {array.shape} and the type {array.dtype}")
        least = -1 if name == "prior" else 0
        if not (np.isfinite(array) & (array >= least)).all():
            raise InputError(f"{name!r} has a number that cannot be")
        if name in ("shares", "stored", "defaults") and (array > 1 + 1e-9).any():
            raise InputError(f"{name!r} has a probability above 1")
    mix = NaiveBayesMixture(**facts["parameters"])
    mix._features = features
    mix._prior = Prior.of(schema, float(facts["prior_clusters"]), arrays["prior"])
    mix._parameters = Parameters(
        arrays["shares"], arrays["stored"], arrays["defaults"], float(facts["log_prior"])
    )
    mix.expected_ = ExpectedCounts(
        arrays["totals"], arrays["counts"], float(facts["log_likelihood"]), float(facts["weight"])
    )
    mix.trace_ = np.array(arrays["trace"], np.float64)
    mix.n_iter_ = len(mix.trace_)
    mix.converged_ = bool(facts["converged"])
    mix._n_batches = int(facts["batches"])
    mix.selection_ = None if facts["selection"] is None else pl.DataFrame(facts["selection"])
    note_features(mix, features)
    return mix
