"""Classifiers by similarity in files: what they learnt, and the objects that they compare with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit import store
from tacit.errors import FileError, InputError
from tacit.parameters import plain_parameters
from tacit.schema import Labels, Schema
from tacit.similarity.base import Objects, SimilarityClassifier
from tacit.similarity.cuts.classifier import NormalizedCutClassifier
from tacit.similarity.grid.grid import Grid
from tacit.similarity.neighbors.k_neighbors import SparseKNeighborsClassifier
from tacit.similarity.projection.encoding import Encoder
from tacit.similarity.sparse_computation import SparseComputation
from tacit.similarity.svm.svc import SparseSVC
from tacit.table.features import note_names
from tacit.table.schema_json import pack_schema, unpack_schema, write_json

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

__all__ = ["write_classifier"]

_KINDS: dict[str, type[SimilarityClassifier]] = {
    "normalized_cut_classifier": NormalizedCutClassifier,
    "sparse_k_neighbors_classifier": SparseKNeighborsClassifier,
    "sparse_svc": SparseSVC,
}
_FOR_FIT = ("random_state", "class_weight", "resolution")  # predictions have no use for them


def write_classifier(path: str | os.PathLike[str], model: SimilarityClassifier) -> None:
    """Write a fitted classifier; parameters that matter in fit only may be left out."""
    kind = next(name for name, cls in _KINDS.items() if isinstance(model, cls))
    sc: SparseComputation = model.computation_
    classes = model.classes_
    facts: dict[str, Any] = {
        "parameters": _write_parameters(model),
        "resolution": sc.grid_.resolution,
        "n_pairs": int(sc.n_pairs_),
        "density": float(sc.density_),
        "classes": pack_schema(Schema(["y"], [Labels(classes.tolist(), "String")], [0])),
        "class_type": classes.dtype.str if classes.dtype.kind in "biuf" else None,
        "named": hasattr(model, "feature_names_in_"),
    }
    arrays: Arrays = {
        "components": sc.components_,
        "mean": sc.mean_,
        "explained": sc.explained_variance_ratio_,
        "lower": sc.grid_.lower,
        "upper": sc.grid_.upper,
        "encoder": np.frombuffer(model.encoder_.to_json(), np.uint8),
    }
    if model._scales is not None:
        arrays["scales"] = model._scales
    if isinstance(model, SparseSVC):
        arrays |= _write_support(model)
        facts |= {"shift": model.shift_, "smallest": model.smallest_eigenvalue_}
    else:
        arrays |= _write_objects(model._labelled)
    arrays["settings"] = np.frombuffer(write_json(facts), np.uint8)
    store.write_arrays(path, kind, arrays)


def _write_parameters(model: SimilarityClassifier) -> dict[str, Any]:
    plain = plain_parameters(model)
    for name, value in model.get_params().items():
        if name in plain or name in _FOR_FIT:
            continue
        if callable(value):
            raise InputError(f"{name} is a function, and functions cannot be saved in a model")
        raise InputError(f"{name} cannot be saved in a model: it is of type {type(value).__name__}")
    return plain


def _write_support(model: SparseSVC) -> Arrays:
    coords, numbers = model._support
    arrays = {
        "support": model.support_,
        "dual_coef": model.dual_coef_,
        "intercept": model.intercept_,
        "n_iter": model.n_iter_,
        "coords": coords,
        "training_coords": model._training[0],
        "training_decisions": model._training[1],
        **_write_numbers(numbers),
    }
    return arrays if model._sigmoids is None else arrays | {"sigmoids": model._sigmoids}


def _write_objects(objects: Objects) -> Arrays:
    return {
        "coords": objects.coords,
        "codes": objects.codes,
        "weights": objects.weights,
        **_write_numbers(objects.numbers),
    }


def _write_numbers(numbers: Any) -> Arrays:
    if not sparse.issparse(numbers):
        return {"numbers": numbers}
    matrix: Any = numbers
    return {
        "numbers": matrix.data,
        "indices": matrix.indices.astype(np.int32, copy=False),
        "indptr": matrix.indptr.astype(np.int64, copy=False),
    }


def _register(kind: str) -> None:
    @store.loads(kind)
    def _load(path: str | os.PathLike[str], arrays: Arrays) -> SimilarityClassifier:
        """Make a classifier of a file's arrays, after checking that they go together."""
        try:
            return _make(kind, arrays)
        except KeyError as error:
            raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FileError(path, f"is damaged: {error}") from None


for _kind in _KINDS:
    _register(_kind)


def _make(kind: str, arrays: Arrays) -> SimilarityClassifier:
    facts = json.loads(arrays["settings"].tobytes())
    model: Any = _KINDS[kind](**facts["parameters"])
    model._check_parameters()
    model.encoder_ = Encoder.from_json(arrays["encoder"].tobytes())
    model.n_features_in_ = len(model.encoder_.inputs)
    if facts["named"]:
        note_names(model, model.encoder_.inputs)
    model.classes_ = _read_classes(facts["classes"], facts["class_type"])
    width = len(model.encoder_.names)
    model.computation_ = _read_computation(model, facts, arrays, width)
    model._scales = None
    if "scales" in arrays:
        model._scales = _floats(arrays, "scales", (width,))
    n = len(arrays["coords"])
    coords = _floats(arrays, "coords", (n, model.computation_.grid_.n_dimensions))
    numbers = _read_numbers(arrays, n, width)
    if sparse.issparse(numbers) != model.encoder_.sparse:
        raise InputError("'numbers' and 'encoder' do not go together")
    if isinstance(model, SparseSVC):
        _read_support(model, facts, arrays, (coords, numbers))
    else:
        codes, weights = arrays["codes"], _floats(arrays, "weights", (n,))
        _check_codes(codes, n, len(model.classes_))
        objects = Objects(coords, numbers, codes, weights)
        if isinstance(model, SparseKNeighborsClassifier):
            model._keep(objects)
        else:
            model._labelled, model.n_fallback_ = objects, 0
    return model  # type: ignore[no-any-return]


def _read_computation(model: Any, facts: Any, arrays: Arrays, width: int) -> SparseComputation:
    """Return projection and grid; the objects that they were made from are not kept."""
    p = len(facts["resolution"])
    sc = SparseComputation(
        model.resolution, model.dimensions, model.projection,
        random_state=model.random_state, n_jobs=model.n_jobs,
    )  # fmt: skip
    sc.components_ = _floats(arrays, "components", (p, width))
    sc.mean_ = _floats(arrays, "mean", (width,))
    sc.explained_variance_ratio_ = _floats(arrays, "explained", (p,))
    ends = np.stack([_floats(arrays, name, (p,)) for name in ("lower", "upper")])
    if not (ends[0] <= ends[1]).all():
        raise InputError("'lower' lies above 'upper'")
    sc.grid_ = Grid.over(ends, [int(k) for k in facts["resolution"]])
    sc.n_pairs_, sc.density_ = int(facts["n_pairs"]), float(facts["density"])
    sc.encoder_ = model.encoder_
    return sc


def _read_support(model: Any, facts: Any, arrays: Arrays, support: tuple[Any, Any]) -> None:
    n, n_classes = len(support[0]), len(model.classes_)
    n_problems = 1 if n_classes == 2 else n_classes
    if n_classes < 2:
        raise InputError("it has one class only")
    model._support = support
    model.support_ = arrays["support"]
    if model.support_.shape != (n,) or model.support_.dtype != np.int64:
        raise InputError("'support' is not as long as 'coords'")
    model.dual_coef_ = _floats(arrays, "dual_coef", (n_problems, n))
    model.intercept_ = _floats(arrays, "intercept", (n_problems,))
    model.n_iter_ = arrays["n_iter"]
    m = len(arrays["training_coords"])
    model._training = (
        _floats(arrays, "training_coords", (m, support[0].shape[1])),
        _floats(arrays, "training_decisions", (m, n_problems)),
    )
    if m == 0:
        raise InputError("it has no training objects")
    model._sigmoids = None
    if "sigmoids" in arrays:
        model._sigmoids = _floats(arrays, "sigmoids", (n_problems, 2))
    model.n_fallback_ = 0
    model.shift_ = float(facts["shift"])
    smallest = facts["smallest"]
    model.smallest_eigenvalue_ = None if smallest is None else float(smallest)


def _read_classes(packed: Any, dtype: str | None) -> NDArray[Any]:
    items = unpack_schema(packed).labels[0].items
    if dtype is None:
        texts = all(isinstance(item, str) for item in items)
        return np.array(items, None if texts else object)
    kind = np.dtype(str(dtype))
    if kind.kind not in "biuf":
        raise InputError(f"its classes are of the type {dtype!r}")
    return np.array(items, kind)


def _floats(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = arrays[name]
    if array.dtype != np.float64 or array.shape != shape:
        raise InputError(f"{name!r} has the type {array.dtype} and the shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name!r} has a number that is not finite")
    return array


def _check_codes(codes: NDArray[Any], n: int, n_classes: int) -> None:
    fine = codes.dtype == np.int32 and codes.shape == (n,) and n > 0
    if not fine or not ((codes >= 0) & (codes < n_classes)).all():
        raise InputError("'codes' are not those of its classes")


def _read_numbers(arrays: Arrays, n: int, width: int) -> Any:
    data = arrays["numbers"]
    if data.dtype not in (np.float64, np.float32) or not np.isfinite(data).all():
        raise InputError("'numbers' are none, or not finite")
    if "indptr" not in arrays:
        if data.shape != (n, width):
            raise InputError(f"'numbers' has the shape {data.shape}")
        return data
    indices, indptr = arrays["indices"], arrays["indptr"]
    fine = indptr.dtype == np.int64 and indptr.shape == (n + 1,) and indices.dtype == np.int32
    if not fine or indices.shape != data.shape or data.ndim != 1:
        raise InputError("'numbers', 'indices' and 'indptr' do not go together")
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise InputError("'indptr' does not ascend to the number of stored values")
    if len(data) and not (indices.min() >= 0 and indices.max() < width):
        raise InputError("'indices' has a column that is not there")
    matrix = sparse.csr_array((data, indices, indptr), (n, width))
    if not matrix.has_canonical_format:
        raise InputError("'indices' are not sorted")
    return matrix
