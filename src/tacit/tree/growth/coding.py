"""From X to what the growth kernel takes, and from its tree to a model's columns.

A Table is taken as it is. Numbers of frames and arrays are coded by their ranks: a code for each
distinct number of a column, ascending. Once the tree is grown, the thresholds that it uses become
the model's bins, and its splits are rewritten as ranges of the ids of bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.schema.types import parse_type
from tacit.table.build import Coded, store_ids, value_type
from tacit.table.discretise import MDL, Edges, bin_edges, cut_points
from tacit.table.features import array_frame, array_names, is_sparse, number_array
from tacit.table.frames import encode_columns, specs_of
from tacit.table.matrices import sparse_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.table import Table
    from tacit.table.features import Kind

__all__ = ["Coding", "array_coding", "is_ordered", "ordered_columns", "table_coding"]


NUMBERS = 2  # what `ordered` holds for columns of numbers


class Coding(NamedTuple):
    """What the growth kernel takes of X (see :class:`tacit.schema.Schema` for value ids)."""

    # The stored values, by record and by value.
    indptr: NDArray[np.int64]
    values: NDArray[Any]
    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    # The first value id and the default's code of each column.
    offsets: NDArray[np.int64]
    defaults: NDArray[np.int64]
    # Which columns are split at thresholds: 1 for labels, 2 for numbers, which never have a child
    # for each.
    ordered: NDArray[np.uint8]


def is_ordered(labels: Labels) -> bool:
    """Return whether labels have an order that means something: numbers, dates and bins do.

    >>> is_ordered(Labels([1, 2, 5, None], "Int64")), is_ordered(Labels(["a", "b"], "String"))
    (True, False)
    """
    if labels.dtype in ("String", "Enum") and isinstance(labels[0], str):
        return bin_edges(labels) is not None
    kind = parse_type(labels.dtype)
    if not (kind.is_numeric() or kind.is_temporal()):
        return False
    items: Any = labels.items[: labels.missing]
    try:
        return all(a < b for a, b in pairwise(items))
    except TypeError:  # timestamps of which some are numbers
        return False


def ordered_columns(schema: Schema, ordered: Any) -> NDArray[np.uint8]:
    """Return which columns of a schema are ordered.

    "auto" are those of numbers, dates or bins that have three labels or more.
    """
    flags = np.zeros(len(schema), np.uint8)
    if not isinstance(ordered, str):
        try:
            positions = [schema.position(column, "ordered") for column in ordered]
        except TypeError:
            raise InputError(f"ordered must be 'auto' or columns, got {ordered!r}") from None
        flags[positions] = 1
        return flags
    if ordered != "auto":
        raise InputError(f"ordered must be 'auto' or a list of columns, got {ordered!r}")
    if schema.two_valued:
        return flags
    known: dict[int, bool] = {}  # most columns have labels in common
    for column in np.flatnonzero(schema.arities > 2).tolist():
        labels = schema.labels[column]
        if id(labels) not in known:
            known[id(labels)] = is_ordered(labels)
        flags[column] = known[id(labels)]
    return flags


def table_coding(table: Table, ordered: Any) -> Coding:
    """Take a Table as it is."""
    schema, (start, rows) = table.schema, table.postings
    flags = ordered_columns(schema, ordered)
    return Coding(table.indptr, table.values, start, rows, schema.offsets, schema.defaults, flags)


@dataclass(frozen=True)
class _Ranked:
    """A column of numbers: its records' raw codes, and the rank of each among its numbers."""

    codes: NDArray[np.uint32]
    ranks: NDArray[np.int64]
    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]  # ascending; NaN, for what is missing, last


@dataclass(frozen=True)
class Columns:
    """What is behind the codes of frames and arrays: labels, or the numbers of a column."""

    names: Sequence[str]
    kind: Kind
    labels: Sequence[Labels | None]  # ``None`` for a column of numbers
    numbers: Any  # the distinct numbers of each column that has no labels, NaN for what is missing
    missing: Sequence[bool]  # whether some are missing
    cuts: dict[str, Edges]  # where columns were cut before growth


@dataclass(frozen=True)
class _SparseNumbers:
    """The distinct numbers of each column of a sparse array, zero among them."""

    offsets: NDArray[np.int64]
    zeros: NDArray[np.int64]
    stored: NDArray[np.float64]

    def __getitem__(self, column: int) -> NDArray[np.float64]:
        stored = self.stored[self.offsets[column] : self.offsets[column + 1]]
        return np.insert(stored, self.zeros[column], 0.0)


def array_coding(
    given: Any,
    kind: Kind,
    *,
    ordered: Any,  # columns of labels that are ordered; those of numbers always are
    discretise: Any,
    classes: NDArray[Any] | None,  # the target's classes, for cuts that tell them apart
    n_jobs: int,
) -> tuple[Coding, Columns]:
    """Code a frame, an array or a sparse array."""
    names = given.columns if kind == "frame" else array_names(given.shape[1])
    if is_sparse(given) and discretise is None:
        return _sparse_coding(given, names, ordered, n_jobs)
    if kind == "array" and discretise is None and given.dtype.kind in "iuf":
        return _number_coding(given, names, ordered, n_jobs)
    frame = given if kind == "frame" else array_frame(given, names)
    cuts = _find_cuts(frame, discretise, classes)
    coded = _code_columns(frame, cuts, n_jobs)
    labels = [column.labels if isinstance(column, Coded) else None for column in coded]
    flags = _flags(names, labels, ordered)
    numbers = [column.numbers if isinstance(column, _Ranked) else None for column in coded]
    missing = [known is not None and bool(np.isnan(known[-1])) for known in numbers]
    return _store(coded, flags, n_jobs), Columns(names, kind, labels, numbers, missing, cuts)


def _flags(names: Sequence[str], labels: Sequence[Labels | None], ordered: Any) -> Any:
    """Return how columns are ordered; those of numbers, which have no labels, always are."""
    one = Labels([0], "Int64")
    flags = np.zeros(len(names), np.uint8)
    if any(labels) or not (isinstance(ordered, str) and ordered == "auto"):
        schema = Schema(names, [known or one for known in labels], [0] * len(names))
        flags = ordered_columns(schema, ordered)
    flags[[known is None for known in labels]] = NUMBERS
    return flags


def _find_cuts(frame: pl.DataFrame, discretise: Any, classes: Any) -> dict[str, Edges]:
    """Find where columns are to be cut before growth, maybe to tell classes apart."""
    cuts = {}
    # The name of a target only says that there is one; no column can have this name.
    target = None if classes is None else "\0"
    for name, spec in specs_of(frame, discretise, target).items():
        series = frame.get_column(name)
        if not series.dtype.is_numeric():
            raise InputError(f"discretise: column {name!r} holds {series.dtype}, not numbers")
        codes = classes if isinstance(spec, MDL) else None
        points = cut_points(_floats(series), spec, target=codes, column=name)
        cuts[name] = Edges(tuple(points.tolist()))
    return cuts


def _code_columns(
    frame: pl.DataFrame, cuts: dict[str, Edges], n_jobs: int
) -> list[Coded | _Ranked]:
    ranked = [s for s in frame.iter_columns() if s.name not in cuts and s.dtype.is_numeric()]
    ready: dict[str, Coded | _Ranked] = dict(
        zip((s.name for s in ranked), _rank([_floats(s) for s in ranked], n_jobs), strict=True)
    )
    rest = frame.select([name for name in frame.columns if name not in ready])
    if rest.width:
        ready |= {c.name: c for c in encode_columns(rest, "state", dict(cuts), None, n_jobs)}
    return [ready[name] for name in frame.columns]


def _floats(series: pl.Series) -> NDArray[np.float64]:
    """Return a column of numbers; NaN where one is missing, and infinity refused."""
    numbers = series.cast(pl.Float64).to_numpy()
    if np.isinf(numbers).any():
        record = int(np.isinf(numbers).argmax())
        raise InputError(f"X: column {series.name!r} holds {numbers[record]} at record {record}")
    return numbers


def _rank(columns: list[NDArray[np.float64]], n_jobs: int) -> list[_Ranked]:
    """Number the distinct numbers of each column in ascending order."""
    keys: list[object] = []
    for numbers in columns:
        known = ~np.isnan(numbers)
        filled = numbers + 0.0 if known.all() else np.where(known, numbers + 0.0, 0.0)
        valid = None if known.all() else known.astype(np.uint8)
        keys.append((filled.view(np.int64), valid))  # the sum turned -0.0 into 0.0
    ranked = []
    for numbers, encoded in zip(columns, _core.encode_columns(keys, n_jobs), strict=True):
        codes, first, counts, _ = encoded
        order = np.argsort(numbers[first])  # NaN comes last
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        ranked.append(_Ranked(codes, ranks, counts[order], numbers[first][order] + 0.0))
    return ranked


def _store(columns: Sequence[Coded | _Ranked], flags: Any, n_jobs: int) -> Coding:
    """Return codes as stored values; each column's default is its most common one."""
    arities = np.array([len(column.counts) for column in columns], np.int64)
    defaults = np.array([int(np.argmax(column.counts)) for column in columns], np.int64)
    offsets = np.concatenate(([0], np.cumsum(arities - 1)))
    ids = []
    for c, column in enumerate(columns):
        value_ids = offsets[c] + column.ranks - (column.ranks > defaults[c])
        value_ids[column.ranks == defaults[c]] = -1
        ids.append(value_ids.astype(np.int32))
    codes = [column.codes for column in columns]
    indptr, values = store_ids(codes, ids, int(offsets[-1]), n_jobs)
    return Coding(indptr, values, *_by_value(indptr, values, offsets), offsets, defaults, flags)


def _by_value(indptr: Any, values: Any, offsets: Any) -> tuple[Any, Any]:
    records = _core.Records(indptr, values, int(offsets[-1]))
    counts = _core.one_way(records, 1)
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return start, _core.postings(records, start)


def _number_coding(
    given: NDArray[Any], names: Sequence[str], ordered: Any, n_jobs: int
) -> tuple[Coding, Columns]:
    """Code a dense array of numbers, without a frame in between."""
    n = len(names)
    flags = _flags(names, [None] * n, ordered)
    ranked = _rank(list(number_array(given).T), n_jobs)
    numbers = [column.numbers for column in ranked]
    columns = Columns(names, "array", [None] * n, numbers, [False] * n, {})
    return _store(ranked, flags, n_jobs), columns


def _sparse_coding(
    given: Any, names: Sequence[str], ordered: Any, n_jobs: int
) -> tuple[Coding, Columns]:
    """Code the stored numbers of a sparse array; zero, which is not stored, is the default."""
    n = len(names)
    flags = _flags(names, [None] * n, ordered)
    try:
        indptr, indices, numbers = sparse_numbers(given)
    except InputError as error:
        raise InputError(f"X{str(error).removeprefix('data')}") from None
    distinct, ranks = _distinct(numbers, n_jobs)
    pairs, ids = _distinct_pairs(indices, ranks, n, max(len(distinct), 1))
    columns, stored = pairs // max(len(distinct), 1), distinct[pairs % max(len(distinct), 1)]
    offsets = np.searchsorted(columns, np.arange(n + 1)).astype(np.int64)
    zeros = np.bincount(columns[stored < 0], minlength=n).astype(np.int64)
    values = ids.astype(value_type(len(pairs)))
    start, rows = _by_value(indptr, values, offsets)
    coding = Coding(indptr, values, start, rows, offsets, zeros, flags)
    by_column = _SparseNumbers(offsets, zeros, stored)
    return coding, Columns(names, "array", [None] * n, by_column, [False] * n, {})


def _distinct(numbers: NDArray[np.float64], n_jobs: int) -> tuple[Any, Any]:
    """Return the distinct numbers, ascending, and the rank of each number."""
    if len(numbers) == 0 or (numbers == numbers[0]).all():  # such as the ones of items in baskets
        return numbers[:1], np.zeros(len(numbers), np.int64)
    [column] = _rank([numbers], n_jobs)
    return column.numbers, column.ranks[column.codes]


def _distinct_pairs(indices: Any, ranks: Any, n: int, n_ranks: int) -> tuple[Any, Any]:
    """Return the distinct pairs of a column and a rank as numbers, and the index of each."""
    keys = indices.astype(np.int64) * n_ranks + ranks
    if n * n_ranks <= 4 * len(keys) + 1_000_000:
        occurs = np.zeros(n * n_ranks, np.bool_)
        occurs[keys] = True
        return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]
    return np.unique(keys, return_inverse=True)
