"""k-means models as named arrays, for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import InputError
from tacit.parameters import plain_parameters
from tacit.table.schema_json import schema_from_json, schema_to_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.mixture.kmeans.estimator import KMeans

__all__ = ["kmeans_of_state", "state_of_kmeans"]


def state_of_kmeans(model: KMeans) -> store.State:
    """Return the arrays a file must hold to make the model again."""
    parameters = plain_parameters(model)
    if not isinstance(parameters.get("init"), str):
        parameters["init"] = "k-means++"  # given centres may be records
    facts: dict[str, Any] = {
        "params": parameters,
        "inertia": model.inertia_,
        "n_iter": model.n_iter_,
        "n_features": model.n_features_in_,
        "n_records": model._n_records,
    }
    state: dict[str, NDArray[Any]] = {"centers": model.cluster_centers_, "sizes": model.sizes_}
    if model.schema_ is not None:
        state["schema"] = np.frombuffer(schema_to_json(model.schema_), np.uint8)
    elif hasattr(model, "feature_names_in_"):
        facts["names"] = [str(name) for name in model.feature_names_in_]
    return state | {"settings": store.json_array(facts)}


def kmeans_of_state(kind: type[KMeans], state: store.State) -> KMeans:
    """Make the model of a file's arrays, after checking that they go together."""
    facts = store.read_json(state["settings"])
    model = kind(**facts["params"])
    model.schema_ = schema_from_json(state["schema"].tobytes()) if "schema" in state else None
    model.n_features_in_ = int(facts["n_features"])
    names = facts.get("names") if model.schema_ is None else model.schema_.names
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.inertia_, model.n_iter_ = float(facts["inertia"]), int(facts["n_iter"])
    model.cluster_centers_ = state["centers"]
    model.sizes_, model._n_records = state["sizes"], int(facts["n_records"])
    model._n_features_out = len(model.cluster_centers_)
    _check(model)
    return model


def _check(model: KMeans) -> None:
    centres, sizes = model.cluster_centers_, model.sizes_
    width = model.n_features_in_ if model.schema_ is None else int(model.schema_.cells[-1])
    if model.schema_ is not None and len(model.schema_) != model.n_features_in_:
        raise InputError("its columns are not as many as it says")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) != model.n_features_in_:
        raise InputError("its names are not as many as its columns")
    if centres.dtype != np.float64 or centres.ndim != 2 or centres.shape[1:] != (width,):
        raise InputError("its centres have the wrong form")
    if sizes.dtype != np.float64 or sizes.shape != (len(centres),) or len(centres) == 0:
        raise InputError("its sizes have the wrong form")
    if model._n_records < 0:
        raise InputError("its number of records is negative")
    if not np.isfinite(centres).all() or not np.isfinite(sizes).all():
        raise InputError("its centres or sizes are not finite")
