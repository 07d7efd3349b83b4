"""The same records under other value ids: new defaults, fewer columns, several tables as one.

So are the records that a model is asked about: they come under the schema it was fitted on.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core, counts
from tacit.errors import InputError, absent_column
from tacit.schema import Schema
from tacit.schema.types import is_temporal, merge_labels
from tacit.table.build import Native, Parts, choose_defaults, default_codes, value_type
from tacit.table.gateway import check_size
from tacit.table.index import join_indexes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.counts import Subset
    from tacit.schema import Labels
    from tacit.table.table import Table

__all__ = [
    "change_defaults",
    "concat_tables",
    "conform_table",
    "fill_absent",
    "join_parts",
    "merge_labels_of",
    "restore",
    "select_columns",
    "take_records",
]


@dataclass
class _Plan:
    """How the value ids of one schema become those of another (see core/arrange.hpp)."""

    ids: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    fill: NDArray[np.int64]

    @classmethod
    def unchanged(cls, schema: Schema) -> _Plan:
        """Return the plan under which all values stay what they are."""
        none = np.zeros(0, np.int64)
        return cls(np.arange(schema.n_values), none, none, none)

    @property
    def renames(self) -> bool:
        """Whether all that happens is that stored values get other ids."""
        return len(self.fill) == 0 and bool((self.ids >= 0).all())

    def lengths(self, part: Any, chosen: Subset, n_jobs: int = 1) -> NDArray[np.int64]:
        return _core.recoded_lengths(
            self._records(part, chosen), self.ids, self.first, self.last, self.fill, n_jobs
        )

    def write(
        self,
        part: Any,
        chosen: Subset,
        indptr: NDArray[np.int64],
        out: NDArray[Any],
        n_jobs: int = 1,
    ) -> None:
        _core.recoded_values(
            self._records(part, chosen), self.ids, self.first, self.last, self.fill, indptr, out,
            n_jobs,
        )  # fmt: skip

    def _records(self, part: Any, chosen: NDArray[np.int64] | None) -> _core.Records:
        return _core.Records(part.indptr, part.values, len(self.ids), chosen)


def _match(was: Labels, now: Labels) -> NDArray[np.int64]:
    """Return the code that each label of `was` has in `now`, or -1 where it has none."""
    codes = now.find_all(was)
    if was.dtype != now.dtype and (is_temporal(was.dtype) or is_temporal(now.dtype)):
        # A number may stand for a timestamp, and then only under the same type for the same one.
        codes[[isinstance(label, int | float) for label in was]] = -1
    return codes


def _matches(
    old: Schema, new: Schema, positions: Sequence[int] | NDArray[Any]
) -> list[NDArray[np.int64]]:
    """Match the labels of column positions[c] of `old` with those of column c of `new`."""
    known: dict[tuple[int, int], NDArray[np.int64]] = {}  # columns mostly share their labels
    for c, now in zip(positions, new.labels, strict=True):
        was = old.labels[c]
        if (id(was), id(now)) not in known:
            known[id(was), id(now)] = _match(was, now)
    return [known[id(old.labels[c]), id(now)] for c, now in zip(positions, new.labels, strict=True)]


def _plan(
    old: Schema,
    new: Schema,
    positions: Sequence[int] | NDArray[Any],
    matches: list[NDArray[np.int64]] | None = None,
) -> _Plan:
    """Plan how `old` becomes `new`, where column c of `new` is column positions[c] of `old`.

    What `new` has no label for becomes the default.
    """
    codes = np.concatenate(matches or _matches(old, new, positions))
    source = np.asarray(positions)
    column = np.repeat(np.arange(len(source)), old.arities[source])
    default = new.defaults[column]
    codes = np.where(codes < 0, default, codes)
    new_ids = np.where(codes == default, -1, new.offsets[column] + codes - (codes > default))
    # The same for each code of `old`: its default is not stored, so records are filled with it.
    starts = np.cumsum(old.arities[source]) - old.arities[source]
    code = np.arange(len(column)) - starts[column]
    stored = code != old.defaults[source[column]]
    ids = np.full(old.n_values, -1, np.int64)
    was = old.offsets[source[column]] + code - (code > old.defaults[source[column]])
    ids[was[stored]] = new_ids[stored]
    first, last, fill = old.offsets[source], old.offsets[source + 1], new_ids[~stored]
    order = np.lexsort((fill, last, first))
    order = order[fill[order] >= 0]
    return _Plan(ids, first[order], last[order], fill[order])


def _rewrite(part: Any, new: Schema, plan: _Plan, chosen: Subset = None) -> Parts:
    lengths = plan.lengths(part, chosen)
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    values = np.empty(indptr[-1], value_type(new.n_values))
    plan.write(part, chosen, indptr, values)
    return Parts(new, indptr, values)


def restore(part: Any, new: Schema) -> Parts:
    """Store the same data under a schema with the same columns: other defaults, or fewer labels."""
    old, every = part.schema, np.arange(len(new))
    if old.labels != new.labels:
        return _rewrite(part, new, _plan(old, new, every))
    codes = np.arange(int(old.cells[-1])) - np.repeat(old.cells[:-1], old.arities)
    return _rewrite(part, new, _plan(old, new, every, [codes]))


def _described(parts: Parts, table: Table) -> Parts:
    """Give parts what records of a table have beside their values."""
    parts.weights, parts.native, parts.index = table.weights, table._native, table.index
    return parts


def change_defaults(table: Table, defaults: Any) -> Parts:
    """Return the parts of a table with other defaults."""
    schema = table.schema
    singles = table.with_weights(None).one_way()
    chosen = default_codes(schema, singles.counts, defaults)
    return _described(restore(table, schema.with_defaults(chosen)), table)


def take_records(table: Table, chosen: NDArray[np.int64]) -> Parts:
    """Return the parts of a table with the chosen records only."""
    check_size(len(chosen), table.n_columns)
    schema = table.schema
    parts = _rewrite(table, schema, _Plan.unchanged(schema), chosen)
    parts.weights = None if table.weights is None else table.weights[chosen]
    parts.native = table._native
    parts.index = None if table.index is None else table.index.gather(chosen)
    return parts


def select_columns(table: Table, positions: Sequence[int]) -> Parts:
    """Return the parts of a table with the given columns only."""
    check_size(table.n_records, len(positions))
    old = table.schema
    new = old.select(positions)
    parts = _rewrite(table, new, _plan(old, new, positions))
    return _described(parts, table)


def fill_absent(table: Table, new: Schema) -> Parts:
    """Return the parts of a table with the columns of a schema that it lacks, at their defaults."""
    old, held = table.schema, set(table.schema.names)
    rest = [c for c, name in enumerate(new.names) if name not in held]
    schema = Schema(
        (*old.names, *(new.names[c] for c in rest)),
        (*old.labels, *(new.labels[c] for c in rest)),
        np.concatenate((old.defaults, new.defaults[rest])),
    )
    values = table.values.astype(value_type(schema.n_values), copy=False)
    return _described(Parts(schema, table.indptr, values), table)


def conform_table(table: Table, new: Schema, unseen: str, argument: str) -> Parts:
    """Return the parts of a table under another schema; see :meth:`tacit.Table.conform`."""
    check_size(table.n_records, len(new))
    old = table.schema
    position_of = {name: c for c, name in enumerate(old.names)}
    for name in new.names:
        if name not in position_of:
            raise absent_column(argument, name, old.names)
    positions = [position_of[name] for name in new.names]
    matches = _matches(old, new, positions)
    gaps = {id(codes) for codes in {id(codes): codes for codes in matches}.values() if -1 in codes}
    partial = [c for c, codes in enumerate(matches) if id(codes) in gaps]
    if unseen == "error":
        for c in partial:
            _refuse_unseen(table, positions[c], matches[c], new.labels[c], argument)
        partial = []
    parts = _rewrite(table, new, _plan(old, new, positions, matches))
    parts.weights, parts.index = table.weights, table.index
    if table._native is not None:
        kind, types = table._native
        kept = (
            name
            for c, name in enumerate(new.names)
            if name in types and old.labels[positions[c]].dtype == new.labels[c].dtype
        )
        dropped = {new.names[c] for c in partial}  # their types may not hold the default
        parts.native = kind, {name: types[name] for name in kept if name not in dropped}
    return parts


def _refuse_unseen(
    table: Table, column: int, codes: NDArray[np.int64], now: Labels, argument: str
) -> None:
    """Refuse a column if a record holds a label that has no code; the first one is named."""
    seen = [
        (record, code)
        for code in np.flatnonzero(codes < 0).tolist()
        if (record := _first_record(table, column, code)) is not None
    ]
    if not seen:
        return
    record, code = min(seen)
    label = table.schema.labels[column][code]
    value = "a missing value" if label is None else repr(label)
    shown = ", ".join(repr(x) for x in now[:8])
    more = f", … ({len(now)} in all)" if len(now) > 8 else ""
    raise InputError(
        f"{argument}: column {table.schema.names[column]!r} has {value} at record {record}, which "
        f"the model was not fitted on; its labels are {shown}{more}"
    )


def _first_record(table: Table, column: int, code: int) -> int | None:
    """Return the first record with a code in a column, if there is one."""
    schema, (start, rows) = table.schema, table.postings
    value = schema.value_id(column, code)
    if value is not None:
        return int(rows[start[value]]) if start[value] < start[value + 1] else None
    not_default = rows[start[schema.offsets[column]] : start[schema.offsets[column + 1]]]
    if len(not_default) == table.n_records:
        return None
    at_default = np.ones(table.n_records, np.bool_)
    at_default[not_default] = False
    return int(at_default.argmax())


def concat_tables(tables: list[Table], defaults: Any = None, n_jobs: int = 1) -> Parts:
    """Return the parts of one table with the records of all, most common values as defaults.

    The list is emptied as it goes, so that what the caller let go of is freed on the way.
    """
    if not tables:
        raise InputError("tables must not be empty")
    for k, table in enumerate(tables):
        if not hasattr(table, "schema"):
            raise InputError(f"tables: item {k} is a {type(table).__name__}, not a Table")
    names = tables[0].schema.names
    for k, table in enumerate(tables):
        if table.schema.names != names:
            raise InputError(f"tables: the columns of table {k} are not those of table 0")
        if (table.weights is None) != (tables[0].weights is None):
            raise InputError("tables: some have weights and some have none")
    labels = [
        merge_labels([t.schema.labels[c] for t in tables], names[c]) for c in range(len(names))
    ]
    totals = [np.zeros(len(ls), np.int64) for ls in labels]
    for table in tables:
        singles = counts.one_way(table.with_weights(None), None, n_jobs)
        for c, ls in enumerate(labels):
            before = table.schema.labels[c]
            codes = slice(None) if before is ls else ls.find_all(before)
            totals[c][codes] += singles.array(c)
    new = Schema(names, labels, choose_defaults(names, labels, totals, defaults))
    weights = None if tables[0].weights is None else np.concatenate([t.weights for t in tables])
    native = _common_types([table._native for table in tables])
    index = join_indexes([table.index for table in tables])
    parts = join_parts(tables, new, n_jobs)
    parts.weights, parts.native, parts.index = weights, native, index
    return parts


def _common_types(natives: list[Native | None]) -> Native | None:
    """Return what frames have in common: their kind, and the types all of them give a column."""
    head = natives[0]
    if head is None or any(other is None or other[0] != head[0] for other in natives):
        return None
    types = {
        name: dtype
        for name, dtype in head[1].items()
        if all(other is not None and other[1].get(name) == dtype for other in natives)
    }
    return head[0], types


def join_parts(several: list[Any], new: Schema, n_jobs: int = 1) -> Parts:
    """Put the records of several parts or tables one after another under one schema.

    `new` has the same columns and every label of the several, except that it may drop the label of
    missing values, which then become the default. The list is emptied as it goes.
    """
    plans = [
        None if part.schema == new else _plan(part.schema, new, range(len(new))) for part in several
    ]
    if len(several) == 1 and plans[0] is None:
        part = several.pop()
        return Parts(new, part.indptr, part.values)
    indptr = np.zeros(sum(len(part.indptr) - 1 for part in several) + 1, np.int64)
    start = 1
    for part, plan in zip(several, plans, strict=True):
        offsets = indptr[start : start + len(part.indptr) - 1]
        if plan is None or plan.renames:
            np.add(part.indptr[1:], indptr[start - 1], out=offsets)
        else:
            np.cumsum(plan.lengths(part, None, n_jobs), out=offsets)
            offsets += indptr[start - 1]
        start += len(offsets)
    values = np.empty(indptr[-1], value_type(new.n_values))
    start = 0
    with ThreadPoolExecutor(n_jobs) as pool:
        copies = []
        for plan in plans:
            part = several.pop(0)
            offsets = indptr[start : start + len(part.indptr)]
            out = values[offsets[0] : offsets[-1]]
            if plan is None:
                copies.append(pool.submit(np.copyto, out, part.values))
            else:
                plan.write(part, None, offsets, out, n_jobs)
            start += len(offsets) - 1
        for copy in copies:
            copy.result()
    return Parts(new, indptr, values)


def merge_labels_of(table: Table, new: Schema, codes: list[NDArray[np.int64]]) -> Parts:
    """Return the parts of a table under fewer labels.

    Column c of `new` is column c of the table; its label k becomes label ``codes[c][k]``.
    """
    parts = _rewrite(table, new, _plan(table.schema, new, range(len(new)), codes))
    parts.weights, parts.index = table.weights, table.index
    return parts
