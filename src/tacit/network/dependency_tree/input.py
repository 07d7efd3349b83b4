"""How a dependency tree takes its X: numbers, labels or both, and the same columns ever after."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from tacit import io
from tacit.errors import FileError, InputError
from tacit.network.dependency_tree.layout import Layout
from tacit.network.inference.records import without_missing
from tacit.network.structure.columns import Columns
from tacit.table.input_spec import InputSpec, Numbers
from tacit.table.inputs import Inputs, is_baskets
from tacit.table.new_data import baskets_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.schema import Labels, Schema
    from tacit.table import Table

__all__ = ["Records", "fit_columns", "label_layout", "partition_columns", "read_records"]

_ON_DISK = (".parquet", ".pq", ".arrow", ".ipc", ".feather")


@dataclass(frozen=True)
class Records:
    """Records as a fitted tree reads them."""

    n_records: int
    numbers: NDArray[Any] | None  # (n_records, n_numeric), NaN where one is missing
    table: Table | None  # the discrete columns, under the schema of the layout's spec
    weights: NDArray[np.float64] | None


def fit_columns(
    estimator: Any,
    X: Any,
    *,
    kinds: Any,
    discretise: Any,
    missing: str,
    sample_weight: Any,
    n_jobs: int | None,
) -> tuple[Columns, Layout]:
    """Take the X that a tree is fitted on, and say what to remember of it.

    The estimator gets `n_features_in_` and, where columns have names, `feature_names_in_`.
    """
    if isinstance(X, (str, os.PathLike)):
        X = _open(X, kinds, discretise)
        if isinstance(X, Columns):
            if sample_weight is not None:
                raise InputError("sample_weight: records of a file have none")
            domains = [Numbers()] * len(X.names)
            layout = Layout(InputSpec.of_domains("frame", X.names, domains), None)
            layout.note(estimator)
            return X, layout
    inputs = Inputs.fit(estimator, X, None, sample_weight, kinds=kinds)
    if inputs.weights is not None and not inputs.weights.any():
        raise InputError("sample_weight: all weights are zero")
    numbers, table = inputs.mixed(discretise, missing=missing != "state", n_jobs=n_jobs)
    layout = _layout(inputs.remembered, table, missing)
    if table is None:
        assert numbers is not None
        return Columns.from_array(numbers, inputs.remembered.names, inputs.weights), layout
    if numbers is None:
        return Columns.from_table(table), layout
    names = [name for name, flag in zip(layout.names, layout.numeric, strict=True) if flag]
    return Columns.mixed(numbers, names, table, layout.names), layout


def partition_columns(table: PartitionedTable, missing: str) -> tuple[Columns, Layout]:
    """Take a partitioned table: only its schema is read here."""
    return Columns.from_table(table), _layout(InputSpec.of_schema(table.schema), table, missing)


def _open(path: Any, kinds: Any, discretise: Any) -> Any:
    """Return a file's numbers, to be read in parts, or all of it as a frame or a Table."""
    if PurePath(path).suffix.lower() in _ON_DISK and discretise is None and not kinds:
        if not os.path.isfile(path):  # noqa: PTH113 - whatever has a path
            raise FileError(path, "no such file")
        try:
            parquet = PurePath(path).suffix.lower() in (".parquet", ".pq")
            types = (pl.scan_parquet if parquet else pl.scan_ipc)(path).collect_schema()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise FileError(path, f"cannot be read: {error}") from None
        if len(types) and all(dtype.is_float() for dtype in types.dtypes()):
            return Columns.from_file(path)
    frame = io.read_frame(path)
    return io.read(path) if frame is None else frame


def _layout(spec: InputSpec, table: Table | PartitionedTable | None, missing: str) -> Layout:
    """Say which labels have probabilities, and which mean that a value is missing."""
    if table is None:
        return Layout(spec, None)
    kept = spec.schema if missing == "state" else without_missing(spec.schema, table)
    return Layout(_with_missing(spec, kept), kept)


def label_layout(schema: Schema) -> Layout:
    """Return the layout of an array's discrete columns that lack no value and are not cut."""
    return Layout(_with_missing(InputSpec.of_schema(schema, "array"), schema), schema)


def _with_missing(spec: InputSpec, kept: Schema) -> InputSpec:
    """Return a spec with the labels of a schema and one for missing values behind them."""
    shared: dict[int, Labels] = {}
    for labels in kept.labels:
        if id(labels) not in shared:
            shared[id(labels)] = labels.with_missing()
    found = iter(zip(kept.labels, kept.defaults.tolist(), strict=True))
    domains: list[Any] = []
    defaults: list[int] = []
    for domain in spec.domains:
        if isinstance(domain, Numbers):
            domains.append(domain)
            defaults.append(0)
        else:
            labels, default = next(found)
            domains.append(shared[id(labels)])
            defaults.append(default)
    return InputSpec(spec.origin, spec.names, tuple(domains), tuple(defaults))


def read_records(
    estimator: Any,
    X: Any,
    layout: Layout,
    *,
    unseen: Literal["error", "default"] = "error",
    absent: Literal["error", "default"] | None = None,
    n_jobs: int | None = None,
) -> Records:
    """Read other records as those of fit were read; what is missing stays missing.

    `unseen` says what to do with labels that were not there in fit.
    """
    if layout.presence is not None:
        X = baskets_table(X, layout.presence) if is_baskets(X, known=True) else X
        absent = absent or "default"
    inputs = Inputs.read(estimator, X, layout.spec, absent=absent)
    numbers, table = inputs.mixed(unseen=unseen, missing=True, n_jobs=n_jobs)
    weights = None if table is None else table.weights
    return Records(inputs.n_records, numbers, table, weights)
