"""Measures of dependence: entropy, mutual information, tests of independence.

All of it is computed from the cells that occur. A cell's fraction of a group is never above 1, so
that nothing comes out negative by rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tacit.counts.contingency.cells import codes_of, group_totals, renumber, resolve, resolve_each
from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.plot.html import Result, pairs_html

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit.counts.contingency.table import ContingencyTable
    from tacit.counts.records import Counts

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "BiasCorrection",
    "IndependenceTest",
    "chi2",
    "cramers_v",
    "entropy",
    "g_test",
    "mutual_information",
]

BiasCorrection: TypeAlias = Literal["miller_madow"] | None

_TINY = float(np.finfo(np.float64).tiny)  # instead of a quotient that underflows


@dataclass(frozen=True)
class IndependenceTest(Result):
    """A test of whether two columns are independent.

    Attributes
    ----------
    statistic : float
    dof : int
        Degrees of freedom. Labels that do not occur have none.
    p_value : float
        How likely a statistic as large as this is if the columns are independent.
    row_totals, column_totals : ndarray of float64
        The counts of each label of the two columns.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"tea": [1, 1, 1, 0, 0, 0], "cake": [1, 1, 0, 1, 0, 0]})
    >>> test = table.contingency(["tea", "cake"]).chi2()
    >>> test
    IndependenceTest(statistic=0.666667, dof=1, p_value=0.414216)
    >>> test.expected
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """

    statistic: float
    dof: int
    p_value: float
    row_totals: Floats = field(compare=False)
    column_totals: Floats = field(compare=False)

    @property
    def expected(self) -> Floats:
        """The counts that independence would lead one to expect, a row for each label of x."""
        rows, columns = self.row_totals, self.column_totals
        n_cells = len(rows) * len(columns)
        check_fits(8 * n_cells, f"an array of {n_cells:,} expected counts", "use row_totals")
        return rows[:, None] * (columns / (columns.sum() or 1.0))

    def _html(self) -> str:
        numbers = {"statistic": self.statistic, "degrees of freedom": self.dof}
        rows = [(name, f"{x:,.6g}") for name, x in (numbers | {"p-value": self.p_value}).items()]
        return pairs_html(rows, title="Test of independence")

    def __repr__(self) -> str:
        return (
            f"IndependenceTest(statistic={self.statistic:.6g}, dof={self.dof}, "
            f"p_value={self.p_value:.6g})"
        )


def entropy(
    table: ContingencyTable, columns: Any, given: Any, base: float, bias_correction: BiasCorrection
) -> float:
    """Return the entropy of some columns, on average over the labels of others."""
    log = _logarithm(base)
    _check_correction(bias_correction)
    conditions = [] if given is None else resolve_each(table.columns, given, "given")
    if columns is None:
        subject = [k for k in range(len(table.columns)) if k not in conditions]
    else:
        subject = resolve_each(table.columns, columns, "columns")
    cells, counts, groups = _totals(table, [conditions, [*conditions, *subject]])
    if not len(cells):
        return 0.0
    total = counts.sum()
    (condition, n_groups), (joint, n_joint) = groups
    value = -float((counts / total) @ log(_quotient(joint, condition)))
    if bias_correction:
        value += (n_joint - n_groups) / (2 * total) * float(log(math.e))
    return max(value, 0.0)


def mutual_information(
    table: ContingencyTable,
    x: Any,
    y: Any,
    given: Any,
    base: float,
    bias_correction: BiasCorrection,
) -> float:
    """Return the mutual information of columns, on average over the labels of others."""
    log = _logarithm(base)
    _check_correction(bias_correction)
    conditions = [] if given is None else resolve_each(table.columns, given, "given")
    one = None if x is None else resolve_each(table.columns, x, "x")
    two = None if y is None else resolve_each(table.columns, y, "y")
    one, two = _fill_in(table, one, two, conditions)
    sets = [conditions, [*conditions, *one], [*conditions, *two], [*conditions, *one, *two]]
    cells, counts, groups = _totals(table, sets)
    if not len(cells):
        return 0.0
    total = counts.sum()
    (condition, n_condition), (first, n_first), (second, n_second), (joint, n_joint) = groups
    # Two quotients, not two products: where columns are independent they are the same to the bit.
    ratios = _quotient(joint, first) / _quotient(second, condition)
    value = max(float((counts / total) @ log(ratios)), 0.0)
    if bias_correction:
        value += (n_first + n_second - n_joint - n_condition) / (2 * total) * float(log(math.e))
    return value


def chi2(table: ContingencyTable, x: Any, y: Any) -> IndependenceTest:
    """Return Pearson's test of independence."""
    cross = _Cross(table, x, y)
    return cross.test(cross.chi2())


def g_test(table: ContingencyTable, x: Any, y: Any) -> IndependenceTest:
    """Return the likelihood-ratio test of independence."""
    cross = _Cross(table, x, y)
    fractions = cross.column_totals[cross.second] / (cross.total or 1.0)
    ratios = _quotient(cross.counts, cross.row_totals[cross.first]) / np.maximum(fractions, _TINY)
    return cross.test(max(2 * float(cross.counts @ np.log(ratios)), 0.0))


def cramers_v(table: ContingencyTable, x: Any, y: Any) -> float:
    """Return Cramér's V: 0 for independent columns, 1 if one determines the other."""
    cross = _Cross(table, x, y)
    if not cross.dof:
        return 0.0
    largest = cross.total * (min(cross.n_rows, cross.n_columns) - 1)
    return min(math.sqrt(cross.chi2() / largest), 1.0)


class _Cross:
    """What a test of two columns needs: the cells that occur, and the totals of either column."""

    def __init__(self, table: ContingencyTable, x: Any, y: Any) -> None:
        one = None if x is None else [resolve(table.columns, x, "x")]
        two = None if y is None else [resolve(table.columns, y, "y")]
        one, two = _fill_in(table, one, two, [])
        if one == two:
            name = table.columns[one[0]].name
            raise InputError(f"x and y must be two columns, but both are {name!r}")
        pair = table.marginal([*one, *two])
        cells, counts = pair.occurring()
        self.counts: Floats = counts.astype(np.float64)
        self.first = codes_of(cells, pair.shape, 0)
        self.second = codes_of(cells, pair.shape, 1)
        rows, columns = pair.shape
        self.row_totals: Floats = np.bincount(self.first, self.counts, rows).astype(np.float64)
        self.column_totals: Floats = np.bincount(self.second, self.counts, columns).astype(
            np.float64  # without a cell bincount gives integers
        )
        self.total = float(self.counts.sum())
        self.n_rows = int(np.count_nonzero(self.row_totals))
        self.n_columns = int(np.count_nonzero(self.column_totals))
        self.dof = max(self.n_rows - 1, 0) * max(self.n_columns - 1, 0)

    def chi2(self) -> float:
        """Return the sum of (count - expected)² / expected over all cells, empty ones too."""
        if not self.dof:
            return 0.0
        expected = self.row_totals[self.first] * (self.column_totals[self.second] / self.total)
        expected = np.maximum(expected, _TINY)
        off = self.counts - expected
        sum_of_squares = float((off / expected) @ off)
        if len(self.counts) == self.n_rows * self.n_columns:
            return sum_of_squares
        # A cell that does not occur adds what is expected of it; all expected counts are the total.
        return sum_of_squares + max(self.total - float(expected.sum()), 0.0)

    def test(self, statistic: float) -> IndependenceTest:
        from scipy.special import chdtrc

        statistic = statistic if self.dof else 0.0
        p_value = float(chdtrc(self.dof, statistic)) if self.dof else 1.0
        return IndependenceTest(statistic, self.dof, p_value, self.row_totals, self.column_totals)


def _totals(
    table: ContingencyTable, sets: Sequence[list[int]]
) -> tuple[NDArray[np.int64], Counts, list[tuple[Counts, int]]]:
    """Return the cells that occur, and for each set of columns the totals over all others.

    The last set holds all columns of the others.
    """
    union = list(dict.fromkeys(sets[-1]))
    joint = table.marginal(union)
    cells, counts = joint.occurring()
    groups = []
    for positions in sets:
        kept = [union.index(position) for position in dict.fromkeys(positions)]
        if kept:
            groups.append(group_totals(renumber(cells, joint.shape, kept), counts))
        else:
            groups.append((counts.sum(keepdims=True), min(len(counts), 1)))
    return cells, counts, groups


def _fill_in(
    table: ContingencyTable, x: list[int] | None, y: list[int] | None, given: list[int]
) -> tuple[list[int], list[int]]:
    """Put the columns that are left instead of an x or a y that is not named."""
    named = {*(x or ()), *(y or ()), *given}
    left = [position for position in range(len(table.columns)) if position not in named]
    missing = [name for name, positions in (("x", x), ("y", y)) if positions is None]
    if missing and len(left) != len(missing):
        names = ", ".join(repr(column.name) for column in table.columns)
        raise InputError(f"{' and '.join(missing)} must be named: the columns are {names}")
    return x or [left[0]], y or [left[-1]]


def _quotient(counts: Counts, totals: Counts) -> Floats:
    return np.maximum(counts / totals, _TINY)


def _logarithm(base: Any) -> Callable[[Any], Any]:
    number = isinstance(base, (int, float)) and not isinstance(base, bool)
    if not number or not 1 < base < math.inf:
        raise InputError(f"base must be a number above 1, got {base!r}")
    if base == 2:
        return np.log2
    scale = math.log(base)
    return lambda values: np.log(values) / scale


def _check_correction(bias_correction: Any) -> None:
    if bias_correction not in (None, "miller_madow"):
        raise InputError(f"bias_correction must be None or 'miller_madow', got {bias_correction!r}")
