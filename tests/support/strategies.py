"""Random tables, and the ways tests hand them over."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import counts as oracles
from tacit import Table

JOBS = (1, 2, 3, 7, 12)  # small dense pair counts are shared out up to 8 threads, tiled beyond
VALUE_TYPES = (np.uint16, np.uint32)

# Sums of these are exact, so that weighted counts can be compared with ==.
exact_weights = st.integers(0, 32).map(lambda n: n / 4)
# Kernels take numbers below the smallest normal one for 0.
any_weights = st.floats(0, 1e6, allow_nan=False, allow_subnormal=False)


@dataclass(frozen=True)
class Data:
    """A dense table of codes with what a test needs to count it."""

    rows: list[tuple[int, ...]]
    arities: list[int]
    defaults: list[int]
    weights: np.ndarray | None = None
    chosen: np.ndarray | None = None

    @property
    def n_values(self):
        return sum(self.arities) - len(self.arities)

    @property
    def lists(self):
        return oracles.stored_lists(self.rows, self.arities, self.defaults)

    @property
    def names(self):
        return [f"c{c}" for c in range(len(self.arities))]

    def csr(self, dtype):
        return oracles.csr(self.lists, dtype)

    def joint(self, columns):
        return oracles.joint_counts(self.rows, self.arities, columns, self.weights, self.chosen)

    def total(self):
        rows = oracles.chosen_rows(len(self.rows), self.chosen)
        return len(rows) if self.weights is None else sum(self.weights[r] for r in rows)

    def frame(self):
        """Return enumerations, which declare all labels, also those that do not occur."""
        return pl.DataFrame(
            {
                name: pl.Series(
                    [label(row[c]) for row in self.rows],
                    dtype=pl.Enum([label(code) for code in range(self.arities[c])]),
                )
                for c, name in enumerate(self.names)
            }
        )

    def table(self):
        """Return the Table with exactly these labels, codes and defaults."""
        defaults = dict(zip(self.names, map(label, self.defaults), strict=True))
        return Table(self.frame(), defaults=defaults, weights=self.weights)

    def with_(self, **changes):
        return replace(self, **changes)


def label(code):
    return f"v{code}"


@st.composite
def subsets(draw, n):
    """Ascending places in [0, n), possibly none."""
    mask = draw(hnp.arrays(np.bool_, n))
    return np.flatnonzero(mask).astype(np.int64)


@st.composite
def defaults_of(draw, arities):
    return [draw(st.integers(0, arity - 1)) for arity in arities]


@st.composite
def data(draw, max_rows=24, max_columns=7, weights=exact_weights, with_chosen=True):
    """Tables of mixed arities 1 … 6 with any defaults; many values are at their default."""
    n_columns = draw(st.integers(1, max_columns))
    n_rows = draw(st.integers(1, max_rows))
    arities = draw(st.lists(st.integers(1, 6), min_size=n_columns, max_size=n_columns))
    defaults = draw(defaults_of(arities))
    step = st.integers(0, 5)
    steps = draw(hnp.arrays(np.int64, (n_rows, n_columns), elements=step, fill=st.just(0)))
    codes = (steps + np.array(defaults)) % np.array(arities)
    drawn_weights = None
    if weights is not None and draw(st.booleans()):
        drawn_weights = np.array(
            draw(st.lists(weights, min_size=n_rows, max_size=n_rows)), np.float64
        )
    chosen = draw(st.none() | subsets(n_rows)) if with_chosen else None
    return Data([tuple(row) for row in codes.tolist()], arities, defaults, drawn_weights, chosen)


def assert_identical(actual, expected):
    """Arrays are the same to the bit: type, shape and contents."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


def for_all_jobs(kernel, jobs=JOBS):
    """Run kernel(n_jobs) for several thread counts; all results must be the same to the bit."""
    first, *others = (kernel(n_jobs) for n_jobs in jobs)
    for other in others:
        if isinstance(first, tuple):
            for a, b in zip(first, other, strict=True):
                assert_identical(b, a)
        else:
            assert_identical(other, first)
    return first
