"""Counts of all pairs of columns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from tacit import _core
from tacit.counts.contingency.table import ContingencyTable
from tacit.counts.exact import ExactCounts, combine, count_digits, rounded
from tacit.counts.formatting import label_text, show_number
from tacit.counts.records import Counts, StoredRecords, Subset, derive
from tacit.errors import InputError
from tacit.machine import check_fits, check_int
from tacit.plot.html import Result, frame_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from scipy import sparse

    from tacit.counts.one_way import OneWay
    from tacit.schema import Schema

__all__ = ["Layout", "Method", "Pairs", "pairs"]

Layout: TypeAlias = Literal["auto", "dense", "sparse"]
Method: TypeAlias = Literal["auto", "outer", "bitmap"]

# Measured costs in nanoseconds: one cell of a row outer product; one 64-record word of the AND of
# two bitmaps; one bit set. Only their ratios matter.
_OUTER, _WORD, _BIT = 1.0, 0.23, 1.0
_SLAB, _STEP = 16_384, 4_096  # records of a slab of bitmaps, of which the last is rounded up
_BAND = 4_000_000  # cells ranked at a time
_SMALL = 64_000_000  # bytes of a dense result that nobody minds


def row_lengths(
    records: StoredRecords, chosen: Subset
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return how many values each chosen record stores."""
    lengths = np.diff(records.indptr)
    return lengths if chosen is None else lengths[chosen]


def suits_square(n_values: int, joint: float) -> bool:
    """Return whether counts are best held in a square, for so many pairs within records."""
    return 8.0 * n_values * n_values <= max(_SMALL, 12 * joint)


def plan(
    records: StoredRecords, chosen: Subset, layout: Layout, method: Method
) -> tuple[Literal["dense", "sparse"], Literal["outer", "bitmap"]]:
    """Choose how to hold the counts and how to count, from n_values, density and memory."""
    if layout not in ("auto", "dense", "sparse"):
        raise InputError(f"layout must be 'auto', 'dense' or 'sparse', got {layout!r}")
    if method not in ("auto", "outer", "bitmap"):
        raise InputError(f"method must be 'auto', 'outer' or 'bitmap', got {method!r}")
    if method == "bitmap" and records.weights is not None:
        raise InputError("method='bitmap' counts records, but the table has weights; use 'outer'")
    if method == "bitmap" and layout == "sparse":
        raise InputError("method='bitmap' fills a dense result; use layout='dense'")
    n = records.schema.n_values
    lengths = row_lengths(records, chosen).astype(float)
    joint = float(lengths @ lengths)  # ordered pairs within records: a bound on cells in use
    if layout == "auto":
        layout = "dense" if suits_square(n, joint) or method == "bitmap" else "sparse"
    if layout == "dense":
        check_fits(
            # A triangle of smaller counts is held beside it, or digits of weights.
            (10 if records.weights is None else 42) * n * n,
            f"a dense square of {n:,} stored values",
            "use layout='sparse' or select fewer columns",
        )
    if method == "auto":
        outer = _OUTER * joint / 2
        slabs, rest = divmod(len(lengths), _SLAB)
        words = (slabs * _SLAB + -(-rest // _STEP) * _STEP) / 64
        bitmap = _WORD * (n / 2) * n * words + _BIT * float(lengths.sum())
        denser = layout == "dense" and records.weights is None and bitmap < outer
        method = "bitmap" if denser else "outer"
    return layout, method


def pairs(
    records: StoredRecords,
    chosen: Subset,
    singles: OneWay,
    n_jobs: int,
    layout: Layout = "auto",
    method: Method = "auto",
) -> Pairs:
    """Count all pairs of stored values; `singles` are the one-way counts of the same records."""
    form, kernel = plan(records, chosen, layout, method)
    count: Callable[[_core.Records], Any]
    if form == "sparse":
        count = partial(_count_sparse, records.schema.n_values, n_jobs)
    elif kernel == "bitmap":
        count = partial(_core.pair_counts_bitmap, n_jobs=n_jobs)
    else:
        count = partial(_core.pair_counts_outer, n_jobs=n_jobs)
    return Pairs(records.schema, count_digits(records, chosen, count), singles)


def _count_sparse(n: int, n_jobs: int, given: _core.Records) -> sparse.csr_array:
    from scipy import sparse

    indptr, indices, counts = _core.pair_counts_sparse(given, n_jobs)
    if len(indices) < 2**31:  # SciPy wants both index arrays of one type, and would copy
        indptr = indptr.astype(np.int32)
    stored = sparse.csr_array((counts, indices, indptr), shape=(n, n))
    stored.has_canonical_format = True
    return stored


def _all_counts(schema: Schema, a: int, b: int, stored: Any, of_a: Counts, of_b: Counts) -> Counts:
    """Return the counts of two columns' values, defaults too."""
    ids_a, ids_b = schema.values_of(a), schema.values_of(b)
    block = stored[ids_a.start : ids_a.stop, ids_b.start : ids_b.stop]
    block = block if isinstance(block, np.ndarray) else block.toarray()
    counts = np.empty((schema.arities[a], schema.arities[b]), block.dtype)
    codes_a, codes_b = schema.codes_of(a), schema.codes_of(b)
    da, db = int(schema.defaults[a]), int(schema.defaults[b])
    counts[np.ix_(codes_a, codes_b)] = block
    if a == b:
        counts[da, codes_b] = counts[codes_a, db] = 0
    else:
        counts[da, codes_b] = derive(of_b[codes_b], block.sum(axis=0))
        counts[codes_a, db] = derive(of_a[codes_a], block.sum(axis=1))
    counts[da, db] = derive(of_a[da], counts[da, codes_b].sum())
    return counts


class Pairs(Result):
    r"""Counts of all pairs of columns.

    Only co-occurrences of stored values are held; the rest of any two-way table follows from
    them and the one-way counts by subtraction.

    Attributes
    ----------
    schema : Schema
    stored : ndarray or scipy.sparse.csr_array of shape (n_values, n_values)
        ``stored[i, j]`` is the (weighted) number of records that hold the values with ids i and
        j. Symmetric; its diagonal holds the one-way counts.
    singles : OneWay
        The one-way counts of the same records.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.Table.from_baskets([["home", "news"], ["home"], ["sports", "home"], []])
    >>> pairs = visits.pairs()
    >>> pairs["home", "news"]
    home × news, 4 records
    home \ news  False  True
    False            1     0
    True             2     1
    """

    def __init__(
        self, schema: Schema, stored: ExactCounts | sparse.csr_array, singles: OneWay
    ) -> None:
        self.schema = schema
        self.sums = stored  # before rounding
        self.stored: Counts | sparse.csr_array = rounded(stored)
        self.singles = singles

    @property
    def total(self) -> int | float:
        """The (weighted) number of records counted."""
        return self.singles.total

    def __getitem__(self, key: tuple[str | int, str | int]) -> ContingencyTable:
        if not isinstance(key, tuple) or len(key) != 2:
            raise InputError("pairs takes two columns, as in pairs['home', 'sports']")
        schema, singles = self.schema, self.singles
        a, b = (schema.position(k) for k in key)
        counts = combine(
            partial(_all_counts, schema, a, b),
            self.sums,
            singles.exact_array(a),
            singles.exact_array(b),
        )
        return ContingencyTable((schema.column(a), schema.column(b)), rounded(counts))

    def strongest(
        self,
        top: int = 10,
        *,
        by: Literal["leverage", "lift", "count"] = "leverage",
        min_count: float = 1,
        detail: bool = False,
    ) -> pl.DataFrame:
        """Return the pairs of stored values that occur together most beyond chance.

        Parameters
        ----------
        top : int, default 10
            How many to return.
        by : {"leverage", "lift", "count"}
            Records beyond what independence would give, as a difference or as a ratio; or simply
            how often the two occur together.
        min_count : float, default 1
            Leave out pairs that occur less often.
        detail : bool, default False
            Give column and label of each value apart, too, for programs to read.

        Returns
        -------
        polars.DataFrame
            One row a pair, the strongest first: the two values, their count together, the count
            expected of independent columns, and the lift.
        """
        if by not in ("leverage", "lift", "count"):
            raise InputError(f"by must be 'leverage', 'lift' or 'count', got {by!r}")
        top = check_int(top, "top", 1)
        best: list[NDArray[Any]] = [
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            np.zeros(0),
            np.zeros(0),
        ]
        for band in self._bands(max(min_count, 1e-300)):
            i, j, count = (np.concatenate(both) for both in zip(best[:3], band, strict=True))
            expected = self.singles.stored[i] * (self.singles.stored[j] / self.total)
            score = {"leverage": count - expected, "lift": count / expected, "count": count}[by]
            order = np.lexsort((j, i, -count, -score))[:top]
            best = [array[order] for array in (i, j, count, expected)]
        i, j, count, expected = best
        count = count.astype(self.singles.stored.dtype)
        frame = pl.DataFrame(
            {
                "a": [self._show(v) for v in i.tolist()],
                "b": [self._show(v) for v in j.tolist()],
                "count": count,
                "expected": expected,
                "lift": count / expected,
            },
            schema_overrides={"a": pl.String, "b": pl.String},
        )
        if detail:
            for side, ids in (("a", i.tolist()), ("b", j.tolist())):
                named = [self.schema.value_label(v) for v in ids]
                frame = frame.with_columns(
                    pl.Series(f"{side}_column", [name for name, _ in named], dtype=pl.String),
                    pl.Series(f"{side}_label", [label_text(x) for _, x in named], dtype=pl.String),
                )
        return frame

    def _html(self) -> str:
        n, total = len(self.schema), show_number(self.total)
        title = f"Strongest pairs of values of {n:,} columns, {total} records"
        return frame_html(self.strongest(), title=title)

    def __repr__(self) -> str:
        n = len(self.schema)
        form = "dense" if isinstance(self.stored, np.ndarray) else "sparse"
        return f"Pairs of {n:,} columns ({form}), {self.total:,} records\n{self.strongest()}"

    def _bands(self, least: float) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """Yield the pairs of values of different columns, some rows of counts at a time."""
        from scipy import sparse

        columns = self.schema.value_columns
        n = self.schema.n_values
        height = max(1, _BAND // max(n, 1))
        for start in range(0, n, height):
            band = sparse.coo_array(self.stored[start : start + height])
            i, j = band.row.astype(np.int64) + start, band.col.astype(np.int64)
            kept = (i < j) & (columns[i] != columns[j]) & (band.data >= least)
            yield i[kept], j[kept], band.data[kept]

    def _show(self, value: int) -> str:
        """Name a value; where there is just one that is not the default, the column says it all."""
        name, label = self.schema.value_label(value)
        plain = label is True and self.schema.arities[self.schema.value_columns[value]] == 2
        return name if plain else f"{name}={'(missing)' if label is None else label}"
