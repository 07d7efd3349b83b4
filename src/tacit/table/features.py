"""How estimators take their X: as one Table in fit, and under the same schema ever after.

`fit_features` makes a Table of whatever X is and says what to remember of it: columns, labels,
defaults and cut points. `read_features` makes a Table of other data as the first was made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.utils.validation import validate_data

from tacit.errors import InputError, refuse_partitions
from tacit.machine import check_fits
from tacit.table.containers import is_frame
from tacit.table.discretise import Edges, bin_labels
from tacit.table.frames import find_cuts, to_polars
from tacit.table.gateway import check_weights, value_type
from tacit.table.matrices import is_sparse, sparse_numbers
from tacit.table.schema_json import pack_schema, unpack_schema, write_json
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = [
    "Features",
    "array_frame",
    "array_names",
    "array_table",
    "features_from_json",
    "features_to_json",
    "fit_features",
    "is_frame",
    "is_sparse",
    "note_features",
    "note_names",
    "number_array",
    "read_features",
    "take_columns",
    "weigh",
]

Kind: TypeAlias = Literal["table", "frame", "array"]
_KINDS = ("table", "frame", "array")


@dataclass(frozen=True)
class Features:
    """What a fitted estimator remembers of its X."""

    schema: Schema  # columns, labels and defaults of the table that was fitted
    cuts: dict[str, Edges]  # where numeric columns were cut into bins
    kind: Kind  # what X was; columns of arrays, which have no names, are x0, x1, …


def fit_features(
    estimator: Any,
    X: Any,
    *,
    discretise: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> tuple[Table, Features]:
    """Make a Table of the X that an estimator is fitted on, and say what to remember of it.

    Notes `n_features_in_` and, where columns have names, `feature_names_in_` on the estimator.
    Sparse arrays stay sparse, unless they are to be cut. A Table is discrete already and is not
    cut; one that has weights takes no `sample_weight`.

    >>> from sklearn.base import BaseEstimator
    >>> model = BaseEstimator()
    >>> table, features = fit_features(model, {"age": [19.5, 44.0, 61.5]}, discretise=[30, 60])
    >>> model.feature_names_in_
    array(['age'], dtype=object)
    >>> read_features(model, {"age": [99.0, 98.5]}, features).to_numpy().tolist()
    [[2], [2]]
    """
    if isinstance(X, Table):
        if discretise is not None:
            raise InputError("discretise: X is a Table, and its columns are discrete already")
        features = Features(X.schema, {}, "table")
        table = weigh(X, sample_weight)
        note_features(estimator, features)
        return table, features
    kind, given = take_columns(estimator, X, reset=True)
    names = given.columns if kind == "frame" else array_names(given.shape[1])
    cuts: dict[str, Edges] = {}
    if discretise is not None:
        given = given if kind == "frame" else array_frame(given, names)
        cuts = find_cuts(given, discretise)
    table = _encode(given, names, cuts, n_jobs)
    return weigh(table, sample_weight), Features(table.schema, cuts, kind)


def read_features(
    estimator: Any,
    X: Any,
    features: Features,
    *,
    unseen: Literal["error", "default"] = "error",
    n_jobs: int | None = None,
) -> Table:
    """Make a Table of other data under the schema that an estimator was fitted on.

    Columns of a Table are matched by name, and may be more than the estimator knows. For frames,
    scikit-learn's rules hold: the same names in the same order. Columns of arrays are taken by
    their positions. Labels that are `unseen` are treated as by :meth:`tacit.Table.conform`.
    """
    if isinstance(X, Table):
        return X.conform(features.schema, unseen=unseen)
    kind, given = take_columns(estimator, X, reset=False)
    names, cuts = features.schema.names, features.cuts
    if cuts and _holds_numbers(given) and all(name in cuts for name in names):
        return _cut_numbers(given, features)
    if cuts or not is_sparse(given):
        frame = given if kind == "frame" else array_frame(given, names)
        columns = zip(names, frame.iter_columns(), strict=True)
        given = pl.DataFrame([_ready(name, series, cuts) for name, series in columns])
    return _encode(given, names, cuts, n_jobs).conform(features.schema, unseen=unseen)


def take_columns(estimator: Any, X: Any, *, reset: bool) -> tuple[Kind, Any]:
    """Return X as a Polars frame or an array, after scikit-learn's checks of its columns.

    With `reset`, the estimator notes the columns, as in fit; else they must be those that it knows.
    """
    refuse_partitions(X, type(estimator).__name__)
    if (isinstance(X, Mapping) and not is_sparse(X)) or is_frame(X):  # SciPy has a dict, too
        frame, _ = to_polars(X)
        # Polars is a kind of frame that every version of scikit-learn knows; only names matter.
        validate_data(estimator, frame.clear(), reset=reset, skip_check_array=True)
        return "frame", frame
    array = validate_data(
        estimator, X, reset=reset, dtype=None, accept_sparse=True, ensure_all_finite=False
    )
    return "array", array


def _holds_numbers(given: Any) -> bool:
    return is_sparse(given) or (isinstance(given, np.ndarray) and given.dtype.kind in "biuf")


def _cut_numbers(X: Any, features: Features) -> Table:
    """Cut the numbers of an array all of whose columns are cut; a sparse one is not made dense.

    What is not stored is zero. Where that is not in the bin of the default, it is written out.
    """
    schema, n_records = features.schema, X.shape[0]
    number = _sparse_columns(X) if is_sparse(X) else _dense_columns(X)
    used = np.flatnonzero(schema.arities > 1).tolist()  # the others have one bin
    rows, ids = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for column in used:
        edges = np.array(features.cuts[schema.names[column]].edges, np.float64)
        default, (records, numbers) = int(schema.defaults[column]), number(column)
        bins = np.searchsorted(edges, numbers, "right")
        zero = int(np.searchsorted(edges, 0.0, "right"))
        if zero != default and len(records) < n_records:
            full = np.full(n_records, zero)
            full[records] = bins
            records, bins = np.arange(n_records), full
        stored = bins != default
        records, bins = records[stored], bins[stored]
        rows.append(records)
        ids.append(schema.offsets[column] + bins - (bins > default))
    ends = np.cumsum([len(records) for records in rows])
    cells = (np.concatenate(ids), np.concatenate(rows), ends)
    by_record = sparse.csc_array(cells, shape=(n_records, len(used))).tocsr()
    values = by_record.data.astype(value_type(schema.n_values))
    return Table.from_stored(schema, by_record.indptr, values)


def _sparse_columns(X: Any) -> Callable[[int], tuple[Any, Any]]:
    """Return what gives the records and numbers that are stored of a column."""
    try:
        indptr, indices, numbers = sparse_numbers(X)
    except InputError as error:
        raise InputError(f"X{str(error).removeprefix('data')}") from None
    by_column = sparse.csr_array((numbers, indices, indptr), shape=X.shape).tocsc()

    def stored(column: int) -> tuple[Any, Any]:
        entries = slice(*by_column.indptr[column : column + 2])
        return by_column.indices[entries], by_column.data[entries]

    return stored


def _dense_columns(X: NDArray[Any]) -> Callable[[int], tuple[Any, Any]]:
    numbers, every = number_array(X), np.arange(X.shape[0])
    return lambda column: (every, numbers[:, column])


def number_array(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return a dense array of numbers; NaN is refused, as an array has no missing values."""
    numbers = X.astype(np.float64, copy=False)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        row, column = np.unravel_index(int(np.argmax(wrong)), X.shape)
        raise InputError(f"X contains NaN or inf: {numbers[row, column]} at {row}, {column}")
    return numbers


def _ready(name: str, series: pl.Series, cuts: dict[str, Edges]) -> pl.Series:
    """Return a column that is cut where it was in fit; booleans, and no values, are numbers."""
    if name in cuts and series.dtype in (pl.Null, pl.Boolean):
        series = series.cast(pl.Float64)
    if name in cuts and not series.dtype.is_numeric():
        raise InputError(
            f"X: column {name!r} holds {series.dtype}; the model was fitted on numbers, in bins"
        )
    return series.alias(name)


def _encode(given: Any, names: Sequence[str], cuts: dict[str, Edges], n_jobs: int | None) -> Table:
    if isinstance(given, pl.DataFrame):
        return Table(given, discretise=cuts or None, n_jobs=n_jobs)
    if is_sparse(given) and not cuts:
        return array_table(given, names)
    return Table(array_frame(given, names), discretise=cuts or None, n_jobs=n_jobs)


def array_names(n_columns: int) -> list[str]:
    """Return what columns of arrays are called, as scikit-learn does it."""
    return [f"x{position}" for position in range(n_columns)]


def array_table(X: Any, names: Sequence[str]) -> Table:
    """Return a sparse array of whole numbers as a Table; it is not made dense."""
    try:
        return Table(X, columns=names)
    except InputError as error:
        fault = str(error).removeprefix("data")
        hint = "; cut real numbers with discretise" if "not a whole number" in fault else ""
        raise InputError(f"X{fault}{hint}") from None


def array_frame(X: Any, names: Sequence[str]) -> pl.DataFrame:
    """Return an array as a frame; NaN is refused, as an array has no missing values."""
    if is_sparse(X):
        check_fits(8 * X.shape[0] * X.shape[1], "the dense form of X", "cut it yourself")
        X = X.toarray()
    if X.dtype.kind == "f":
        X = X.astype(np.float64, copy=False)
    try:
        return pl.DataFrame([_series(name, X, position) for position, name in enumerate(names)])
    except InputError:
        raise
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputError(f"X cannot be read: {error}") from None


def _series(name: str, X: NDArray[Any], position: int) -> pl.Series:
    values = X[:, position]
    series = pl.Series(name, values.tolist() if X.dtype.kind in "OSU" else values, strict=True)
    if series.dtype.is_float():
        wrong = ~series.is_finite()
        if wrong.any():
            record = int(wrong.arg_max() or 0)
            raise InputError(f"X contains NaN or inf: {series[record]} at {record}, {position}")
    return series


def weigh(table: Table, sample_weight: Any) -> Table:
    """Return the table with the weights that scikit-learn hands over apart from X."""
    if sample_weight is None:
        return table
    if table.weights is not None:
        raise InputError("sample_weight: the Table has weights already")
    try:
        weights = check_weights(sample_weight, table.n_records)
    except InputError as error:
        raise InputError(f"sample_weight: {error}") from None
    return table.with_weights(weights)


def note_names(estimator: Any, names: Sequence[str] | NDArray[Any]) -> None:
    """Note on an estimator which columns it was fitted on, where scikit-learn keeps it."""
    estimator.n_features_in_ = len(names)
    estimator.feature_names_in_ = np.array(names, dtype=object)


def note_features(estimator: Any, features: Features) -> None:
    """Note features that were not taken from X just now, such as those of a model from a file."""
    note_names(estimator, features.schema.names)
    if features.kind == "array":
        del estimator.feature_names_in_


def features_to_json(features: Features) -> bytes:
    """Write features, for files of models."""
    return write_json(
        {
            "kind": features.kind,
            "cuts": {name: edges.edges for name, edges in features.cuts.items()},
            "schema": pack_schema(features.schema),
        }
    )


def features_from_json(data: bytes) -> Features:
    """Read what :func:`features_to_json` wrote, and believe none of it unchecked."""
    try:
        content = json.loads(data)
        kind, packed, edges = content["kind"], content["schema"], content["cuts"]
        cuts = {name: Edges(tuple(points)) for name, points in edges.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"its features cannot be read ({error})") from None
    schema = unpack_schema(packed)
    if kind not in _KINDS:
        raise InputError(f"its features are of the kind {kind!r}, which is not known")
    if kind == "array" and list(schema.names) != array_names(len(schema)):
        raise InputError("its features are those of an array, but have names")
    if kind == "table" and cuts:
        raise InputError("its features are those of a Table, but are cut")
    for name, spec in cuts.items():
        labels = schema.labels[schema.position(name, "cuts")]
        if labels.items[: labels.missing] != bin_labels(spec.edges):
            raise InputError(f"its features have column {name!r} cut into other bins than labels")
    return Features(schema, cuts, kind)
