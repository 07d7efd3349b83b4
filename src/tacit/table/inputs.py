"""One gateway: whatever X is, as what a model needs of it, in fit and ever after.

In fit::

    inputs = Inputs.fit(estimator, X, y, sample_weight, kinds=estimator.kinds)
    table = inputs.table("auto")     # discrete records: numbers are cut
    table = inputs.ranked()          # discrete records: every distinct number is a label
    columns = inputs.numbers()       # columns of numbers; a label is its index
    matrix = inputs.one_hot()        # rows of numbers; a label is a column of 0 and 1
    spec = inputs.spec               # what to remember, and to save

and for other data, which are read as those of fit were::

    table = Inputs.read(estimator, X, spec).table(unseen="default")
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
import polars as pl
from scipy import sparse
from sklearn.utils.validation import validate_data

from tacit import _core
from tacit.errors import InputError, InputWarning, no_column, refuse_partitions
from tacit.schema import Labels, Schema
from tacit.table.arrays import array_frame, check_finite, naming_x, numbers_or_frame, sparse_table
from tacit.table.build import Parts
from tacit.table.containers import as_frame, is_frame, is_sparse
from tacit.table.cuts import cut_table, find_cuts
from tacit.table.discretise import Edges
from tacit.table.gateway import check_absent, check_weights
from tacit.table.input_spec import InputSpec, Numbers, Origin, array_names, note_names
from tacit.table.kinds import as_kinds, check_kinds
from tacit.table.matrices import sound_rows, sparse_numbers
from tacit.table.new_data import baskets_table, frame_by_name, known_columns, text_to_numbers
from tacit.table.number_columns import (
    NumberColumns,
    check_booleans,
    frame_columns,
    frame_domain,
    matrix_columns,
    table_columns,
    table_domain,
)
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.table.one_hot import OneHot

__all__ = ["Inputs", "array_frame", "is_baskets", "one_record", "read_sample_weight", "weigh"]

Unseen = Literal["error", "default"]
_NAMED = 5  # names that a warning shows


@dataclass
class Inputs:
    """Records that a model is given: a Table, a frame, an array or a sparse array."""

    origin: Origin
    data: Any
    names: Sequence[str]  # of the columns, the target not among them
    spec: InputSpec | None = None  # in fit, what is to be remembered, once it is known
    kinds: Any = None  # those that the caller names
    y: Any = None  # the target as it was given; a series, where it was a column of X
    target: int | None = None  # its position among the columns of a Table
    target_name: str | None = None
    weights: NDArray[np.float64] | None = None
    kept: NDArray[np.bool_] | None = None  # which records were not dropped; None for all
    all_data: Any = None  # the data before records were dropped, if some were

    # Taking

    @classmethod
    def fit(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        kinds: Any = None,
        drop: bool = False,
    ) -> Inputs:
        """Take what fit is given, and note the columns on the estimator.

        A `y` that is text names a column of X. Records of the weight zero are dropped if `drop`.
        """
        refuse_partitions(X, type(estimator).__name__)
        check_absent(getattr(estimator, "absent", None))
        name = None
        X = Table.from_baskets(X) if is_baskets(X) else X
        if isinstance(y, str) and not isinstance(X, Table):
            name, (X, y) = y, split_target(X, y)
        if isinstance(X, Table):
            inputs = cls("table", X, X.schema.names)
            if isinstance(y, str):
                inputs.target = position = X.schema.position(y, "y")
                inputs.target_name = X.schema.names[position]
                if X.n_columns == 1:
                    raise InputError(f"X: there is no column but the target {y!r}")
                inputs.names = X.schema.names[:position] + X.schema.names[position + 1 :]
            else:
                inputs.y = y
            note_names(estimator, inputs.names)
            inputs.weights = X.weights
            if sample_weight is not None and X.weights is not None:
                raise InputError("sample_weight: the Table has weights already")
        else:
            origin, given = _take(estimator, X, reset=True)
            found = given.columns if origin == "frame" else array_names(given.shape[1])
            inputs = cls(origin, given, found, y=y, target_name=name)
        inputs.kinds = check_kinds(kinds, inputs.names)
        if origin_frame := isinstance(inputs.data, pl.DataFrame):
            inputs.data = as_kinds(inputs.data, inputs.kinds)
        if inputs.n_records == 0 or (origin_frame and inputs.data.width == 0):
            what = "columns" if len(inputs.names) == 0 else "records"
            raise InputError(f"X: there are no {what}")
        if sample_weight is not None:
            inputs.weights = read_sample_weight(sample_weight, inputs.n_records)
        if drop and inputs.weights is not None and not inputs.weights.all():
            inputs._drop()
        return inputs

    @classmethod
    def read(
        cls,
        estimator: Any,
        X: Any,
        spec: InputSpec,
        *,
        target_name: str | None = None,
        absent: Literal["error", "default"] | None = None,
    ) -> Inputs:
        """Take other data, as those of fit were taken; a target among them is passed over.

        Columns of a Table are matched by name, and may be more than the estimator knows. For frames
        scikit-learn's rules hold: the same names in the same order. Columns of arrays are taken by
        their positions. Columns that are `absent` have their defaults, or are refused; by default
        they are refused, except in baskets and logs, where what is not named is not there.
        """
        refuse_partitions(X, type(estimator).__name__)
        check_absent(absent)
        tolerant = spec.presence if absent is None else absent == "default"
        if spec.presence and is_baskets(X, known=True):
            X = baskets_table(X, spec)
        X = _without(X, target_name)
        if isinstance(X, Table):
            known = known_columns(X, spec, type(estimator).__name__, fill=tolerant)
            return cls("table", known, spec.names, spec)
        if (tolerant or spec.origin == "table") and (_is_mapping(X) or is_frame(X)):
            X = frame_by_name(X, spec, fill=tolerant)
        origin, given = _take(estimator, X, reset=False, spec=spec)
        if isinstance(given, pl.DataFrame):
            given = given.rename(dict(zip(given.columns, spec.names, strict=True)))
            given = text_to_numbers(given, spec)
        return cls(origin, given, spec.names, spec)

    @property
    def remembered(self) -> InputSpec:
        """The spec, once it is known."""
        assert self.spec is not None
        return self.spec

    @property
    def n_given(self) -> int:
        """The number of records before any were dropped."""
        return self.n_records if self.kept is None else len(self.kept)

    @property
    def n_records(self) -> int:
        """The number of records."""
        return self.data.n_records if isinstance(self.data, Table) else int(self.data.shape[0])

    def _drop(self) -> None:
        """Drop records that count for nothing."""
        assert self.weights is not None
        if not self.weights.any():
            raise InputError("sample_weight: all weights are zero")
        kept = self.kept = self.weights > 0
        self.all_data = self.data
        if isinstance(self.data, Table):
            self.data = self.data.with_weights(None).take(kept)
        elif isinstance(self.data, pl.DataFrame):
            self.data = self.data.filter(kept)
        else:
            rows = sound_rows(self.data) if is_sparse(self.data) else self.data
            self.data = rows[np.flatnonzero(kept)]
        self.weights = self.weights[kept]

    def features(self) -> Table:
        """Return a Table without the target."""
        if self.target is None:
            table: Table = self.data
            return table
        rest = [k for k in range(self.data.n_columns) if k != self.target]
        return self.data.select(rest)  # type: ignore[no-any-return]

    # Giving

    def table(
        self,
        discretise: Any = None,
        *,
        unseen: Unseen = "error",
        classes: Any = None,
        n_jobs: int | None = None,
    ) -> Table:
        """Return discrete records: in fit with numbers cut, later under the spec.

        Cuts that tell classes apart take their codes, or the target of a Table. Labels that are
        `unseen` are treated as by :meth:`tacit.Table.conform`.
        """
        if self.spec is not None:
            return self._conformed(self.spec, unseen, n_jobs)
        table = self._fit_table(discretise, classes, n_jobs)
        _warn_identifiers(table.schema, self.kinds)
        self.spec = InputSpec.of_schema(table.schema, self.origin)
        own = self.weights is None or self.weights is table.weights
        return table if own else table.with_weights(self.weights)

    def ranked(
        self, discretise: Any = None, *, classes: Any = None, n_jobs: int | None = None
    ) -> Table:
        """Return discrete records in which each distinct number of a column is a label.

        A Table has its target among the columns. Nothing is noted in the spec.
        """
        return self._fit_table(discretise, classes, n_jobs)

    def numbers(self) -> NumberColumns:
        """Return columns of numbers."""
        if isinstance(self.data, Table):
            return self._table_numbers()
        data = self.data
        if not isinstance(data, pl.DataFrame):
            data = numbers_or_frame(data, self.names)
        if not isinstance(data, pl.DataFrame):
            if self.spec is None:
                domains = _array_domains(self.names, self.kinds)
                self.spec = InputSpec.of_domains(self.origin, self.names, domains)
            _refuse_labels(self.spec)
            return check_booleans(matrix_columns(data), self.spec, self.kinds)
        if self.spec is None:
            found = [frame_domain(s, self.kinds.get(s.name)) for s in data.iter_columns()]
            self.spec = InputSpec.of_domains(self.origin, self.names, found)
        return check_booleans(frame_columns(data, self.spec), self.spec, self.kinds)

    def mixed(
        self,
        discretise: Any = None,
        *,
        unseen: Unseen = "error",
        missing: bool = False,
        n_jobs: int | None = None,
    ) -> tuple[NDArray[Any] | None, Table | None]:
        """Return columns of numbers, as a matrix, and discrete records of all other columns.

        In fit, columns are numbers if they hold real ones and are not to be cut, or if `kinds` say
        so. Whole numbers are labels, in bins where they are too many. NaN in an array of labels is
        refused unless what is `missing` has a meaning.
        """
        from tacit.table.mixed import fit_mixed, read_mixed

        if self.spec is None:
            return fit_mixed(self, discretise, missing=missing, n_jobs=n_jobs)
        return read_mixed(self, unseen, n_jobs)

    def one_hot(self, encoding: OneHot | None = None, **options: Any) -> Any:
        """Return rows of numbers and how they were made; later, as they were made in fit."""
        from tacit.table.one_hot import fit_one_hot, read_one_hot

        return fit_one_hot(self) if encoding is None else read_one_hot(self, encoding, **options)

    # How it is done

    def _fit_table(self, discretise: Any, classes: Any, n_jobs: int | None) -> Table:
        if isinstance(self.data, Table):
            table = self.data if self.kinds is None else _of_kinds(self.data, self.kinds)
            return cut_table(table, discretise, self.target, classes)
        if is_sparse(self.data):
            table = sparse_table(self.data, self.names)
            return cut_table(_of_kinds(table, self.kinds), discretise, classes=classes)
        frame = self._frame()
        with naming_x():
            cuts = find_cuts(frame, discretise, kinds=self.kinds, classes=classes)
            return Table(frame, discretise=cuts or None, kinds=self.kinds, n_jobs=n_jobs)

    def _frame(self) -> pl.DataFrame:
        if isinstance(self.data, pl.DataFrame):
            return self.data
        return array_frame(self.data, self.names)

    def _conformed(self, spec: InputSpec, unseen: Unseen, n_jobs: int | None) -> Table:
        """Return records under the schema of fit; numbers are cut where those of fit were."""
        schema = spec.schema
        if isinstance(self.data, Table):
            return self.data.conform(schema, unseen=unseen)
        used = np.flatnonzero(schema.arities > 1)
        if (
            not isinstance(self.data, pl.DataFrame)
            and 0 < len(used) < len(schema)
            and all(
                schema.labels[k].edges is not None
                for k in np.flatnonzero(schema.arities == 1).tolist()
            )
        ):
            return self._of_columns(used, spec, unseen, n_jobs)
        if is_sparse(self.data):
            return sparse_table(self.data, self.names).conform(schema, unseen=unseen)
        columns, cuts = [], {}
        for series, labels in zip(self._frame().iter_columns(), schema.labels, strict=True):
            if labels.edges is not None and series.dtype in (pl.Null, pl.Boolean):
                series = series.cast(pl.Float64)
            if labels.edges is not None and series.dtype.is_numeric():
                cuts[series.name] = Edges(labels.edges)
            columns.append(series)
        with naming_x():
            table = Table(pl.DataFrame(columns), discretise=cuts or None, n_jobs=n_jobs)
        return table.conform(schema, unseen=unseen)

    def _of_columns(
        self, used: NDArray[np.int64], spec: InputSpec, unseen: Unseen, n_jobs: int | None
    ) -> Table:
        """Return the records of an array; columns of which all numbers are in one bin are not read.

        Such columns have no value ids, so that those of the rest are those of all.
        """
        if is_sparse(self.data):
            with naming_x():
                indptr, indices, numbers = sparse_numbers(self.data)
            rows: Any = sparse.csr_array((numbers, indices, indptr), self.data.shape)
        else:
            rows = check_finite(self.data)
        some = spec.schema.select(used.tolist())
        inputs = Inputs("array", rows[:, used], some.names, InputSpec.of_schema(some))
        table = inputs.table(unseen=unseen, n_jobs=n_jobs)
        return Table._of(Parts(spec.schema, table.indptr, table.values))

    def _table_numbers(self) -> NumberColumns:
        if self.spec is None:
            table = _of_kinds(self.features(), self.kinds)
            shared: dict[int, Any] = {}
            for labels in table.schema.labels:
                if id(labels) not in shared:
                    shared[id(labels)] = table_domain(labels)
            domains = [shared[id(labels)] for labels in table.schema.labels]
            self.spec = InputSpec.of_domains("table", table.schema.names, domains)
            return table_columns(table, range(table.n_columns), self.spec)
        schema = self.data.schema
        indices = [schema.position(name, "X") for name in self.spec.names]
        return table_columns(self.data, indices, self.spec)


# What X can be


def _take(
    estimator: Any, X: Any, *, reset: bool, spec: InputSpec | None = None
) -> tuple[Origin, Any]:
    """Return X as a Polars frame or an array, after scikit-learn's checks of its columns.

    With `reset`, the estimator notes the columns, as in fit; else they must be those that it knows.
    """
    if _is_mapping(X) or is_frame(X):
        frame, _ = as_frame(X, "X")
        # Polars is a kind of frame that every version of scikit-learn knows; only names matter.
        validate_data(estimator, frame.clear(), reset=reset, skip_check_array=True)
        return "frame", frame
    if spec is not None and spec.origin == "table" and hasattr(estimator, "feature_names_in_"):
        # The arrays that a Table is made of have no names, and need none.
        names, estimator = estimator.feature_names_in_, _Nameless(estimator)
        estimator.n_features_in_ = len(names)
    array = validate_data(
        estimator, X, reset=reset, dtype=None, accept_sparse=True, ensure_all_finite=False
    )
    return "array", array


def _is_mapping(X: Any) -> bool:
    return isinstance(X, Mapping) and not is_sparse(X)  # SciPy has a dict, too


def is_baskets(X: Any, *, known: bool = False) -> bool:
    """Return whether X is a list of collections of items.

    Sets are, and lists of text that are not equally long: equally long ones are rows of an array,
    unless it is `known` that the model was fitted on baskets.
    """
    if not isinstance(X, list | tuple) or not len(X):
        return False
    if all(isinstance(basket, set | frozenset) for basket in X):
        return True
    differ = _core.only_text(list(X))
    return differ is not None and (known or differ)


class _Nameless:
    """An estimator for scikit-learn's checks, without the names of its columns."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self.n_features_in_ = 0
        self.__class__ = type(type(estimator).__name__, (_Nameless,), {})

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()


def split_target(X: Any, name: str) -> tuple[Any, Any]:
    """Return a frame, or a mapping of columns, without its target, and the target."""
    if _is_mapping(X):
        columns = dict(X)
        if name not in columns:
            raise no_column("y", name, columns)
        return columns, columns.pop(name)
    if not is_frame(X):
        raise InputError(f"y: an array has no column {name!r}; give a frame, or y as an array")
    frame, _ = as_frame(X, "X")
    if name not in frame.columns:
        raise no_column("y", name, frame.columns)
    return frame.drop(name), frame.get_column(name)


def _without(X: Any, name: str | None) -> Any:
    """Return X without a column that was the target in fit, if it is there."""
    if name is None or isinstance(X, Table):
        return X
    if _is_mapping(X):
        return {key: column for key, column in X.items() if key != name}
    if is_frame(X):
        frame, _ = as_frame(X, "X")
        return frame.drop(name) if name in frame.columns else X
    return X


def one_record(X: Any, *, presence: bool = False) -> Any:
    """Return one record as something with one row: a row of an array, or names with values.

    With `presence` it may be a basket, or a list of one.
    """
    if presence and isinstance(X, list | tuple | set | frozenset) and X:
        X = [X] if all(isinstance(item, str) for item in X) else X
    if nw.dependencies.is_pandas_series(X) and all(isinstance(key, str) for key in X.index):
        X = X.to_dict()
    if _is_mapping(X):
        X = {name: _column(value) for name, value in X.items()}
        n_records = len(next(iter(X.values()), ()))
    elif isinstance(X, Table):
        n_records = X.n_records
    elif presence and is_baskets(X, known=True):
        n_records = len(X)
    elif is_frame(X):
        n_records = as_frame(X, "X")[0].height
    else:
        X = X if is_sparse(X) else np.asarray(X)
        X = X.reshape(1, -1) if X.ndim == 1 else X
        n_records = X.shape[0]
    if n_records != 1:
        raise InputError(f"X must be one record, got {n_records:,}; explain them one by one")
    return X


def _column(value: Any) -> Any:
    """Return one value as a column; what is one already stays as it is."""
    if isinstance(value, np.generic):
        return np.asarray([value])  # which Polars knows the type of
    return [value] if isinstance(value, str) or not hasattr(value, "__len__") else value


def _array_domains(names: Sequence[str], kinds: Any) -> list[Numbers]:
    plain = Numbers()
    return [Numbers("Float64", kinds[name]) if name in kinds else plain for name in names]


def _refuse_labels(spec: InputSpec) -> None:
    if not spec.numeric.all():
        for name, domain in zip(spec.names, spec.domains, strict=True):
            if isinstance(domain, Labels) and domain.dtype != "Boolean":
                raise InputError(f"X holds numbers, but in fit column {name!r} held labels")


# Weights, kinds


def read_sample_weight(sample_weight: Any, n_records: int) -> NDArray[np.float64] | None:
    """Return weights that were given beside X."""
    try:
        return check_weights(sample_weight, n_records)
    except InputError as error:
        raise InputError(f"sample_weight: {error}") from None


def weigh(table: Table, sample_weight: Any) -> Table:
    """Return the table with the weights that scikit-learn hands over apart from X."""
    if sample_weight is None:
        return table
    if table.weights is not None:
        raise InputError("sample_weight: the Table has weights already")
    return table.with_weights(read_sample_weight(sample_weight, table.n_records))


def _of_kinds(table: Table, kinds: Any) -> Table:
    from tacit.table.build import Parts
    from tacit.table.kinds import schema_of_kinds

    if not kinds:
        return table
    schema = schema_of_kinds(table.schema, kinds)
    return Table._of(Parts(schema, table.indptr, table.values, table.weights, table._native))


def _warn_identifiers(schema: Schema, kinds: Any) -> None:
    """Warn of columns that say something else of nearly every record."""
    shared = {id(labels) for labels in schema.labels if labels.kind == "identifier"}
    if not shared:
        return
    named = [
        name
        for name, labels in zip(schema.names, schema.labels, strict=True)
        if id(labels) in shared and name not in (kinds or {})
    ]
    if named:
        shown = ", ".join(map(repr, named[:_NAMED])) + (", …" if len(named) > _NAMED else "")
        warnings.warn(
            f"X: nearly every record has a label of its own in {shown}, which says nothing about "
            "other records; leave it out, or name its kind",
            InputWarning,
            stacklevel=5,
        )
