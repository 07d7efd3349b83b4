"""Discretisation: where to cut a numeric column into bins, and what to call them.

`EqualWidth`, `EqualFrequency`, `Edges` and `MDL` say how; `cut_points` finds the cut points,
`apply_cuts` turns values into codes, and `bin_labels` names the codes. Bins are closed on the left:
a value equal to a cut point belongs to the bin above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.schema import Labels

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FEW", "MANY", "Auto", "EqualWidth", "EqualFrequency", "Edges", "MDL", "Spec", "as_spec"]
__all__ += [
    "cut_points",
    "count_points",
    "apply_cuts",
    "bins_of",
    "bin_labels",
    "bin_edges",
    "midpoints",
]

FEW = 10  # distinct numbers that are labels of their own however few records have each
MANY = 32  # distinct numbers from which on they are cut however many records have each
_EACH = 5  # records to a distinct number in between

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Bins:
    bins: int = 10

    def __post_init__(self) -> None:
        bins: object = self.bins
        if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or bins < 2:
            raise InputError(f"bins must be an integer of at least 2, got {bins!r}")
        object.__setattr__(self, "bins", int(bins))


class EqualWidth(_Bins):
    """Bins of equal width between the smallest and the largest value."""


class EqualFrequency(_Bins):
    """Bins of as equal a number of records as ties allow."""


@dataclass(frozen=True)
class Edges:
    """Bins between cut points the caller names; they need not lie within the data."""

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _checked_edges(self.edges))


def _checked_edges(edges: Any, name: str = "edges") -> tuple[float, ...]:
    try:
        given = tuple(edges)
    except TypeError:
        raise InputError(f"{name} must be a sequence of numbers, got {edges!r}") from None
    checked: list[float] = []
    for i, edge in enumerate(given):
        try:
            number = float(edge) if type(edge) is not bool and isinstance(edge, Real) else math.nan
        except OverflowError:  # an int beyond the largest float
            number = math.inf
        if not math.isfinite(number):
            raise InputError(f"{name} must be finite numbers, got {edge!r} at position {i}")
        if checked and number <= checked[-1]:
            raise InputError(f"{name} must increase strictly, got {edge!r} at position {i}")
        checked.append(number + 0.0)  # -0.0 becomes 0.0, which reads better in a label
    return tuple(checked)


@dataclass(frozen=True)
class MDL:
    """Supervised cuts that tell a target's classes apart, as many as pay for their description.

    The column is cut where the class entropy of its parts is least, and the parts in turn, for as
    long as the gain exceeds the description length of the cut (Fayyad & Irani, IJCAI 1993).
    """


@dataclass(frozen=True)
class Auto:
    """Ten bins of equal frequency where a column has too many numbers for labels, else none.

    Too many are more than 32 distinct numbers, or more than 10 with fewer than five records to
    each. Numbers that are not whole are always cut, so that others can be read later.
    """

    def cuts(self, distinct: Floats, n_records: float) -> bool:
        """Return whether a column with these distinct numbers is cut."""
        if not (distinct == np.floor(distinct)).all():
            return True
        n = distinct.size
        return n > MANY or (n > FEW and n_records < _EACH * n)


Spec: TypeAlias = EqualWidth | EqualFrequency | Edges | MDL | Auto


_NAMED: dict[str, Spec] = {
    "auto": Auto(),
    "width": EqualWidth(),
    "frequency": EqualFrequency(),
    "mdl": MDL(),
}


def as_spec(value: object) -> Spec:
    """Read a specification from what a caller may write for one.

    An int asks for that many bins of equal frequency; a sequence of numbers lists cut points.

    >>> as_spec("width"), as_spec(4), as_spec([0, 1.5])
    (EqualWidth(bins=10), EqualFrequency(bins=4), Edges(edges=(0.0, 1.5)))
    """
    if isinstance(value, EqualWidth | EqualFrequency | Edges | MDL | Auto):
        return value
    if isinstance(value, str) and value in _NAMED:
        return _NAMED[value]
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return EqualFrequency(int(value))
    if isinstance(value, list | tuple | range | np.ndarray):
        return Edges(_checked_edges(value))
    raise InputError(
        'a discretisation must be "auto", "width", "frequency", "mdl", a number of bins, cut '
        f"points, or one of Auto, EqualWidth, EqualFrequency, Edges and MDL; got {value!r}"
    )


def cut_points(
    values: npt.ArrayLike, spec: Spec, target: npt.ArrayLike | None = None, column: str = "x"
) -> Floats:
    """Find the interior cut points of one column, which increase strictly.

    Numbers that are NaN are missing, and ignored. There are no cut points where a column has fewer
    than two distinct values, unless the caller named the edges. `MDL` needs the class codes of a
    `target`, none of them negative.

    >>> cut_points([1, 1, 1, 2, 5, 7], EqualFrequency(3))
    array([1.5, 3.5])
    >>> cut_points([1, 2, 3, 4, 5, 6, 7, 8], MDL(), target=[0, 0, 0, 0, 1, 1, 1, 1])
    array([4.5])
    """
    spec = as_spec(spec)
    x = _numbers(values, f"column {column!r}")
    if (infinite := np.isinf(x)).any():
        i = int(infinite.argmax())
        raise InputError(f"column {column!r} must hold finite numbers, got {x[i]} at record {i}")
    present = ~np.isnan(x)
    if isinstance(spec, Edges):
        return np.array(spec.edges, dtype=np.float64)
    if isinstance(spec, MDL):
        codes = _class_codes(target, x.size)[present]
        return _mdl(x[present], codes) if codes.size else np.empty(0)
    if not present.any():
        return np.empty(0)
    if isinstance(spec, EqualWidth):
        return _equal_width(x[present], spec.bins)
    distinct, counts = np.unique(x[present], return_counts=True)
    return _equal_frequency(distinct, counts, 10 if isinstance(spec, Auto) else spec.bins)


def count_points(numbers: Floats, counts: npt.NDArray[Any], spec: Spec) -> Floats | None:
    """Find the cut points of a column from how often each of its distinct numbers occurs.

    ``None`` where :class:`Auto` leaves them as they are. For :class:`MDL`, `counts` has a column
    for each class.
    """
    if isinstance(spec, MDL):
        value, classes = np.nonzero(counts)
        if not value.size:
            return np.empty(0)
        times = np.rint(counts[value, classes]).astype(np.int64)
        return _mdl_entries(numbers, value, classes, times)
    held = np.asarray(counts) > 0
    numbers, counts = numbers[held], np.asarray(counts)[held]
    if isinstance(spec, Auto):
        if not spec.cuts(numbers, float(counts.sum())):
            return None
        spec = EqualFrequency()
    if isinstance(spec, Edges):
        return np.array(spec.edges, dtype=np.float64)
    if not numbers.size:
        return np.empty(0)
    if isinstance(spec, EqualWidth):
        return _equal_width(numbers, spec.bins)
    assert isinstance(spec, EqualFrequency)
    return _equal_frequency(numbers, counts, spec.bins)


def apply_cuts(values: npt.ArrayLike, cuts: npt.ArrayLike) -> Ints:
    """Code each value by the number of cut points that are not above it; NaN becomes -1.

    >>> apply_cuts([10.0, 25.5, 90.0, float("nan")], [25.5, 38.0])
    array([ 0,  1,  2, -1])
    """
    x = _numbers(values, "values")
    edges = np.array(_checked_edges(cuts, "cuts"), dtype=np.float64)
    return np.where(np.isnan(x), -1, np.searchsorted(edges, x, side="right")).astype(np.int64)


def bin_labels(cuts: npt.ArrayLike) -> tuple[str, ...]:
    """Name the bins between cut points; ``"a – b"`` means a <= x < b.

    >>> bin_labels([25.5, 38.0])
    ('< 25.5', '25.5 – 38', '>= 38')
    >>> bin_labels([])
    ('all',)
    """
    edges = _checked_edges(cuts, "cuts")
    if not edges:
        return ("all",)
    names = [g if float(g := f"{x:g}") == x else repr(x).removesuffix(".0") for x in edges]
    return (f"< {names[0]}", *(f"{a} – {b}" for a, b in pairwise(names)), f">= {names[-1]}")


def bins_of(edges: Sequence[float] | Floats, *, missing: bool = False) -> Labels:
    """Return the labels of the bins between cut points.

    >>> bins_of([30, 60], missing=True).edges
    (30.0, 60.0)
    """
    points = _checked_edges(edges, "cuts")
    return Labels((*bin_labels(points), *((None,) if missing else ())), "String", edges=points)


def bin_edges(labels: Sequence[object]) -> Edges | None:
    """Return the cut points of bins that :func:`bin_labels` named, or ``None`` for other labels.

    A label of missing values at the end is passed over.

    >>> bin_edges(("< 25.5", "25.5 – 38", ">= 38", None))
    Edges(edges=(25.5, 38.0))
    >>> bin_edges(("no", "yes")) is None
    True
    """
    names = [label for label in labels if isinstance(label, str)]
    if len(names) < 2 or len(names) < len(labels) - (labels[-1] is None):
        return None
    try:
        ends = [names[0].removeprefix("< "), *(name.split(" – ")[1] for name in names[1:-1])]
        edges = Edges(tuple(float(end) for end in ends))
    except (ValueError, IndexError):
        return None
    return edges if list(bin_labels(edges.edges)) == names else None


def text_labels(items: Sequence[Any]) -> Labels:
    """Return labels that are all text, with edges if they name bins.

    >>> text_labels(["< 30", ">= 30"]).edges
    (30.0,)
    """
    known = bin_edges(items)
    return Labels(items, "String", edges=None if known is None else known.edges)


def _numbers(values: npt.ArrayLike, what: str) -> Floats:
    x = np.asarray(values)
    if x.ndim != 1:
        raise InputError(f"{what} must be one-dimensional, got shape {x.shape}")
    if x.size and x.dtype.kind not in "biuf":
        raise InputError(f"{what} must hold numbers, got dtype {x.dtype}")
    return x.astype(np.float64, copy=False)


def _class_codes(target: npt.ArrayLike | None, records: int) -> npt.NDArray[Any]:
    if target is None:
        raise InputError("target must be given: MDL cuts a column by the classes of a target")
    codes = np.asarray(target)
    if codes.shape != (records,):
        raise InputError(f"target must have shape ({records},), got {codes.shape}")
    if records and codes.dtype.kind not in "biu":
        raise InputError(f"target must hold integer codes, got dtype {codes.dtype}")
    if codes.dtype.kind == "i" and (codes < 0).any():
        i = int((codes < 0).argmax())
        raise InputError(f"target must hold no negative codes, got {codes[i]} at record {i}")
    return codes


def _equal_width(x: Floats, bins: int) -> Floats:
    low, high = float(x.min()), float(x.max())
    # Scaled by a power of two, which is exact, so that high - low cannot overflow.
    exponent = math.frexp(max(abs(low), abs(high)))[1]
    a, b = math.ldexp(low, -exponent), math.ldexp(high, -exponent)
    scaled = np.minimum(a + np.arange(1, bins) * (b - a) / bins, b)
    # A range of few floats has fewer cuts, but low and high never share a bin.
    cuts = np.maximum(np.ldexp(scaled, exponent), math.nextafter(low, math.inf))
    return np.unique(cuts + 0.0) if low < high else np.empty(0)


def _equal_frequency(distinct: Floats, counts: Ints, bins: int) -> Floats:
    if distinct.size < 2:
        return np.empty(0)
    below = counts.cumsum()[:-1]  # records below each possible cut
    n = int(counts.sum())
    bins = min(bins, n)
    wanted = np.arange(1, bins) * n  # in units of 1/bins of a record: integers, no rounding
    after = np.minimum(np.searchsorted(below * bins, wanted), below.size - 1)
    before = np.maximum(after - 1, 0)
    nearer = wanted - below[before] * bins <= below[after] * bins - wanted
    positions = np.unique(np.where(nearer, before, after))
    return midpoints(distinct[positions], distinct[positions + 1])


def midpoints(lower: Floats, upper: Floats) -> Floats:
    """Return cut points half-way between numbers; the lower ones are below, the upper not.

    >>> midpoints(np.array([17.15]), np.array([17.2]))  # and not 17.174999999999997
    array([17.175])
    """
    # Halved first, so that the sum cannot overflow. Between adjacent floats the cut is the upper.
    middle = np.minimum(lower / 2 + upper / 2, upper)
    short = _rounded(middle)
    middle = np.where((short > lower) & (short <= upper), short, middle)
    cuts: Floats = np.where(middle > lower, middle, upper) + 0.0
    return cuts


def _rounded(numbers: Floats) -> Floats:
    """Return numbers with 12 digits, which rounding of halves and sums leaves alone."""
    size = np.abs(numbers)
    digits = 11 - np.floor(np.log10(np.where(size > 0, size, 1.0)))
    fine = (digits >= 0) & (digits <= 22)  # powers of ten that floats hold exactly
    scale = 10.0 ** np.where(fine, digits, 0)
    with np.errstate(over="ignore"):
        return np.where(fine, np.rint(numbers * scale) / scale, numbers)


def _blocks(
    value: Ints, classes: Ints, counts: Ints, distinct: Floats
) -> tuple[Ints, Ints, Ints, Floats, Floats]:
    """Merge neighbouring values of one and the same class: the best cut never lies between them.

    Takes the value, class and count of each entry (a class that occurs with a value), by value.
    Gives the class and the count of each entry of a block, so that memory does not grow as values ×
    classes, the entry each block starts at and the number of entries, and the values below and
    above each boundary between blocks.
    """
    first = np.flatnonzero(np.concatenate(([True], value[1:] != value[:-1])))
    pure = np.diff(first, append=value.size) == 1
    joins = pure & np.roll(pure, 1) & (classes[first] == np.roll(classes[first], 1))
    joins[0] = False
    kept = np.ones(value.size, dtype=bool)
    kept[first[joins]] = False
    starts = np.append((kept.cumsum() - 1)[first[~joins]], kept.sum())
    heads = np.flatnonzero(~joins)[1:]
    counts = np.add.reduceat(counts, np.flatnonzero(kept))
    return classes[kept], counts, starts, distinct[heads - 1], distinct[heads]


def _fixed_point_c_log_c(n: int) -> tuple[Ints, float]:
    """Tabulate c log2 c for c = 0 … n as integers, and give their scale.

    Integer sums do not depend on their order, so cuts that leave the same counts tie exactly.
    """
    c = np.arange(n + 1, dtype=np.float64)
    c *= np.log2(np.maximum(c, 1))
    scale = 2.0 ** (61 - math.frexp(float(c[-1]))[1])
    return np.rint(c * scale).astype(np.int64), scale


def _mdl(x: Floats, codes: npt.NDArray[Any]) -> Floats:
    if int(codes.max()) >= codes.size:
        codes = np.unique(codes, return_inverse=True)[1]
    arity = int(codes.max()) + 1
    distinct, value = np.unique(x, return_inverse=True)
    keys = value.astype(np.int64) * arity + codes.astype(np.int64)
    entries, counts = np.unique(keys, return_counts=True)
    return _mdl_entries(distinct, *np.divmod(entries, arity), counts)


def _mdl_entries(distinct: Floats, value: Ints, classes: Ints, counts: Ints) -> Floats:
    """Cut a column by how often each of its distinct numbers occurs with each class."""
    arity = int(classes.max()) + 1
    per_class = np.bincount(classes, counts, arity).astype(np.int64)
    table, scale = _fixed_point_c_log_c(int(counts.sum()))
    classes, counts, starts, lower, upper = _blocks(value, classes, counts, distinct)
    # The records of an entry's class before it, within its segment: at first all of the column.
    order = np.argsort(classes.astype(np.min_scalar_type(arity)), kind="stable")
    before = np.empty_like(counts)
    before[order] = counts[order].cumsum() - counts[order]
    before -= (per_class.cumsum() - per_class)[classes]
    # Only the classes of a segment are set and read, so a segment costs nothing for the others.
    tally = np.zeros(arity, dtype=np.int64)
    chosen: list[int] = []
    segments = [(0, lower.size + 1)]  # ranges of blocks
    while segments:
        begin, end = segments.pop()
        if end - begin < 2:
            continue
        entries = slice(starts[begin], starts[end])
        cls, weight, seen = classes[entries], counts[entries], before[entries]
        positions = starts[begin + 1 : end] - starts[begin]
        tally[cls] = 0
        np.add.at(tally, cls, weight)
        cut = _best_cut(weight, seen, tally[cls], positions, table, scale)
        if cut is None:
            continue
        position, middle = positions[cut], begin + cut + 1
        tally[cls] = 0
        np.add.at(tally, cls[:position], weight[:position])
        seen[position:] -= tally[
            cls[position:]
        ]  # a view into `before`: the right part starts from none
        chosen.append(middle - 1)
        segments += [(begin, middle), (middle, end)]
    chosen.sort()
    return midpoints(lower[chosen], upper[chosen])


def _best_cut(
    counts: Ints, seen: Ints, total: Ints, positions: Ints, table: Ints, scale: float
) -> int | None:
    """Give the cut of least class entropy in a segment, or None if it does not pay for itself.

    With f(c) = c log2 c, n records with class counts c_j hold f(n) - sum f(c_j) bits. Entry by
    entry a class count grows on the left and shrinks on the right, so both sums are running sums.
    """
    through = seen + counts
    left_sum = (table[through] - table[seen]).cumsum()
    right_loss = (table[total - seen] - table[total - through]).cumsum()
    size = counts.cumsum()
    n, at = int(size[-1]), positions - 1
    left_n = size[at]
    left = table[left_n] - left_sum[at]
    right = table[n - left_n] - (left_sum[-1] - right_loss[at])
    score = left + right
    # Scores within the rounding of the table are equal, and the first of equals is taken.
    k = int(np.count_nonzero(seen == 0))
    slack = (int(table[n]) >> 50) + 2 * k + 4
    cut = int((score <= score.min() + slack).argmax())

    position, n1 = positions[cut], int(left_n[cut])
    k1 = int(np.count_nonzero(seen[:position] == 0))
    k2 = int(np.count_nonzero(through[position:] == total[position:]))
    bits, bits1, bits2 = (int(b) / scale for b in (table[n] - left_sum[-1], left[cut], right[cut]))
    # log2(3^k - 2), where the 2 is below a float's precision from k = 40 on
    classes = math.log2(3**k - 2) if k < 40 else k * math.log2(3)
    cost = math.log2(n - 1) + classes - (k * bits / n - k1 * bits1 / n1 - k2 * bits2 / (n - n1))
    return cut if bits - bits1 - bits2 > cost else None
