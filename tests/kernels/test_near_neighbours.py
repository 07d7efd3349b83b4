"""The search for neighbours against all distances, for every number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from oracles import neighbors as oracle
from support.scripts import run
from support.strategies import for_all_jobs
from tacit import _core

JOBS = (1, 2, 5)
KINDS = [(False, np.float64), (False, np.float32), (True, np.float64), (True, np.float32)]
examples = settings(max_examples=40)


class Case:
    """Objects, queries and coordinates, as the kernel takes them."""

    def __init__(self, objects, queries, kind=(False, np.float64), n_coords=3, cells=None, seed=0):
        self.objects = np.asarray(objects, np.float64)
        self.queries = np.asarray(queries, np.float64)
        self.kind = kind
        self.width = self.objects.shape[1]
        random = np.random.default_rng(seed).normal(size=(self.width, self.width))
        self.basis = np.linalg.qr(random)[0][:, :n_coords]
        self.coords = np.ascontiguousarray(self.objects @ self.basis)
        self.own_coords = np.ascontiguousarray(self.queries @ self.basis)
        n_split = 1 + seed % self.basis.shape[1]
        self.index = _core.NearNeighbours(
            self.parts(self.objects), self.width, self.coords, n_split, cells, 2
        )

    def parts(self, rows):
        is_sparse, dtype = self.kind
        if not is_sparse:
            return rows.astype(dtype)
        csr = sparse.csr_array(rows.astype(dtype))
        return csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data

    def search(self, k, jobs=1, grid=(None,) * 4, reach=0.0, narrow=(None, None, 0.0)):
        queries = self.parts(self.queries)
        return self.index.search(queries, self.own_coords, k, *grid, reach, *narrow, jobs)[:4]

    def narrow(self, n_numbers, jobs=1):
        """Return coordinates and the length of what they leave of a row, for both sides."""
        random = np.random.default_rng(9).normal(size=(self.width, self.width))
        basis = np.linalg.qr(random)[0][:, :n_numbers]
        objects, queries = (
            np.column_stack((z, np.sqrt(np.maximum((x * x).sum(axis=1) - (z * z).sum(axis=1), 0))))
            for x, z in ((x, x @ basis) for x in (self.objects, self.queries))
        )
        farthest = float(np.sqrt((objects * objects).sum(axis=1).max(initial=0)))
        return self.index.narrow(objects, farthest, jobs), queries, 1e-6


def quarters(rng, shape, most=8, density=1.0):
    """Numbers whose squares add up exactly, in single precision too: ties are ties."""
    return rng.integers(-most, most + 1, shape) / 4 * (rng.random(shape) < density)


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 90) | st.integers(64, 400) | st.sampled_from([1024, 1025, 1500]))
    m, d = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    most, density = draw(st.sampled_from([1, 8, 100])), draw(st.sampled_from([0.2, 1.0]))
    objects = quarters(rng, (n, d), most, density)
    queries = quarters(rng, (m, d), most, density)
    if draw(st.booleans()):  # queries that are objects
        queries = objects[rng.integers(0, n, m)]
    k = draw(st.integers(1, min(n, 12)) | st.just(n) | st.integers(1, n))
    kind = draw(st.sampled_from(KINDS))
    n_coords, seed = draw(st.integers(1, min(d, 4))), draw(st.integers(0, 3))
    return Case(objects, queries, kind, n_coords, seed=seed), k


def check(case, k):
    distances, objects, turns, lonely = for_all_jobs(lambda jobs: case.search(k, jobs), JOBS)
    expected, numbers = oracle.nearest(case.objects, case.queries, k)
    np.testing.assert_allclose(distances, expected, rtol=1e-14)
    np.testing.assert_array_equal(objects, numbers)
    assert not turns.any()
    assert not lonely.any()


@given(case=cases())
@examples
def test_the_nearest_equal_the_oracle(case):
    check(*case)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("n", [1, 15, 16, 17, 63, 64, 65, 1023, 1025, 5000])
def test_any_number_of_objects(n, kind):
    rng = np.random.default_rng(n)
    check(Case(quarters(rng, (n, 7)), quarters(rng, (60, 7)), kind), min(n, 6))


@pytest.mark.parametrize("kind", KINDS[::2], ids=str)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 54, 300])
def test_any_number_of_columns(width, kind):
    rng = np.random.default_rng(width)
    centres = rng.normal(size=(5, width)) * 4
    drawn = centres[rng.integers(0, 5, 900)] + rng.normal(size=(900, width))
    case = Case(drawn[:850], drawn[850:], kind, min(width, 3))
    distances, objects, *_ = case.search(10)
    expected, numbers = oracle.nearest(case.objects, case.queries, 10)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)
    np.testing.assert_array_equal(objects, numbers)


@pytest.mark.parametrize("kind", KINDS[::2], ids=str)
@pytest.mark.parametrize("scale", [1e-300, 1e-140, 1e-40, 1e-3, 1e10, 1e40, 1e150, 1e300])
def test_numbers_of_any_size(scale, kind):
    rng = np.random.default_rng(1)
    objects, queries = rng.normal(size=(400, 6)), rng.normal(size=(30, 6))
    expected, numbers = oracle.nearest(objects, queries, 5)
    distances, found, *_ = Case(objects * scale, queries * scale, kind).search(5)
    np.testing.assert_array_equal(found, numbers)
    np.testing.assert_allclose(distances / scale, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS[::2], ids=str)
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_differences_that_single_precision_cannot_tell(offset, kind):
    rng = np.random.default_rng(2)
    objects = offset + quarters(rng, (700, 5), 100)
    queries = offset + quarters(rng, (50, 5), 100)
    check(Case(objects, queries, kind), 7)


def test_objects_that_are_almost_alike():
    rng = np.random.default_rng(3)
    base = rng.normal(size=(1, 20))
    objects = base + 1e-9 * rng.normal(size=(600, 20))
    queries = base + 1e-9 * rng.normal(size=(30, 20))
    case = Case(objects, queries)
    expected, numbers = oracle.nearest(case.objects, case.queries, 5)
    distances, found, *_ = case.search(5)
    np.testing.assert_array_equal(found, numbers)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS[::2], ids=str)
@pytest.mark.parametrize("far", [1e3, 1e8, 1e20, 1e100])
def test_queries_far_from_all_objects(far, kind):
    rng = np.random.default_rng(4)
    objects = quarters(rng, (500, 4))
    queries = np.vstack((far * rng.normal(size=(20, 4)), quarters(rng, (20, 4))))
    case = Case(objects, queries, kind)
    distances, found, *_ = case.search(4)
    expected, numbers = oracle.nearest(objects, queries, 4)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)
    np.testing.assert_array_equal(found[20:], numbers[20:])


@pytest.mark.parametrize("kind", KINDS[::2], ids=str)
def test_duplicates_are_found_in_the_order_of_their_numbers(kind):
    objects = np.repeat([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]], 5000, axis=0)[::-1]
    case = Case(objects, [[4.0, 0.0, 0.0], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], kind)
    distances, found, *_ = case.search(150)
    assert (distances[:2] == 0).all()
    np.testing.assert_array_equal(found[0], np.arange(150))
    np.testing.assert_array_equal(found[1], 5000 + np.arange(150))
    np.testing.assert_array_equal(found[2], 5000 + np.arange(150))


@pytest.mark.parametrize("kind", KINDS[::2], ids=str)
def test_rows_of_zeros(kind):
    case = Case(np.zeros((130, 3)), np.array([[0.0, 0, 0], [0, 3, 4]]), kind)
    distances, found, *_ = case.search(2)
    assert distances.tolist() == [[0, 0], [5, 5]]
    assert found.tolist() == [[0, 1], [0, 1]]


@given(case=cases(), n_numbers=st.integers(1, 4))
@examples
def test_narrow_numbers_change_nothing(case, n_numbers):
    case, k = case
    own = case.search(k)
    narrow = case.narrow(min(n_numbers, case.width))
    found = for_all_jobs(lambda jobs: case.search(k, jobs, narrow=narrow), JOBS)
    for one, other in zip(own, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(
    ("n_numbers", "hidden"), [(12, 5), (2, 40), (39, 40)], ids=["of use", "of none", "all but one"]
)
def test_narrow_numbers_that_are_of_use_or_not(kind, n_numbers, hidden):
    rng = np.random.default_rng(6)
    drawn = rng.normal(size=(6600, hidden)) @ rng.normal(size=(hidden, 40))
    case = Case(drawn[:6000], drawn[6000:], kind)
    expected, numbers = oracle.nearest(case.objects, case.queries, 3)
    distances, objects, *_ = case.search(3, narrow=case.narrow(n_numbers))
    np.testing.assert_array_equal(objects, numbers)
    np.testing.assert_allclose(distances, expected, rtol=1e-6 if np.float32 in kind else 1e-12)


def test_narrow_numbers_that_do_not_fit():
    case, other = Case(np.eye(4), np.eye(4)), Case(np.eye(4), np.eye(4))
    with pytest.raises(ValueError, match="a row for each object"):
        case.index.narrow(np.zeros((3, 2)), 1.0, 1)
    for narrow in (
        other.narrow(2),
        (case.narrow(2)[0], None, 0.0),
        (case.narrow(2)[0], np.zeros((4, 2)), 0.0),
        (case.narrow(2)[0], np.zeros((3, 3)), 0.0),
    ):
        with pytest.raises(ValueError, match="must fit queries and objects"):
            case.search(1, narrow=narrow)


@pytest.mark.parametrize("k", [1, 10, 100])
@pytest.mark.parametrize("width", [3, 40])
def test_many_queries_that_boxes_do_not_help(k, width):
    rng = np.random.default_rng(7)
    case = Case(rng.normal(size=(3000, width)), rng.normal(size=(1000, width)), n_coords=1)
    expected, numbers = oracle.nearest(case.objects, case.queries, k)
    distances, objects, *_ = for_all_jobs(lambda jobs: case.search(k, jobs), JOBS)
    np.testing.assert_array_equal(objects, numbers)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


@st.composite
def grid_cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m, d = draw(st.integers(1, 700)), draw(st.integers(1, 40)), draw(st.integers(1, 6))
    objects, queries = quarters(rng, (n, d), 40), quarters(rng, (m, d), 48)
    p = draw(st.integers(1, min(d, 3)))
    resolution = rng.integers(1, draw(st.sampled_from([4, 30, 300])) + 1, p).astype(np.int32)
    # The grid is that of the first columns: an isometry bound, with exact edges.
    lower, upper = objects[:, :p].min(axis=0), objects[:, :p].max(axis=0)
    widths = np.where(upper > lower, (upper - lower) / resolution, 1.0)

    def on_grid(rows):
        places = (rows[:, :p] - lower) / widths
        return places, np.clip(np.floor(places), 0, resolution - 1).astype(np.int32)

    cells = on_grid(objects)[1]
    places, own = on_grid(queries)
    case = Case(objects, queries, draw(st.sampled_from(KINDS)), min(d, 3), cells)
    k, reach = draw(st.integers(1, min(n, 9))), draw(st.sampled_from([0.0, 0.3, 1.0]))
    return case, k, cells, (own, places, resolution, widths), reach


@given(drawn=grid_cases())
@examples
def test_the_nearest_on_a_grid_equal_the_oracle(drawn):
    case, k, cells, grid, reach = drawn
    distances, objects, turns, lonely = for_all_jobs(
        lambda jobs: case.search(k, jobs, grid, reach), JOBS
    )
    expected, numbers, own_turns, alone = oracle.near(
        case.objects, case.queries, k, cells, *grid, reach
    )
    np.testing.assert_allclose(distances, expected, rtol=1e-14)
    np.testing.assert_array_equal(objects, numbers)
    np.testing.assert_array_equal(turns, own_turns)
    np.testing.assert_array_equal(lonely.astype(bool), alone)
    if reach == 1.0:
        exact, _ = oracle.nearest(case.objects, case.queries, k)
        np.testing.assert_allclose(distances, exact, rtol=1e-14)


def test_answers_do_not_depend_on_other_queries():
    rng = np.random.default_rng(5)
    case = Case(rng.normal(size=(3000, 8)), rng.normal(size=(100, 8)))
    distances, found, *_ = case.search(5)
    for q in range(0, 100, 7):
        one = Case(case.objects, case.queries[q : q + 1])
        own, numbers, *_ = one.search(5)
        assert own.tobytes() == distances[q].tobytes()
        assert numbers.tobytes() == found[q].tobytes()


def test_no_queries():
    distances, found, turns, lonely = Case(np.eye(3), np.empty((0, 3))).search(2)
    assert distances.shape == found.shape == (0, 2)
    assert len(turns) == len(lonely) == 0


@pytest.mark.parametrize("k", [0, 4])
def test_k_must_be_one_of_the_objects(k):
    with pytest.raises(ValueError, match="k must be from 1"):
        Case(np.eye(3), np.eye(3)).search(k)


def test_arrays_that_do_not_fit():
    case = Case(np.eye(3), np.eye(3))
    rest = 0.0, None, None, 0.0, 1
    with pytest.raises(TypeError, match="of the kind of the objects"):
        case.index.search(np.eye(3, dtype=np.float32), case.own_coords, 1, *(None,) * 4, *rest)
    with pytest.raises(ValueError, match="columns"):
        case.index.search(np.eye(4), case.own_coords, 1, *(None,) * 4, *rest)
    with pytest.raises(ValueError, match="coords"):
        case.index.search(np.eye(3), np.zeros((3, 2)), 1, *(None,) * 4, *rest)
    with pytest.raises(ValueError, match="grid"):
        case.search(1, grid=(np.zeros((3, 1), np.int32), *(None,) * 3))
    with pytest.raises(ValueError, match="a row for each object"):
        _core.NearNeighbours(np.eye(3), 3, np.zeros((2, 2)), 1, None, 1)
    with pytest.raises(ValueError, match="n_split"):
        _core.NearNeighbours(np.eye(3), 3, np.zeros((3, 2)), 3, None, 1)


INTERRUPT = """
    import os, signal, threading, time
    import numpy as np
    from tacit import _core

    rows = np.random.default_rng(0).normal(size=(40_000, 60))
    coords = np.zeros((40_000, 1))  # which rule nothing out
    index = _core.NearNeighbours(rows, 60, coords, 1, None, 1)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        while True:
            index.search(rows, coords, 5, None, None, None, None, 0.0, None, None, 0.0, 2)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_an_interruption_ends_a_search():
    assert "interrupted" in run(INTERRUPT)
