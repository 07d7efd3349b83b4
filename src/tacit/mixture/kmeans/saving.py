"""k-means models in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import FileError, InputError
from tacit.table.schema_json import schema_from_json, schema_to_json

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["KIND", "restore", "to_arrays"]

KIND = "kmeans"


def to_arrays(model: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays a file must hold to make the model again."""
    params = model.get_params()
    arrays: dict[str, NDArray[Any]] = {
        "centers": model.cluster_centers_,
        "sizes": model.sizes_,
    }
    if not isinstance(params["init"], str):
        params["init"] = "k-means++"  # given centres may be records
    if isinstance(params["random_state"], np.random.RandomState):
        params["random_state"] = None  # a generator has moved on since
    settings: dict[str, Any] = {
        "params": {name: _plain(value) for name, value in params.items()},
        "inertia": model.inertia_,
        "n_iter": model.n_iter_,
        "n_features": model.n_features_in_,
        "n_records": model._n_records,
    }
    if model.schema_ is not None:
        arrays["schema"] = np.frombuffer(schema_to_json(model.schema_), np.uint8)
    elif hasattr(model, "feature_names_in_"):
        settings["names"] = [str(name) for name in model.feature_names_in_]
    arrays["settings"] = np.frombuffer(json.dumps(settings).encode(), np.uint8)
    return arrays


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def restore(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], kind: Any) -> Any:
    """Make the model of a file's arrays, and believe none of them unchecked."""
    try:
        settings = json.loads(arrays["settings"].tobytes())
        model = kind(**settings["params"])
        model.schema_ = schema_from_json(arrays["schema"].tobytes()) if "schema" in arrays else None
        model.n_features_in_ = int(settings["n_features"])
        names = settings.get("names") if model.schema_ is None else model.schema_.names
        if names is not None:
            model.feature_names_in_ = np.array(names, dtype=object)
        model.inertia_, model.n_iter_ = float(settings["inertia"]), int(settings["n_iter"])
        model.cluster_centers_ = arrays["centers"]
        model.sizes_, model._n_records = arrays["sizes"], int(settings["n_records"])
        model._n_features_out = len(model.cluster_centers_)
        _check(model)
    except KeyError as error:
        raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
    except (InputError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(path, f"is damaged: {error}") from None
    return model


def _check(model: Any) -> None:
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
