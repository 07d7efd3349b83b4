"""Where numbers are cut: which columns, by what spec, and at what edges."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from tacit.errors import InputError, no_column
from tacit.schema import Schema
from tacit.statistic import Statistic
from tacit.table.discretise import FEW, MDL, Auto, Edges, as_spec, bins_of, count_points, cut_points
from tacit.table.gateway import check_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Kind
    from tacit.statistic import Partition
    from tacit.table.records import Records

__all__ = [
    "class_codes",
    "column_cuts",
    "find_cuts",
    "numbers_to_cut",
    "refuse_infinite",
    "say_cuts",
    "specs_of",
]


_logger = logging.getLogger("tacit.table.cuts")
_NAMED = 5  # columns that a note lists

R = TypeVar("R", bound="Records")


def specs_of(
    columns: Mapping[str, Any], discretise: Any, target: str | None, kinds: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Return the discretisation spec of each column that gets one, by the columns' types.

    One spec is for all columns of numbers that no `kinds` say otherwise of, a mapping for those
    that it names.
    """
    if discretise is None:
        return {}
    if isinstance(discretise, Mapping):
        for name in discretise:
            if name not in columns:
                raise no_column("discretise", name, columns)
        specs = {name: _column_spec(name, spec) for name, spec in discretise.items()}
    else:
        spec = as_spec(discretise)
        specs = {
            name: spec
            for name, dtype in columns.items()
            if dtype.is_numeric() and name != target and kinds.get(name, "numeric") == "numeric"
        }
    if any(isinstance(spec, MDL) for spec in specs.values()) and target is None:
        raise InputError("discretise='mdl' needs target, the column to tell apart")
    for name in specs:
        if not columns[name].is_numeric():
            raise InputError(f"discretise: column {name!r} holds {columns[name]}, not numbers")
    return specs


def _column_spec(name: str, given: Any) -> Any:
    """Read the spec of a column; what is wrong with it is said of the column."""
    try:
        return as_spec(given)
    except InputError as error:
        raise InputError(f"discretise: column {name!r}: {error}") from None


def say_cuts(bins: Mapping[str, int]) -> None:
    """Say in the log which columns were cut into how many bins."""
    if bins and _logger.isEnabledFor(logging.INFO):
        listed = ", ".join(f"{name} ({n})" for name, n in list(bins.items())[:_NAMED])
        more = f", … ({len(bins)} columns)" if len(bins) > _NAMED else ""
        _logger.info("numbers cut into bins: %s%s; set discretise= or kinds=", listed, more)


def find_cuts(
    frame: pl.DataFrame,
    discretise: Any,
    target: str | None = None,
    kinds: Mapping[str, Kind] = {},
    classes: Any = None,
) -> dict[str, Edges]:
    """Find where each column that is to be cut is cut, so that other data can be cut there, too.

    Cuts that tell a target apart take its column's name, or codes of its `classes`.
    """
    if target is not None and target not in frame.columns:
        raise no_column("target", target, frame.columns)
    specs = specs_of(frame.schema, discretise, target or (None if classes is None else "\0"), kinds)
    if target is not None and any(isinstance(spec, MDL) for spec in specs.values()):
        classes = class_codes(frame.get_column(target))
    cuts = {}
    for name, spec in specs.items():
        edges = column_cuts(
            numbers_to_cut(frame.get_column(name)), spec, name, classes,
            named=isinstance(discretise, Mapping),
        )  # fmt: skip
        if edges is not None:
            cuts[name] = edges
    found = [name for name in cuts if not isinstance(specs[name], Edges)]
    say_cuts({name: len(cuts[name].edges) + 1 for name in found})
    return cuts


def column_cuts(
    numbers: NDArray[np.float64], spec: Any, name: str, classes: Any, *, named: bool
) -> Edges | None:
    """Return where a column is cut; ``None`` where it is left as it is.

    That is where "auto" says so, and where a column that nobody named has two numbers at most.
    """
    if isinstance(spec, Edges):
        return spec
    known = numbers[~np.isnan(numbers)]
    if not named and not isinstance(spec, Auto) and len(known) and _few(known):
        return None
    if isinstance(spec, Auto) and not spec.cuts(np.unique(known), len(known)):
        return None
    codes = classes if isinstance(spec, MDL) else None
    return Edges(tuple(cut_points(numbers, spec, target=codes, column=name).tolist()))


def _few(numbers: NDArray[np.float64]) -> bool:
    """Return whether there are two distinct numbers at most."""
    return bool(np.isin(numbers, (numbers.min(), numbers.max())).all())


def numbers_to_cut(series: pl.Series, start: int = 0) -> NDArray[np.float64]:
    """Return a column of numbers that are finite or, where they are missing, NaN."""
    if not series.dtype.is_numeric():
        raise InputError(f"discretise: column {series.name!r} holds {series.dtype}, not numbers")
    numbers = series.cast(pl.Float64).to_numpy()  # what is missing is NaN in arrays
    refuse_infinite(series.name, numbers, start)
    return numbers


def refuse_infinite(name: str, numbers: NDArray[np.float64], start: int) -> None:
    """Refuse numbers that are infinite; `start` is the number of the first record."""
    infinite = np.isinf(numbers)
    if infinite.any():
        k = int(np.argmax(infinite))
        raise InputError(f"column {name!r} holds {numbers[k]} at record {start + k}")


def class_codes(series: pl.Series) -> NDArray[np.int64]:
    """Number the classes of a target, for cuts that are to tell them apart."""
    plain = series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.String)
    ranked = (series if plain else series.cast(pl.String)).rank("dense")
    return ranked.fill_null(0).cast(pl.Int64).to_numpy()


# Of tables, by their counts


def cut_table(table: R, discretise: Any, target: str | int | None = None, classes: Any = None) -> R:
    """Return a table whose columns of numbers are cut into bins; the same if there are none."""
    schema = cut_schema(table, discretise, target, classes)
    return table if schema is table.schema else table.conform(schema)  # type: ignore[attr-defined]


def cut_schema(
    table: Any, discretise: Any, target: str | int | None = None, classes: Any = None
) -> Schema:
    """Return the schema of a table with its columns of numbers in bins: a pass over the counts.

    One spec is for all columns whose labels are numbers and whose kind is numeric; a mapping, for
    those that it names. Cuts that tell a target apart take its column, or codes of its `classes`.
    """
    schema: Schema = table.schema
    position = None if target is None else schema.position(target, "target")
    specs = _specs(schema, discretise, position)
    if not specs:
        return schema
    all_counts = table.reduce(_LabelCounts())
    by_class: Any = None
    if any(isinstance(spec, MDL) for spec in specs.values()):
        if position is None and classes is None:
            raise InputError("discretise='mdl' needs target, the column to tell apart")
        if classes is None:
            check_target(schema, position)
        counted = classes is None
        by_class = table.reduce(_LabelCounts(position)) if counted else _counts(table, classes)
    labels, defaults = list(schema.labels), schema.defaults.copy()
    bins = {}
    for column, spec in specs.items():
        old = schema.labels[column]
        cells = slice(schema.cells[column], schema.cells[column + 1])
        counts = all_counts[cells]
        known: Any = counts[: old.missing]
        few = 0 < np.count_nonzero(known) < 3
        if few and not isinstance(discretise, Mapping) and not isinstance(spec, Auto | Edges):
            continue
        if isinstance(spec, MDL):
            known = by_class[cells][: old.missing]
        points = count_points(old.numbers[: old.missing], known, spec)
        if points is None:
            continue
        labels[column] = bins_of(points, missing=old.missing is not None)
        if not isinstance(spec, Edges):
            bins[schema.names[column]] = len(points) + 1
        merged = np.bincount(labels[column].find_all(old), counts, len(labels[column]))
        defaults[column] = int(np.argmax(merged))
    say_cuts(bins)
    if all(new is old for new, old in zip(labels, schema.labels, strict=True)):
        return schema
    return Schema(schema.names, labels, defaults)


@dataclass(frozen=True)
class _LabelCounts(Statistic["NDArray[Any]"]):
    """How many records have each label, or each label with each of a target.

    Weights do not matter to them, as they do not to cuts of frames.
    """

    target: int | None = None

    def partial(self, partition: Partition) -> NDArray[Any]:
        """Count those of a partition."""
        records = partition.records.with_weights(None)
        if self.target is not None:
            pairs = records.two_way(self.target, n_jobs=partition.n_jobs)
            return np.ascontiguousarray(pairs.counts.T)
        return np.array(records.one_way(n_jobs=partition.n_jobs).counts)

    def merge(self, one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
        """Add up."""
        total: NDArray[Any] = one + other
        return total


def _counts(table: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Count the classes of a target that is no column, with each label of each column."""
    schema, n = table.schema, int(classes.max()) + 1
    stored = np.repeat(classes, np.diff(table.indptr)) + table.values.astype(np.int64) * n
    counts = np.empty((int(schema.cells[-1]), n), np.int64)
    by_value = np.bincount(stored, minlength=schema.n_values * n).reshape(-1, n)
    counts[schema.value_cells] = by_value
    held = np.concatenate((np.zeros((1, n), np.int64), by_value.cumsum(axis=0)))[schema.offsets]
    counts[schema.default_cells] = np.bincount(classes, minlength=n) - np.diff(held, axis=0)
    return counts


def _specs(schema: Schema, discretise: Any, target: int | None) -> dict[int, Any]:
    if discretise is None:
        return {}
    if not isinstance(discretise, Mapping):
        spec = as_spec(discretise)
        columns = _numeric(schema, auto=isinstance(spec, Auto)).tolist()
        return {c: spec for c in columns if c != target}
    specs = {}
    for name, spec in discretise.items():
        column = schema.position(name, "discretise")
        labels = schema.labels[column]
        if column == target:
            raise InputError(f"discretise: column {schema.names[column]!r} is the target")
        if not labels.is_numeric:
            what = "bins already" if labels.edges is not None else f"{labels.dtype}, not numbers"
            raise InputError(f"discretise: column {schema.names[column]!r} holds {what}")
        specs[column] = _column_spec(schema.names[column], spec)
    return specs


def _numeric(schema: Schema, *, auto: bool) -> NDArray[np.int64]:
    """Return the columns whose labels are numbers and mean numbers; most share their labels.

    With `auto`, those only that may have to be cut.
    """
    known: dict[int, bool] = {}
    for labels in schema.labels:
        if id(labels) not in known:
            fine = labels.is_numeric and labels.kind == "numeric"
            known[id(labels)] = fine and not (
                auto
                and not Auto().cuts(labels.numbers[: labels.missing], np.inf)
                and len(labels) <= FEW
            )
    flags = np.fromiter((known[id(labels)] for labels in schema.labels), np.bool_, len(schema))
    return np.flatnonzero(flags)


def with_edges(schema: Schema, edges: Mapping[str, Any]) -> Schema:
    """Return a schema with some of its columns cut at other edges.

    Parameters
    ----------
    schema : Schema
    edges : mapping
        ``{column: edges}``, for numeric columns. Their default is the first bin then.

    Returns
    -------
    Schema
        :meth:`tacit.Table.conform` brings raw numbers under it.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"age": [19, 44, 61]})
    >>> with_edges(table.schema, {"age": [30, 60]})["age"].edges
    (30.0, 60.0)
    """
    labels, defaults = list(schema.labels), schema.defaults.copy()
    for name, points in edges.items():
        column = schema.position(name, "edges")
        old = labels[column]
        if old.kind != "numeric":
            raise InputError(f"edges: column {schema.names[column]!r} is {old.kind}, not numeric")
        try:
            wanted = Edges(points).edges
        except InputError as error:
            raise InputError(f"edges: column {schema.names[column]!r}: {error}") from None
        labels[column] = bins_of(wanted, missing=old.missing is not None)
        defaults[column] = 0
    return Schema(schema.names, labels, defaults)
