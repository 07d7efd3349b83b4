"""The k-means kernels against dense NumPy, for every number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.strategies import VALUE_TYPES, assert_identical, for_all_jobs
from tacit import _core

JOBS = (1, 2, 5)
examples = settings(max_examples=60)
# Quarters: sums and squares of a few of them are exact, so that ties are ties.
quarters = st.integers(-8, 8).map(lambda n: n / 4)


class Case:
    """Dense rows and centres, and the arrays that kernels take of them."""

    def __init__(self, rows, centres, kind=np.float64, ids=np.uint16, weights=None):
        self.rows = np.asarray(rows, np.float64)
        self.centres = np.asarray(centres, np.float64)
        self.weights = weights
        places = [np.flatnonzero(row) for row in self.rows]
        self.indptr = np.concatenate(([0], np.cumsum([len(p) for p in places]))).astype(np.int64)
        self.values = np.concatenate([*places, []]).astype(ids)
        self.x = None if kind is None else self.rows[self.rows != 0].astype(kind)
        self.norms = np.square(self.rows).sum(axis=1)
        self.base = np.square(self.centres).sum(axis=1)
        self.corrections = -2.0 * self.centres

    @property
    def points(self):
        return _core.Points(self.indptr, self.values, self.x, self.norms)

    @property
    def given(self):
        return self.points, self.base, self.corrections

    @property
    def own_weights(self):
        return np.ones(len(self.rows)) if self.weights is None else self.weights

    def distances(self):
        return np.square(self.rows[:, None, :] - self.centres[None]).sum(axis=2)

    def nearest(self):
        """Return the nearest centre, the lowest of several that are equally near."""
        distances = self.distances()
        return np.argmax(distances <= distances.min(axis=1, keepdims=True) + 1e-10, axis=1)

    def assign(self, jobs=1, previous=None, bounds=(None, None, None), prune=False):
        labels = np.full(len(self.rows), -1, np.int32)
        tally = _core.kmeans_assign(*self.given, previous, labels, *bounds, prune, jobs)
        return labels, tally


@st.composite
def cases(draw, most_clusters=70):
    m, n = draw(st.integers(1, 25)), draw(st.integers(1, 9))
    k = draw(st.integers(1, 6) | st.integers(1, most_clusters))
    kind = draw(st.sampled_from([None, np.float32, np.float64]))
    numbers = quarters if kind is not None else st.sampled_from([0.0, 1.0])
    rows = draw(hnp.arrays(np.float64, (m, n), elements=numbers, fill=st.just(0.0)))
    centres = draw(hnp.arrays(np.float64, (k, n), elements=quarters, fill=st.just(0.0)))
    weights = draw(st.none() | hnp.arrays(np.float64, m, elements=st.integers(0, 8).map(float)))
    return Case(rows, centres, kind, draw(st.sampled_from(VALUE_TYPES)), weights)


def random_case(m, n, k, kind=np.float64, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(m, n)) * (rng.random((m, n)) < density)
    if kind is None:
        rows = (rows != 0).astype(float)
    elif kind == np.float32:
        rows = rows.astype(np.float32).astype(float)
    return Case(rows, rng.normal(size=(k, n)) * 0.5, kind, weights=rng.random(m))


@given(case=cases())
@examples
def test_labels_equal_the_oracle(case):
    labels = for_all_jobs(lambda jobs: case.assign(jobs)[0], JOBS)
    np.testing.assert_array_equal(labels, case.nearest())


@pytest.mark.parametrize("kind", [None, np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 7, 8, 9, 20, 32, 33, 64, 65, 100])
def test_labels_for_any_number_of_clusters(k, kind):
    case = random_case(300, 40, k, kind)
    labels, (changed, scanned, _) = case.assign()
    np.testing.assert_array_equal(labels, case.nearest())
    assert (changed, scanned) == (0, 300)


@pytest.mark.parametrize("scale", [1e-140, 1e-40, 1e-20, 1e-3, 1.0, 1e10, 1e30, 1e100])
def test_labels_for_numbers_of_any_size(scale):
    case = random_case(200, 12, 20)
    scaled = Case(case.rows * scale, case.centres * scale)
    np.testing.assert_array_equal(scaled.assign()[0], case.nearest())


@pytest.mark.parametrize("kind", [None, np.float64])
def test_what_single_precision_cannot_tell_is_told_by_double_precision(kind):
    case = random_case(400, 30, 1, kind)
    rng = np.random.default_rng(1)
    near = case.centres + 1e-10 * rng.normal(size=(24, 30))
    close = Case(case.rows, near, kind)
    labels, (_, scanned, rechecked) = close.assign()
    expected = np.argmin(np.square(near).sum(axis=1) - 2 * case.rows @ near.T, axis=1)
    assert (labels == expected).mean() > 0.99  # but for what double precision cannot tell
    assert rechecked == scanned == 400
    assert case.assign()[1][2] == 0


def test_long_records_are_told_apart_in_single_precision():
    case = random_case(60, 3000, 20, density=1.0)
    labels, (_, _, rechecked) = case.assign()
    np.testing.assert_array_equal(labels, case.nearest())
    assert rechecked < 30


def test_equal_centres_give_the_lowest_label():
    case = random_case(100, 10, 5)
    twice = Case(case.rows, case.centres[[3, 0, 3, 0, 1, 1, 4, 2] * 9])
    assert set(twice.assign()[0].tolist()) <= {0, 1, 4, 6, 7}
    np.testing.assert_array_equal(twice.assign()[0], twice.nearest())


@given(case=cases())
@examples
def test_distances_equal_the_oracle(case):
    out = np.empty((len(case.rows), len(case.centres)))
    closest = case.norms

    def measure(jobs):
        left = _core.kmeans_distances(*case.given, closest, case.weights, out, jobs)
        return out.copy(), left

    distances, left = for_all_jobs(measure, JOBS)
    expected = case.distances()
    np.testing.assert_allclose(distances, expected, atol=1e-12)
    kept = np.minimum(closest[:, None], expected) * case.own_weights[:, None]
    np.testing.assert_allclose(left, kept.sum(axis=0), atol=1e-9)
    assert (_core.kmeans_distances(*case.given, None, None, out, 1) == 0).all()


@given(case=cases(), pick=st.data())
@examples
def test_own_distances_equal_the_oracle(case, pick):
    m = len(case.rows)
    labels = np.array(
        pick.draw(st.lists(st.integers(0, len(case.centres) - 1), min_size=m, max_size=m)), np.int32
    )
    own = for_all_jobs(lambda jobs: _core.kmeans_own_distances(*case.given, labels, jobs), JOBS)
    np.testing.assert_allclose(own, case.distances()[np.arange(m), labels], atol=1e-12)


def test_a_record_is_at_no_distance_from_itself():
    case = random_case(50, 20, 1)
    own = Case(case.rows * 1e3 / 3, case.rows * 1e3 / 3)
    labels = np.arange(50, dtype=np.int32)
    assert (_core.kmeans_own_distances(*own.given, labels, 1) == 0).all()
    out = np.empty((50, 50))
    _core.kmeans_distances(*own.given, None, None, out, 1)
    assert (np.diag(out) == 0).all()
    assert (out > 0).sum() == 50 * 49


def oracle_sums(case, labels, k):
    hot = np.eye(k)[labels] * case.own_weights[:, None]
    return hot.T @ case.rows, hot.sum(axis=0)


@given(case=cases(), pick=st.data())
@examples
def test_sums_equal_the_oracle(case, pick):
    m, k, n = len(case.rows), *case.centres.shape
    some = st.lists(st.integers(0, k - 1), min_size=m, max_size=m)
    before, after = (np.array(pick.draw(some), np.int32) for _ in range(2))

    def add_up(jobs):
        sums, totals = np.full((k, n), 7.0), np.full(k, 7.0)
        _core.kmeans_sums(case.points, case.weights, before, None, sums, totals, jobs)
        first = sums.copy(), totals.copy()
        _core.kmeans_sums(case.points, case.weights, after, before, sums, totals, jobs)
        return *first, sums, totals

    found = for_all_jobs(add_up, JOBS)
    for actual, expected in zip(
        found, (*oracle_sums(case, before, k), *oracle_sums(case, after, k)), strict=True
    ):
        np.testing.assert_array_equal(actual, expected)  # quarters add up exactly


@pytest.mark.parametrize("kind", [None, np.float32, np.float64])
def test_many_blocks_do_not_depend_on_the_threads(kind):
    case = random_case(30_000, 60, 9, kind)
    labels = for_all_jobs(lambda jobs: case.assign(jobs)[0])
    np.testing.assert_array_equal(labels, case.nearest())
    other = np.where(np.arange(30_000) % 3, labels, 4).astype(np.int32)

    def add_up(jobs):
        sums, totals = np.zeros((9, 60)), np.zeros(9)
        _core.kmeans_sums(case.points, case.weights, other, None, sums, totals, jobs)
        first = sums.copy(), totals.copy()
        _core.kmeans_sums(case.points, case.weights, labels, other, sums, totals, jobs)
        return *first, sums, totals

    found = for_all_jobs(add_up)
    for actual, expected in zip(
        found, (*oracle_sums(case, other, 9), *oracle_sums(case, labels, 9)), strict=True
    ):
        np.testing.assert_allclose(actual, expected, atol=1e-8)

    def measure(jobs):
        out = np.empty((30_000, 9))
        return out, _core.kmeans_distances(*case.given, case.norms, case.weights, out, jobs)

    for_all_jobs(measure)
    for_all_jobs(lambda jobs: _core.kmeans_own_distances(*case.given, labels, jobs))


@given(case=cases(most_clusters=40), pick=st.data())
@examples
def test_bounds_never_change_a_label(case, pick):
    m, k = len(case.rows), len(case.centres)
    bounds = np.zeros(m, np.float32), np.zeros(m, np.float32), np.zeros((3, k))
    upper, lower, moves = bounds
    previous, _ = case.assign(bounds=bounds)
    steps = pick.draw(st.lists(st.sampled_from([0.0, 1e-8, 1e-3, 0.25, 1.0]), max_size=4))
    for size in steps:
        rng = np.random.default_rng(pick.draw(st.integers(0, 9)))
        new = case.centres + size * rng.normal(size=case.centres.shape)
        drift = np.sqrt(np.square(new - case.centres).sum(axis=1)) * (1 + 1e-9)
        moves[0] += drift
        moves[1] += [np.delete(drift, j).max(initial=0) for j in range(k)]
        gaps = np.sqrt(np.square(new[:, None] - new[None]).sum(axis=2)) + np.diag([np.inf] * k)
        moves[2] = gaps.min(axis=1) / 2 * (1 - 1e-9)
        case = Case(case.rows, new, case.x.dtype if case.x is not None else None)
        plain, _ = case.assign()
        labels, (changed, scanned, _) = case.assign(previous=previous, bounds=bounds, prune=True)
        assert_identical(labels, plain)
        assert changed == (labels != previous).sum()
        assert changed <= scanned <= m
        distances = np.sqrt(case.distances())
        own = distances[np.arange(m), labels]
        distances[np.arange(m), labels] = np.inf
        assert (upper + moves[0, labels] >= own * (1 - 1e-12)).all()
        others = np.minimum(distances.min(axis=1), 1e18)
        assert (np.minimum(lower - moves[1, labels], 1e18) <= others * (1 + 1e-12)).all()
        previous = labels


def test_bounds_pass_over_records_that_stay():
    rng = np.random.default_rng(0)
    centres = 10 * np.eye(6)
    rows = centres[rng.integers(0, 6, 600)] + rng.normal(size=(600, 6))
    case = Case(rows, centres)
    bounds = np.zeros(600, np.float32), np.zeros(600, np.float32), np.zeros((3, 6))
    previous, (_, scanned, _) = case.assign(bounds=bounds)
    assert scanned == 600
    labels, tally = case.assign(previous=previous, bounds=bounds, prune=True)
    assert_identical(labels, previous)
    assert tally == (0, 0, 0)


def test_no_records_and_no_values():
    none = Case(np.zeros((0, 3)), np.ones((2, 3)))
    assert none.assign(2)[1] == (0, 0, 0)
    empty = Case(np.zeros((4, 3)), [[1, 1, 1], [0, 0, 1], [2, 0, 0]])
    assert empty.assign()[0].tolist() == [1] * 4
    sums, totals = np.ones((3, 3)), np.ones(3)
    _core.kmeans_sums(none.points, None, np.zeros(0, np.int32), None, sums, totals, 2)
    assert not sums.any()
    assert not totals.any()


def test_arrays_that_do_not_fit_are_refused():
    case = random_case(5, 3, 2)
    labels, short = np.zeros(5, np.int32), np.zeros(4, np.int32)
    sums = np.zeros((2, 3))
    none = (None, None, None)
    with pytest.raises(ValueError, match="labels must be as many"):
        _core.kmeans_assign(*case.given, None, short, *none, False, 1)
    with pytest.raises(ValueError, match="prune needs previous"):
        _core.kmeans_assign(*case.given, None, labels, *none, True, 1)
    with pytest.raises(ValueError, match="upper goes with lower"):
        _core.kmeans_assign(*case.given, None, labels, np.zeros(5, "f4"), None, None, False, 1)
    with pytest.raises(ValueError, match="same centres"):
        _core.kmeans_own_distances(case.points, case.base[:1], case.corrections, labels, 1)
    with pytest.raises(ValueError, match="x must be as many as values"):
        _core.Points(case.indptr, case.values, case.x, None)
    with pytest.raises(ValueError, match="same clusters"):
        _core.kmeans_sums(case.points, None, labels, None, sums, np.zeros(3), 1)
    points = _core.Points(case.indptr, case.values, case.x.astype(np.int64), case.norms)
    with pytest.raises(TypeError, match="x must be float32"):
        _core.kmeans_own_distances(points, case.base, case.corrections, labels, 1)
    with pytest.raises(ValueError, match="out must have a column"):
        _core.kmeans_distances(*case.given, None, None, np.zeros((5, 3)), 1)
