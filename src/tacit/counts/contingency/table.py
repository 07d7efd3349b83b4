"""Counts of all label combinations of a few columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tacit.counts.contingency import margins, measures
from tacit.counts.contingency.cells import Cells, codes_of, number_of
from tacit.counts.contingency.check import check_table
from tacit.counts.contingency.combine import combine
from tacit.counts.contingency.plot import Normalize, plot
from tacit.counts.contingency.text import html_text, plain_text, to_frame
from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.plot.html import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl
    from matplotlib.axes import Axes

    from tacit.counts.contingency.measures import BiasCorrection, IndependenceTest
    from tacit.counts.records import Counts
    from tacit.schema import Column

__all__ = ["ContingencyTable", "SomeColumns"]

SomeColumns: TypeAlias = "str | int | Sequence[str | int]"


class ContingencyTable(Result):
    r"""Counts for every combination of labels of some columns.

    It has one of two forms, with the same methods. The dense form is an array with an axis for each
    column. The sparse form (:meth:`from_cells`) lists the cells that are not zero, and no method
    but :meth:`to_dense`, :meth:`to_array` and ``to_frame(zeros=True)`` makes anything larger of it.

    Counts may be approximate. Then every cell has a lower and an upper bound. Marginals, slices and
    unions of approximate tables have bounds, too; probabilities and information measures are
    those of the counts.

    Parameters
    ----------
    columns : tuple of Column
    counts : ndarray of int64 or float64
        One axis for each column, in its code order. Neither copied nor checked; see :meth:`check`.
    lower, upper : ndarray, optional
        Bounds of each cell. A bound that is not given is the count.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"sky": ["blue", "grey", "grey"], "rain": [False, True, False]})
    >>> weather = table.contingency(["sky", "rain"])
    >>> weather
    sky × rain, 3 records
    sky \ rain  False  True
    blue            1     0
    grey            1     1
    >>> weather["grey", True], weather.marginal("rain")[False]
    (1, 2)
    >>> round(weather.mutual_information(), 3)  # in nats
    0.174
    """

    __slots__ = ("_cells", "_counts", "_lower", "_note", "_rest_upper", "_upper", "columns")

    # Engines make tables within microseconds: nothing is computed or checked here.
    def __init__(
        self,
        columns: tuple[Column, ...],
        counts: Counts,
        *,
        lower: Counts | None = None,
        upper: Counts | None = None,
    ) -> None:
        self.columns = columns
        self._counts = counts
        self._lower = lower
        self._upper = upper
        self._cells: Cells | None = None
        self._rest_upper: int | float = 0
        self._note: str | None = None  # said of the table instead of its total

    @classmethod
    def from_cells(
        cls,
        columns: tuple[Column, ...],
        cells: Cells,
        counts: Counts,
        *,
        lower: Counts | None = None,
        upper: Counts | None = None,
        rest_upper: int | float = 0,
    ) -> ContingencyTable:
        """Return a table in the sparse form.

        Parameters
        ----------
        columns : tuple of Column
        cells : ndarray of int64
            Numbers of the cells that are not zero, ascending. Cells are numbered in C order.
        counts : ndarray of int64 or float64
            The counts of these cells.
        lower, upper : ndarray, optional
            Bounds of these cells. A bound that is not given is the count.
        rest_upper : int or float, default 0
            The upper bound of all cells that are not listed.
        """
        table = cls(columns, counts, lower=lower, upper=upper)
        table._cells = cells
        table._rest_upper = rest_upper
        return table

    def check(self) -> ContingencyTable:
        """Return the table itself, or an :class:`InputError` that says which array is wrong."""
        check_table(self)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of labels of each column."""
        return tuple(len(column.labels) for column in self.columns)

    @property
    def n_cells(self) -> int:
        """Number of combinations of labels."""
        return math.prod(self.shape)

    @property
    def n_occurring(self) -> int:
        """Number of combinations that occur."""
        return int(np.count_nonzero(self._counts))

    @property
    def nbytes(self) -> int:
        """Bytes of the counts and what belongs to them."""
        arrays = (self._counts, self._cells, self._lower, self._upper)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def total(self) -> int | float:
        """The (weighted) number of records; for approximate counts, the sum of the estimates."""
        total: int | float = self._counts.sum().item()
        return total

    @property
    def layout(self) -> Literal["dense", "sparse"]:
        """The form in which the counts are held."""
        return "dense" if self._cells is None else "sparse"

    @property
    def exact(self) -> bool:
        """Whether the counts are exact, and not within bounds."""
        return self._lower is None and self._upper is None and not self._rest_upper

    @property
    def rest_upper(self) -> int | float:
        """The upper bound of cells that a sparse table does not list."""
        return self._rest_upper

    @property
    def _lowest(self) -> Counts:
        return self._counts if self._lower is None else self._lower

    @property
    def _highest(self) -> Counts:
        return self._counts if self._upper is None else self._upper

    def bounds(self) -> tuple[ContingencyTable, ContingencyTable]:
        """Return tables of the lower and of the upper bounds.

        Where cells that a sparse table does not list have an upper bound (:attr:`rest_upper`), no
        cell of the upper table is zero: it is dense, and refused if it would not fit in memory.
        """
        table = self.to_dense() if self._rest_upper else self
        lower = self._with(self.columns, self._lowest, self._cells)
        return lower, self._with(self.columns, table._highest, table._cells)

    def interval(self, labels: Any) -> tuple[int | float, int | float]:
        """Return the lower and the upper bound of one cell, given as in ``table[labels]``."""
        position = self._find(labels)
        if position is None:
            return self._counts.dtype.type(0).item(), self._rest_upper
        return self._lowest[position].item(), self._highest[position].item()

    def __getitem__(self, labels: Any) -> int | float:
        position = self._find(labels)
        count: int | float = (
            self._counts.dtype.type(0) if position is None else self._counts[position]
        ).item()
        return count

    def _find(self, labels: Any) -> tuple[int, ...] | int | None:
        """Return where the arrays have the cell, or nothing if it is not listed."""
        wanted = labels if isinstance(labels, tuple) else (labels,)
        if len(wanted) != len(self.columns):
            names = ", ".join(self.names)
            raise InputError(f"one label is needed for each of {names}, got {len(wanted)}")
        codes = tuple(c.code(label) for c, label in zip(self.columns, wanted, strict=True))
        if self._cells is None:
            return codes
        cell = number_of(codes, self.shape)
        position = int(np.searchsorted(self._cells, cell))
        return position if position < len(self._cells) and self._cells[position] == cell else None

    # ---------------------------------------------------------------- forms

    def to_array(self) -> Counts:
        """Return a copy of the counts, one axis for each column."""
        if self._cells is None:
            return self._counts.copy()
        self._check_dense(1)
        return self._spread(self._counts, 0)

    def to_dense(self) -> ContingencyTable:
        """Return the table in its dense form."""
        if self._cells is None:
            return self
        self._check_dense(1 if self.exact else 3)
        rest = self._rest_upper
        made = ContingencyTable(
            self.columns,
            self._spread(self._counts, 0),
            lower=None if self._lower is None else self._spread(self._lower, 0),
            upper=None if self._upper is None and not rest else self._spread(self._highest, rest),
        )
        made._note = self._note
        return made

    def to_sparse(self) -> ContingencyTable:
        """Return the table in its sparse form."""
        if self._cells is not None:
            return self
        cells, (counts, *bounds) = self._listed()
        lower, upper = bounds or (None, None)
        made = ContingencyTable.from_cells(self.columns, cells, counts, lower=lower, upper=upper)
        made._note = self._note
        return made

    def cells(self) -> tuple[Cells, Counts]:
        """Return the codes of each combination that occurs, a row for each, and its count."""
        cells, counts = self.occurring()
        codes = np.empty((len(cells), len(self.columns)), np.int64)
        for position in range(len(self.columns)):
            codes[:, position] = codes_of(cells, self.shape, position)
        return codes, counts

    def to_frame(self, *, zeros: bool = False) -> pl.DataFrame:
        """Return a Polars frame with a row for each combination that occurs.

        Parameters
        ----------
        zeros : bool, default False
            Include combinations that do not occur.
        """
        return to_frame(self, zeros)

    def _check_dense(self, n_arrays: int) -> None:
        n_cells = self.n_cells
        what = f"the dense form of {' × '.join(self.names)}, {n_cells:,} cells,"
        check_fits(8 * n_cells * n_arrays, what, "use the sparse form, or marginal() or slice()")

    def _spread(self, values: Counts, rest: int | float) -> Counts:
        flat = np.full(self.n_cells, rest, values.dtype)
        flat[self._cells] = values
        return flat.reshape(self.shape)

    def _flat(self) -> list[Counts]:
        """Return the counts and, of an approximate table, both bounds, as they are held."""
        arrays = [self._counts] if self.exact else [self._counts, self._lowest, self._highest]
        return [array.reshape(-1) for array in arrays]

    def _listed(self) -> tuple[Cells, list[Counts]]:
        """Return the cells that a sparse form has to list, with counts and bounds."""
        arrays = self._flat()
        if self._cells is not None:
            return self._cells, arrays
        listed = np.flatnonzero(arrays[0] if self.exact else (arrays[0] != 0) | (arrays[-1] != 0))
        return listed, [array[listed] for array in arrays]

    def occurring(self) -> tuple[Cells, Counts]:
        """Return the cells that occur and their counts."""
        cells, (counts, *_) = self._listed()
        occurs = counts != 0
        return (cells, counts) if occurs.all() else (cells[occurs], counts[occurs])

    def _with(
        self, columns: tuple[Column, ...], counts: Counts, cells: Cells | None
    ) -> ContingencyTable:
        if cells is None:
            return ContingencyTable(columns, counts)
        return ContingencyTable.from_cells(columns, cells, counts)

    def _map(
        self,
        columns: tuple[Column, ...],
        change: Callable[[Counts], Counts],
        cells: Cells | None = None,
    ) -> ContingencyTable:
        """Return a table of other columns, its counts and bounds changed in the same way."""
        made = self._with(columns, change(self._counts), cells)
        made._lower = None if self._lower is None else change(self._lower)
        made._upper = None if self._upper is None else change(self._upper)
        made._rest_upper = self._rest_upper
        return made

    # ---------------------------------------------------------------- other tables

    def marginal(self, columns: SomeColumns) -> ContingencyTable:
        """Return the counts of some of the columns, in the order asked for.

        Parameters
        ----------
        columns : str, int, or sequence of them
            One or more columns. All of them in another order make a transposed table.
        """
        return margins.marginal(self, columns)

    def condition(self, query: Mapping[str | int, Any]) -> ContingencyTable:
        """Return the counts among the records that match, without the columns of the query.

        Parameters
        ----------
        query : mapping of column to label
        """
        return margins.condition(self, query)

    def slice(self, labels: Mapping[str | int, Iterable[Any]]) -> ContingencyTable:
        """Return the counts of some labels of some columns.

        Parameters
        ----------
        labels : mapping of column to labels
            The labels to keep. They stay in the order that the column has them in.
        """
        return margins.slice_labels(self, labels)

    def combine(self, other: ContingencyTable) -> ContingencyTable:
        """Return the counts of the records of both tables; ``+`` does the same.

        Columns are matched by name and labels by what they are. Labels that only one table has
        are added, as :meth:`Table.concat` does. The result is dense if both tables are.

        Parameters
        ----------
        other : ContingencyTable
            A table of the same columns, in any order, from other records.
        """
        return combine(self, other)

    def __add__(self, other: object) -> ContingencyTable:
        if not isinstance(other, ContingencyTable):
            return NotImplemented
        return combine(self, other)

    def __radd__(self, other: object) -> ContingencyTable:
        # The built-in sum begins at 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def equals(self, other: ContingencyTable) -> bool:
        """Return whether columns, labels, counts and bounds are the same, in whichever form."""
        return margins.equal(self, other)

    def probabilities(self, given: SomeColumns | None = None) -> ContingencyTable:
        """Return each count by the total, as a table of floats in the same form.

        Parameters
        ----------
        given : str, int, or sequence of them, optional
            Probabilities add up to 1 within each combination of these columns, and not over all
            cells. Where no record has a combination, its probabilities are 0.
        """
        return margins.probabilities(self, given)

    # ---------------------------------------------------------------- measures

    def entropy(
        self,
        columns: SomeColumns | None = None,
        given: SomeColumns | None = None,
        *,
        base: float = math.e,
        bias_correction: BiasCorrection = None,
    ) -> float:
        """Return the entropy of some columns, in nats; 0 for a table without records.

        Parameters
        ----------
        columns : str, int, or sequence of them, optional
            By default all that are not given.
        given : str, int, or sequence of them, optional
            Conditional entropy: what is left when these columns are known.
        base : float, default e
            Base of the logarithm: e for nats, 2 for bits.
        bias_correction : {"miller_madow"}, optional
            Add (occurring cells - 1) / 2N nats to each plain entropy: it is too small on average.
        """
        return measures.entropy(self, columns, given, base, bias_correction)

    def mutual_information(
        self,
        x: SomeColumns | None = None,
        y: SomeColumns | None = None,
        given: SomeColumns | None = None,
        *,
        base: float = math.e,
        bias_correction: BiasCorrection = None,
    ) -> float:
        """Return the mutual information of x and y, in nats; 0 for a table without records.

        Parameters
        ----------
        x, y : str, int, or sequence of them, optional
            Default to the columns that are left, if there is one for each.
        given : str, int, or sequence of them, optional
            Conditional mutual information: what x adds when these columns are known.
        base : float, default e
            Base of the logarithm: e for nats, 2 for bits.
        bias_correction : {"miller_madow"}, optional
            Correct each entropy for its bias, which favours columns of many labels. The result
            may be below 0 then, as an estimate of 0 should at times.
        """
        return measures.mutual_information(self, x, y, given, base, bias_correction)

    def chi2(self, x: str | int | None = None, y: str | int | None = None) -> IndependenceTest:
        """Return Pearson's chi-squared test of independence, without a continuity correction.

        Columns need not be named where the table has two only.
        """
        return measures.chi2(self, x, y)

    def g_test(self, x: str | int | None = None, y: str | int | None = None) -> IndependenceTest:
        """Return the likelihood-ratio test of independence, G = 2 Σ n ln(n / expected).

        Columns need not be named where the table has two only.
        """
        return measures.g_test(self, x, y)

    def cramers_v(self, x: str | int | None = None, y: str | int | None = None) -> float:
        """Return Cramér's V: 0 for independent columns, 1 where one determines the other.

        Columns need not be named where the table has two only.
        """
        return measures.cramers_v(self, x, y)

    # ---------------------------------------------------------------- looks

    def plot(
        self,
        ax: Axes | None = None,
        *,
        normalize: Normalize = None,
        annotate: bool = True,
        cmap: str = "Blues",
    ) -> Axes:
        """Draw two columns as a heat map, or one as bars, and return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure of a fitting size.
        normalize : {None, "rows", "columns", "all"}
            Show counts, or fractions of each row, of each column or of everything.
        annotate : bool, default True
            Write the numbers into the cells. Left out where cells are too many to read them.
        cmap : str, default "Blues"
            A matplotlib colour map.
        """
        return plot(self, ax, normalize, annotate, cmap)

    def __repr__(self) -> str:
        return plain_text(self)

    def _html(self) -> str:
        return html_text(self)
