"""Tables of several selections in one pass equal those of NumPy, for any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.counts.distinct import linked_counts

TYPES = (np.uint8, np.uint16, np.uint32)


def brute_force(codes, times, arities, groups):
    cells = [np.zeros(0, np.int64)]
    for sets, (columns, low, high) in groups:
        chosen = np.ones(len(codes[0]), bool)
        for column in set(columns):
            own = np.zeros(len(codes[0]), bool)
            for c, a, b in zip(columns, low, high, strict=True):
                if c == column:
                    own |= (codes[c] >= a) & (codes[c].astype(int) <= b)
            chosen &= own
        for axes in sets:
            cell = np.zeros(chosen.sum(), np.int64)
            for c in axes:
                cell = cell * arities[c] + codes[c][chosen]
            table = np.zeros(np.prod([arities[c] for c in axes], dtype=np.int64), np.int64)
            np.add.at(table, cell, 1 if times is None else times[chosen].astype(np.int64))
            cells.append(table)
    return np.concatenate(cells)


@st.composite
def ranges(draw, arities):
    """Conditions: no, one or several ranges of some columns, in order and apart."""
    columns, low, high = [], [], []
    for c in draw(st.lists(st.integers(0, len(arities) - 1), max_size=3, unique=True)):
        ends = sorted(draw(st.sets(st.integers(0, arities[c] - 1), max_size=6)))
        pairs = list(zip(ends[::2], ends[1::2] or ends[:1], strict=False))
        for a, b in pairs or [(0, -1)]:
            columns.append(c), low.append(a), high.append(b)
    return columns, low, high


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_it_counts_what_numpy_counts(data):
    arities = data.draw(st.lists(st.integers(1, 600), min_size=1, max_size=5))
    n = data.draw(st.sampled_from([0, 1, 63, 64, 65, 1023, 1024, 1025, 3000]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    codes = []
    for arity in arities:
        fitting = [t for t in TYPES if arity - 1 <= np.iinfo(t).max]
        kind = data.draw(st.sampled_from(fitting))
        codes.append(np.minimum(rng.geometric(0.1, n) - 1, arity - 1).astype(kind))
    times = data.draw(st.sampled_from([None, 1000, 2**32 - 1]))
    if times is not None:
        times = rng.integers(1, times, n, np.uint32, endpoint=True)
    columns = st.lists(st.integers(0, len(arities) - 1), max_size=min(2, len(arities)), unique=True)
    groups = [
        (data.draw(st.lists(columns, max_size=3)), data.draw(ranges(arities)))
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    sizes = np.array(arities, np.int64)
    found = linked_counts(codes, times, sizes, groups, 1)
    assert found.dtype == np.int64
    assert (found == brute_force(codes, times, arities, groups)).all()


@pytest.mark.parametrize("arity", [3, 200, 255, 256])
@pytest.mark.parametrize("kind", TYPES)
def test_many_records_and_threads(arity, kind):
    """Blocks, copies of small tables, parts of threads, the ends of types."""
    rng = np.random.default_rng(arity)
    n = 300_000
    codes = [rng.integers(0, arity, n).astype(kind), rng.integers(0, 7, n).astype(np.uint8)]
    times = rng.integers(1, 9, n).astype(np.uint32)
    groups = [
        ([[0], [1], [1, 0], []], ([], [], [])),
        ([[0], [0, 1]], ([0, 1, 1], [0, 0, 5], [arity - 1, 1, 6])),
        ([[1]], ([0], [arity - 1], [arity - 1])),
        ([[0]], ([1], [0], [-1])),
    ]
    sizes = np.array([arity, 7])
    wanted = brute_force(codes, times, sizes, groups)
    for n_jobs in (1, 2, 3, 8):
        assert (linked_counts(codes, times, sizes, groups, n_jobs) == wanted).all()
    assert (
        linked_counts(codes, None, sizes, groups, 3) == brute_force(codes, None, sizes, groups)
    ).all()
