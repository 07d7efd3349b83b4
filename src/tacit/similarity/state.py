"""What files of classifiers by similarity hold: written as arrays, and checked when read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit import store
from tacit.errors import InputError
from tacit.parameters import plain_parameters, rename_parameters
from tacit.similarity.csr import csr_arrays
from tacit.similarity.grid.grid import Grid
from tacit.table.input_spec import note_names
from tacit.table.one_hot import OneHot
from tacit.table.schema_json import write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

__all__ = [
    "computation_arrays",
    "computation_facts",
    "numbers_arrays",
    "read_codes",
    "read_computation",
    "read_floats",
    "read_names",
    "read_numbers",
    "read_settings",
    "settings",
]

_FOR_FIT = ("random_state", "class_weight", "resolution")  # predictions do not depend on them
_RENAMED = {  # since the first files were written
    "dimensions": "n_dimensions",
    "normalise": "normalize",
    "delta": "group_width",
    "search": "algorithm",
}


# Parameters and columns


def settings(model: Any, facts: dict[str, Any]) -> Arrays:
    """Return parameters and facts about a model as JSON in an array.

    Parameters that matter in fit only may be left out.
    """
    parameters = plain_parameters(model)
    for name, value in model.get_params().items():
        if name in parameters or name in _FOR_FIT:
            continue
        if callable(value):
            raise InputError(f"{name} is a function, and functions cannot be saved in a model")
        raise InputError(f"{name} cannot be saved in a model: it is of type {type(value).__name__}")
    facts = {"parameters": parameters, "named": hasattr(model, "feature_names_in_"), **facts}
    return {"settings": np.frombuffer(write_json(facts), np.uint8)}


def read_settings(state: store.State) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the facts and the parameters of a model, the latter under the names of today."""
    facts = store.read_json(state["settings"])
    parameters = rename_parameters(facts["parameters"], _RENAMED)
    if "indefinite" in parameters:  # files of support vectors from before kernels were tapered
        parameters.setdefault("taper", False)
        parameters.setdefault("normalize", False)
    if isinstance(parameters.get("projection"), str):
        parameters["projection"] = parameters["projection"].replace("randomised", "randomized")
    return facts, parameters


def read_names(model: Any, facts: dict[str, Any], encoder: OneHot) -> None:
    """Set the columns that a model was fitted on."""
    note_names(model, encoder.spec.names)
    if not facts["named"]:
        del model.feature_names_in_


# Projection and grid


def computation_arrays(sc: Any) -> Arrays:
    """Return projection and grid of a SparseComputation."""
    return {
        "components": sc.components_,
        "mean": sc.mean_,
        "explained": sc.explained_variance_ratio_,
        "lower": sc.grid_.lower,
        "upper": sc.grid_.upper,
        "encoder": np.frombuffer(sc.encoder_.to_json(), np.uint8),
    }


def computation_facts(sc: Any) -> dict[str, Any]:
    """Return what JSON can hold of them."""
    return {
        "resolution": sc.grid_.resolution,
        "n_pairs": int(sc.n_pairs_),
        "density": float(sc.density_),
    }


def read_computation(sc: Any, facts: dict[str, Any], state: store.State) -> None:
    """Give a SparseComputation its projection and grid; it has no objects."""
    sc.encoder_ = OneHot.from_json(state["encoder"].tobytes())
    read_names(sc, facts, sc.encoder_)
    p, width = len(facts["resolution"]), len(sc.encoder_.names)
    sc.components_ = read_floats(state, "components", (p, width))
    sc.mean_ = read_floats(state, "mean", (width,))
    sc.explained_variance_ratio_ = read_floats(state, "explained", (p,))
    ends = np.stack([read_floats(state, name, (p,)) for name in ("lower", "upper")])
    if not (ends[0] <= ends[1]).all():
        raise InputError("'lower' lies above 'upper'")
    sc.grid_ = Grid.over(ends, [int(k) for k in facts["resolution"]])
    sc.n_pairs_, sc.density_ = int(facts["n_pairs"]), float(facts["density"])


# Classes and objects


def read_codes(state: store.State, n: int, n_classes: int) -> NDArray[np.int32]:
    """Return the classes of n objects."""
    codes = state["codes"]
    valid = codes.dtype == np.int32 and codes.shape == (n,) and n > 0
    if not valid or not ((codes >= 0) & (codes < n_classes)).all():
        raise InputError("'codes' are not those of its classes")
    return codes


def read_floats(state: store.State, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array of finite numbers of a shape."""
    array = state[name]
    if array.dtype != np.float64 or array.shape != shape:
        raise InputError(f"{name!r} has the type {array.dtype} and the shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name!r} has a number that is not finite")
    return array


def numbers_arrays(numbers: Any) -> Arrays:
    """Return what distances are measured between, dense or sparse."""
    if not sparse.issparse(numbers):
        return {"numbers": numbers}
    indptr, indices, data = csr_arrays(numbers)
    return {"numbers": data, "indices": indices, "indptr": indptr}


def read_numbers(state: store.State, n: int, encoder: OneHot) -> Any:
    """Return n rows of what distances are measured between, in the form the encoder gives."""
    data, width = state["numbers"], len(encoder.names)
    if data.dtype not in (np.float64, np.float32) or not np.isfinite(data).all():
        raise InputError("'numbers' are none, or not finite")
    if ("indptr" in state) != encoder.sparse:
        raise InputError("'numbers' and 'encoder' do not go together")
    if not encoder.sparse:
        if data.shape != (n, width):
            raise InputError(f"'numbers' has the shape {data.shape}")
        return data
    indices, indptr = state["indices"], state["indptr"]
    valid = indptr.dtype == np.int64 and indptr.shape == (n + 1,) and indices.dtype == np.int32
    if not valid or indices.shape != data.shape or data.ndim != 1:
        raise InputError("'numbers', 'indices' and 'indptr' do not go together")
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise InputError("'indptr' does not ascend to the number of stored values")
    if len(data) and not (indices.min() >= 0 and indices.max() < width):
        raise InputError("'indices' has a column that is not there")
    matrix = sparse.csr_array((data, indices, indptr), (n, width))
    if not matrix.has_canonical_format:
        raise InputError("'indices' are not sorted")
    return matrix
