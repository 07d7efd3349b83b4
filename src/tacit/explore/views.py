"""What the page shows of each column: a few labels, bins of numbers, the rest put together."""

from __future__ import annotations

import datetime as dt
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.counts.formatting import label_text
from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.table import Table
from tacit.table.discretise import EqualFrequency, bins_of, count_points
from tacit.table.kinds import mark_identifier
from tacit.table.recode import merge_labels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.schema import Label

__all__ = ["Views", "nice_edges", "views_of"]

MOST_LABELS = 60  # of a column; more are put together
_NUMBERS = 40  # distinct numbers that are shown one by one
_BINS = 30  # about so many otherwise
_SKEWED = 0.7  # a bin with more of the records than this hides the others
_PERIODS = ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:00", "%Y-%m-%d", "%Y-%m", "%Y")


@dataclass(frozen=True)
class Views:
    """A table as it is shown.

    Attributes
    ----------
    schema : Schema
        The columns that are shown, with as few labels as can be looked at.
    n_records : int
    weighted : bool
    columns : list of int
        Positions of the columns in the table.
    codes : list of ndarray
        Which label of `schema` each label of these columns is shown as.
    merged : dict of str to int
        How many labels of a column were put together under its last one.
    regrouped : set of str
        Ordered columns whose labels stand for several, such as months for days.
    cut : set of str
        Columns whose numbers were cut here.
    left_out : dict of str to str
        Columns that are not shown, and why.
    """

    schema: Schema
    n_records: int
    weighted: bool
    columns: list[int]
    codes: list[NDArray[np.int64]]
    merged: dict[str, int]
    regrouped: set[str]
    cut: set[str]
    left_out: dict[str, str]

    def of(self, table: Table) -> Table:
        """Return the records of a table as they are shown."""
        same = len(self.columns) == len(table.schema)
        chosen = table if same else table.select(self.columns)
        both = zip(self.schema.labels, chosen.schema.labels, strict=True)
        if all(now is was for now, was in both):
            return chosen
        return Table._of(merge_labels_of(chosen, self.schema, self.codes))

    def describe(self) -> dict[str, Any]:
        """Return what the page has to know of the columns; plain values for JSON."""
        columns = [
            {
                "name": column.name,
                "kind": column.kind,
                "labels": [None if label is None else label_text(label) for label in column.labels],
                "literal": _literal(column.labels),
                "default": column.default,
                "missing": column.labels.missing,
                "edges": None if column.edges is None else list(column.edges),
                "merged": self.merged.get(column.name, 0),
                "regrouped": column.name in self.regrouped,
                "cut": column.name in self.cut,
                "code": [repr(x) for x in column.labels]
                if _literal(column.labels) == "code"
                else None,
            }
            for column in self.schema
        ]
        said = repr([(column["name"], column["labels"]) for column in columns]).encode()
        return {
            "columns": columns,
            "records": self.n_records,
            "weighted": self.weighted,
            "fingerprint": f"{zlib.crc32(said):08x}",
            "leftOut": [{"name": name, "why": why} for name, why in self.left_out.items()],
        }


def _literal(labels: Labels) -> str:
    """Return how labels are written in Python: "number", "boolean", "text", "bin" or "code"."""
    if labels.edges is not None:
        return "bin"
    if labels.is_numeric:
        return "number"
    if labels.dtype == "Boolean":
        return "boolean"
    return "text" if all(x is None or isinstance(x, str) for x in labels) else "code"


def views_of(table: Table | PartitionedTable) -> Views:
    """Return how a table is shown: numbers in bins, rare labels together."""
    if not len(table.schema) or not table.n_records:
        raise InputError("table has no records to look at")
    singles = table.one_way()
    columns: list[int] = []
    labels: list[Labels] = []
    codes: list[NDArray[np.int64]] = []
    merged, left_out = {}, {}
    regrouped: set[str] = set()
    cut: set[str] = set()
    for position, column in enumerate(table.schema):
        n_labels = len(column.labels) - (column.labels.missing is not None)
        if mark_identifier(column.labels, table.n_records).kind == "identifier":
            left_out[column.name] = f"{n_labels:,} labels: nearly each record has its own"
            continue
        shown, code, together = _fewer(column.labels, singles.array(position))
        columns.append(position)
        labels.append(shown)
        codes.append(code)
        if together:
            merged[column.name] = together
        elif shown is not column.labels:
            (regrouped if shown.edges is None else cut).add(column.name)
    if not columns:
        raise InputError("table has identifiers only: there is nothing to count")
    old = table.schema
    defaults = [int(code[old.defaults[c]]) for c, code in zip(columns, codes, strict=True)]
    schema = Schema([old.names[c] for c in columns], labels, defaults)
    return Views(
        schema, table.n_records, table.weighted, columns, codes, merged, regrouped, cut, left_out
    )


def _fewer(labels: Labels, counts: NDArray[Any]) -> tuple[Labels, NDArray[np.int64], int]:
    """Return labels to be shown, the code of each label among them, and how many are together."""
    same = np.arange(len(labels))
    n = len(labels) - (labels.missing is not None)
    if labels.edges is None and labels.is_numeric and labels.kind == "numeric":
        if n <= _NUMBERS:
            return labels, same, 0
        shown = bins_of(nice_edges(labels.numbers[:n], counts[:n]), missing=n < len(labels))
        return shown, shown.find_all(labels), 0
    if n <= MOST_LABELS:
        return labels, same, 0
    if labels.kind == "ordered":
        return (*_periods(labels, n), 0)
    order = np.argsort(-counts[:n], kind="stable")
    first = np.sort(order[: MOST_LABELS - 10])
    code = np.full(len(labels), len(first))
    code[first] = np.arange(len(first))
    names: list[Label] = [label_text(labels[int(k)]) for k in first]
    other = f"{n - len(first):,} other labels"
    while other in names:
        other += " "
    names.append(other)
    if n < len(labels):
        names.append(None)
        code[n] = len(first) + 1
    return Labels(names, "String", kind="categorical"), code, n - len(first)


def _periods(labels: Labels, n: int) -> tuple[Labels, NDArray[np.int64]]:
    """Return ordered labels by minutes, hours, days, months or years; or in equal parts."""
    items = labels.items[:n]
    groups = [""] * n
    for form in _PERIODS:
        if not all(isinstance(x, dt.date) for x in items):
            break
        groups = [x.strftime(form) for x in items]  # type: ignore[union-attr]
        if len(set(groups)) <= MOST_LABELS:
            break
    names = sorted(set(groups))
    if not 1 < len(names) <= MOST_LABELS:
        starts = np.arange(_BINS) * n // _BINS
        part = np.searchsorted(starts, np.arange(n), side="right") - 1
        ends = [*starts[1:], n]
        names = [
            f"{label_text(items[a])} – {label_text(items[b - 1])}"
            for a, b in zip(starts, ends, strict=True)
        ]
        codes = part
    else:
        at = {name: k for k, name in enumerate(names)}
        codes = np.array([at[group] for group in groups])
    every: list[Label] = [*names]
    if n < len(labels):
        every.append(None)
        codes = np.append(codes, len(names))
    return Labels(every, "String", kind="ordered"), codes.astype(np.int64)


def nice_edges(numbers: NDArray[np.float64], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return where to cut numbers that are to be looked at.

    At round numbers of equal distance, for all but the outer half percent of records at either end.
    Where most records would then lie in one bin, it gets a bin of its own and the others are cut
    into bins of equal frequency.

    >>> nice_edges(np.arange(17.0, 90.0), np.ones(73))[:4]
    array([18., 20., 22., 24.])
    >>> nice_edges(np.array([0.0, *range(100, 200)]), np.array([900] + 100 * [1]))[:2]
    array([ 50. , 104.5])
    """
    held = (counts > 0) & np.isfinite(numbers)
    numbers, counts = numbers[held], counts[held]
    if not len(numbers):
        return np.empty(0)
    whole = bool((numbers == np.floor(numbers)).all())
    below = np.cumsum(counts) / max(counts.sum(), 1e-300)
    low, high = (
        float(numbers[min(int(np.searchsorted(below, part)), len(numbers) - 1)])
        for part in (0.005, 0.995)
    )
    if 1e-290 < high - low < math.inf:
        step = _round_step((high - low) / _BINS, whole)
        steps = np.arange(math.floor(low / step) + 1, math.ceil(high / step) + 1)
        digits = 12 - math.ceil(math.log10(max(abs(low), abs(high))))
        edges: NDArray[Any] = np.unique(np.round(steps * step, digits))
        edges = edges[(edges > numbers[0]) & (edges <= numbers[-1])]
        sizes = np.bincount(np.searchsorted(edges, numbers, "right"), counts)
        if len(edges) > 3 and sizes.max() <= _SKEWED * counts.sum():
            return edges
    most = int(counts.argmax())
    rest = np.delete(np.arange(len(numbers)), most)
    points = count_points(numbers[rest], counts[rest], EqualFrequency(20))
    around = [numbers[k] / 2 + numbers[k + 1] / 2 for k in (most - 1, most) if 0 <= k < len(rest)]
    both = np.concatenate((np.empty(0) if points is None else points, around))
    return np.unique(both).astype(np.float64) + 0.0


def _round_step(step: float, whole: bool) -> float:
    """Return the number of the form 1, 2 or 5 times a power of ten that is nearest."""
    power = 10.0 ** math.floor(math.log10(step))
    nearest = min((1, 2, 5, 10), key=lambda x: abs(math.log(x * power / step))) * power
    return max(nearest, 1.0) if whole else nearest
