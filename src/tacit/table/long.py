"""Logs in: rows of (record, item) become records with a column for each item.

A log is coded and sorted by record and item, in time proportional to its rows, and what it says
twice is put together. Partitions of a log that is too large for memory are gathered in
the same way; what all of them hold then says which columns and labels there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError, no_column, refuse_partitions
from tacit.schema import Labels, Schema
from tacit.schema.types import label_items
from tacit.table.build import Native, Parts, value_type
from tacit.table.containers import as_frame
from tacit.table.gateway import check_size
from tacit.table.long_pairs import SPREAD, LongOptions, Pairs, gather_pairs
from tacit.table.matrices import PRESENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "Columns",
    "ItemLabels",
    "LongOptions",
    "choose_items",
    "count_items",
    "encode_long",
    "gather_pairs",
    "store_pairs",
]


# No column has another default afterwards (see core/table/arrange.hpp).
_NO_FILLS = (np.empty(0, np.int64),) * 3


@dataclass
class ItemLabels:
    """Which items there are, and the values they have: additive, so that partitions can be merged.

    `seen` has a row for each item and value, with the columns item, value and n, the number of
    records; of a log without values, a row for each item.
    """

    seen: pl.DataFrame

    def merge(self, other: ItemLabels) -> ItemLabels:
        """Add up."""
        rows = pl.concat([self.seen, other.seen], how="vertical_relaxed")
        keys = [name for name in rows.columns if name != "n"]
        return ItemLabels(rows.group_by(keys).agg(pl.col("n").sum()))


def encode_long(data: Any, options: LongOptions, n_jobs: int) -> Parts:
    """Turn a log into the parts of a Table; see :meth:`tacit.Table.from_long`."""
    frame, native = take_columns(data, options)
    pairs = gather_pairs(frame, options, n_jobs)
    columns = choose_items(count_items(pairs, n_jobs), options)
    parts = store_pairs(pairs, columns, options, n_jobs)
    if len(parts.indptr) == 1:
        raise InputError(f"min_items: no record has {options.min_items:,} items")
    check_size(len(parts.indptr) - 1, len(parts.schema))
    parts.native = native
    return parts


def take_columns(data: Any, options: LongOptions) -> tuple[pl.DataFrame, Native | None]:
    """Return the columns of a log as a frame, and what kind of frame it was."""
    refuse_partitions(data, "from_long", "frame")
    if isinstance(data, pl.LazyFrame):
        _check_columns(data.collect_schema().names(), options)
        return data.select(options.columns).collect(engine="streaming"), None
    if isinstance(data, Mapping):
        _check_columns(list(data), options)
        return as_frame({name: data[name] for name in options.columns})
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise InputError(
            "frame must be a frame (pandas, Polars, Arrow) or a mapping of columns, got "
            f"{type(data).__name__}"
        ) from None
    _check_columns(frame.columns, options)
    taken, native = as_frame(frame.select(options.columns).to_native())
    return taken, None if native is None else (native[0], {})


def _check_columns(known: Sequence[Any], options: LongOptions) -> None:
    for field in fields(options)[:4]:
        name = getattr(options, field.name)
        if name is not None and name not in known:
            raise no_column(field.name, name, known)


def count_items(pairs: Pairs, n_jobs: int) -> ItemLabels:
    """Count in how many records each item is, and with which values."""
    counts = _core.one_way(pairs.kernel_records(), n_jobs)
    seen = np.flatnonzero(counts)
    columns = [pairs.items.gather(pairs.entry_items[seen]).alias("item")]
    if pairs.labels is not None and pairs.entry_labels is not None:
        columns.append(pairs.labels.gather(pairs.entry_labels[seen]).alias("value"))
    return ItemLabels(pl.DataFrame([*columns, pl.Series("n", counts[seen])]))


@dataclass
class Columns:
    """The columns of a table that is made of a log: which item each is, and what it stores."""

    items: pl.Series
    schema: Schema
    values: ValueIds | None  # of a log with values


@dataclass
class ValueIds:
    """The value id of each item and value, or -1 for the default."""

    values: pl.Series  # of all items, ascending; the default is among them if it is a number
    keys: NDArray[np.int64]  # column * width + code, ascending
    ids: NDArray[np.int64]
    width: int

    def find(self, cols: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids of values of items; -1 also where an item has no such value."""
        asked = cols * self.width + codes
        found = np.searchsorted(self.keys, asked)
        found[found == len(self.keys)] = 0
        return np.where(self.keys[found] == asked, self.ids[found], -1)


def choose_items(counted: ItemLabels, options: LongOptions) -> Columns:
    """Choose the items that are in enough records, and say what their columns are."""
    seen = counted.seen
    totals = seen.group_by("item").agg(pl.col("n").sum())
    kept = totals.filter(pl.col("n") >= options.min_count).get_column("item").sort()
    if not len(kept):
        most = int(totals.get_column("n").to_numpy().max())
        raise InputError(
            f"min_count: no item is in {options.min_count:,} records; the most common one is in "
            f"{most:,}"
        )
    names = [str(item) for item in label_items(kept)]
    if options.names is not None:
        names = _known_names(names, options.names)
        order = sorted(range(len(names)), key=names.__getitem__)
        kept, names = kept.gather(order), [names[k] for k in order]
    if "value" in seen.columns:
        return _value_columns(kept, names, seen)
    schema = Schema(names, [PRESENCE] * len(names), np.zeros(len(names), np.int64))
    return Columns(kept, schema, None)


def _value_columns(items: pl.Series, names: list[str], seen: pl.DataFrame) -> Columns:
    """Return columns whose labels are the values that an item has, and the default."""
    values = seen.get_column("value").unique().sort()
    numeric = values.dtype.is_numeric()
    if numeric:
        values = pl.concat([values, pl.Series("value", [0], values.dtype)]).unique().sort()
        default = int(values.search_sorted(0))
    else:
        default = len(values)  # None, which comes last
    every = [*label_items(values), *([] if numeric else [None])]
    width, n_keys = len(every), len(names) * len(every)
    column = _positions(seen.get_column("item"), items)
    code = _positions(seen.get_column("value"), values)
    keys = (column * width + code)[(column >= 0) & (code != default)]
    keys = _union(keys, np.arange(len(names)) * width + default, n_keys)
    bounds = np.searchsorted(keys, np.arange(len(names) + 1) * width)
    of_key, codes = np.divmod(keys, width)
    schema = _value_schema(names, codes, bounds, every, default, str(values.dtype))
    rank = np.arange(len(keys)) - bounds[of_key]
    ids = schema.offsets[of_key] + rank - (rank > schema.defaults[of_key])
    ids[codes == default] = -1
    return Columns(items, schema, ValueIds(values, keys, ids, width))


def _known_names(items: list[str], known: pl.DataFrame) -> list[str]:
    """Return what items are called: a name that several have is told apart by what they are."""
    given = pl.DataFrame({"item": items}).join(known, on="item", how="left", maintain_order="left")
    if given.get_column("name").null_count() == len(items):
        told = f", while names are of items such as {known.item(0, 0)!r}" if known.height else ""
        raise InputError(f"names: no item has one; an item is {items[0]!r}{told}")
    names = given.get_column("name").fill_null(given.get_column("item"))
    both = names + pl.Series([f" [{item}]" for item in items])
    chosen: list[str] = (
        pl.DataFrame({"name": names, "both": both, "twice": names.is_duplicated()})
        .select(pl.when("twice").then("both").otherwise("name"))
        .to_series()
        .to_list()
    )
    return chosen


def store_pairs(pairs: Pairs, columns: Columns, options: LongOptions, n_jobs: int) -> Parts:
    """Lay pairs out as stored values under columns that may be more or fewer than they have."""
    ids = _positions(pairs.items, columns.items)[pairs.entry_items]
    dtype = value_type(columns.schema.n_values)
    records, weights, chosen = pairs.records, pairs.weights, None
    if options.min_items:
        given = pairs.kernel_records()
        enough = _core.recoded_lengths(given, ids, *_NO_FILLS, n_jobs) >= options.min_items
        if not enough.all():
            chosen, records = np.flatnonzero(enough), records.filter(enough)
            weights = None if weights is None else weights[enough]
    if columns.values is not None:
        assert pairs.labels is not None
        assert pairs.entry_labels is not None
        codes = _positions(pairs.labels, columns.values.values)[pairs.entry_labels]
        ids = np.where(ids >= 0, columns.values.find(ids, codes), -1)
    if chosen is None and dtype == pairs.entries.dtype and np.array_equal(ids, np.arange(len(ids))):
        return Parts(columns.schema, pairs.indptr, pairs.entries, weights, None, records)
    given = pairs.kernel_records(chosen)
    lengths = _core.recoded_lengths(given, ids, *_NO_FILLS, n_jobs)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    stored = np.empty(indptr[-1], dtype)
    _core.recoded_values(given, ids, *_NO_FILLS, indptr, stored, n_jobs)
    return Parts(columns.schema, indptr, stored, weights, None, records)


def _positions(items: pl.Series, wanted: pl.Series) -> NDArray[np.int64]:
    """Return where each item is among those that are wanted, or -1."""
    if items.equals(wanted):
        return np.arange(len(items))
    left = items.alias("item").to_frame()
    right = wanted.alias("item").to_frame().with_row_index("position")
    joined = left.join(right, on="item", how="left", maintain_order="left")
    return joined.get_column("position").cast(pl.Int64).fill_null(-1).to_numpy()


def _union(some: NDArray[np.int64], others: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the numbers below n that are among some or others, ascending."""
    if n > SPREAD * (len(some) + len(others)) + 1000:
        return np.union1d(some, others)
    present = np.zeros(n, np.bool_)
    present[some] = present[others] = True
    return np.flatnonzero(present)


def _value_schema(
    names: list[str],
    codes: NDArray[np.int64],
    bounds: NDArray[np.int64],
    every: list[Any],
    default: int,
    dtype: str,
) -> Schema:
    """Return the schema of columns that each have some of all labels; the same ones are shared."""
    shared: dict[tuple[int, ...], tuple[Labels, int]] = {}
    labels, defaults = [], []
    seen = codes.tolist()
    ends = bounds.tolist()
    for low, high in pairwise(ends):
        key = tuple(seen[low:high])
        if key not in shared:
            shared[key] = Labels([every[k] for k in key], dtype), key.index(default)
        labels.append(shared[key][0])
        defaults.append(shared[key][1])
    return Schema(names, labels, defaults)
