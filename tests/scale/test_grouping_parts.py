"""Projection, grid and groups of records in partitions are those of all records in memory."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import tacit
from support.strategies import data
from tacit.scale import Partition, of_tables, partition
from tacit.similarity.grouping.partitioned import CellSorter, CellStatistic, TypeColumn

EXACT = ("randomized_svd", "randomized_pca", "exact_pca", "gaussian")  # to the last bit


@pytest.fixture(scope="module")
def visits():
    return tacit.datasets.load_visits().take(np.arange(3000))


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    names = [f"c{k}" for k in range(200)]
    chance = 1 / np.arange(2, 202)
    baskets = [
        [n for n, p in zip(names, chance, strict=True) if rng.random() < p] for _ in range(800)
    ]
    return tacit.Table.from_baskets(baskets)


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (500, 9))
    codes[:, 0] = codes[:, 1:4].sum(axis=1)
    return tacit.Table({f"c{k}": column.tolist() for k, column in enumerate(codes.T)})


def without(table, column):
    return table.select([name for name in table.schema.names if name != column])


def labels(table, column):
    return table.to_frame("polars")[column]


def cut(table, draw):
    cuts = draw.draw(st.lists(st.integers(0, table.n_records), max_size=4))
    ends = sorted({0, table.n_records, *cuts})
    return of_tables([table.take(np.arange(a, b)) for a, b in pairwise(ends)])


def same_matrix(one, other):
    assert sparse.issparse(one) == sparse.issparse(other)
    if not sparse.issparse(one):
        return np.array_equal(one, other)
    assert one.has_sorted_indices
    assert other.has_sorted_indices
    return np.array_equal(one.toarray(), other.toarray())


def assert_same_computation(one, other):
    for name in ("components_", "mean_"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(
        one.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-12, atol=1e-15
    )
    for name in ("lower", "upper", "resolution"):
        assert np.array_equal(getattr(one.grid_, name), getattr(other.grid_, name))
    assert np.array_equal(one.blocks_.keys, other.blocks_.keys)
    assert np.array_equal(one.blocks_.sizes, other.blocks_.sizes)
    assert (one.n_pairs_, one.density_) == (other.n_pairs_, other.density_)
    assert one.encoder_ == other.encoder_
    assert one.feature_names_in_.tolist() == other.feature_names_in_.tolist()


def assert_same_groups(whole, of_parts):
    assert of_parts.labels is None
    assert np.array_equal(whole.weights, of_parts.weights)
    assert np.array_equal(whole.types, of_parts.types)
    assert np.array_equal(whole.coords, of_parts.coords)
    assert same_matrix(whole.X, of_parts.X)


@pytest.mark.parametrize("projection", EXACT)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_narrow_tables_give_the_same_bits(visits, projection, n):
    model = tacit.SparseComputation(projection=projection, random_state=0)
    whole = clone(model).fit(without(visits, "region"))
    parts = partition(visits, n)
    of_parts = clone(model).fit(parts, "region")
    assert parts.cost.passes == 3 + (projection == "gaussian")  # which explains what it found
    assert_same_computation(whole, of_parts)
    assert np.array_equal(of_parts.transform(parts), whole.coords_)
    assert of_parts.forecast(5) == whole.forecast(5)
    for group_width in (1.0, 0.3, 0.0):
        groups = whole.group(labels(visits, "region"), group_width)
        of_partitions = of_parts.group("region", group_width)
        assert_same_groups(groups, of_partitions)
        assert np.array_equal(of_partitions.assign(parts), groups.labels)
        assert np.array_equal(of_partitions.assign(visits), groups.labels)
        assert_same_groups(
            whole.group(group_width=group_width), of_parts.group(group_width=group_width)
        )


def test_dense_numbers(dense):
    whole = tacit.SparseComputation(random_state=0).fit(without(dense, "c0"))
    of_parts = tacit.SparseComputation(random_state=0).fit(partition(dense, 4), "c0")
    assert not of_parts.encoder_.sparse
    assert_same_computation(whole, of_parts)
    for group_width in (1.0, 0.4, 0.0):
        groups = whole.group(labels(dense, "c0"), group_width)
        assert_same_groups(groups, of_parts.group("c0", group_width))
        assert groups.weights.max() > 1


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(
    ("projection", "passes"),
    [("randomized_svd", 6), ("randomized_pca", 11), ("approximate_pca", 6), ("exact_pca", 3)],
)
def test_wide_tables(wide, projection, passes, normalize):
    model = tacit.SparseComputation(
        projection=projection, normalize=normalize, n_rows=60, n_columns=80, random_state=3
    )
    whole = clone(model).fit(wide)
    for n in (1, 5):
        parts = partition(wide, n)
        of_parts = clone(model).fit(parts)
        assert parts.cost.passes == passes
        np.testing.assert_allclose(of_parts.components_, whole.components_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(of_parts.transform(parts), whole.coords_, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(
            of_parts.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-9
        )
        assert of_parts.n_pairs_ == whole.n_pairs_
        groups, of_partitions = whole.group(group_width=0.5), of_parts.group(group_width=0.5)
        assert np.array_equal(groups.weights, of_partitions.weights)
        np.testing.assert_allclose(groups.coords, of_partitions.coords, rtol=1e-9, atol=1e-10)
        assert same_matrix(groups.X, of_partitions.X)


@pytest.mark.parametrize(("n_rows", "n_columns"), [("auto", "auto"), (300, 20), (10, 190)])
def test_the_same_rows_are_drawn(wide, n_rows, n_columns):
    model = tacit.SparseComputation(
        projection="approximate_pca", n_rows=n_rows, n_columns=n_columns, random_state=0
    )
    whole, of_parts = clone(model).fit(wide), clone(model).fit(partition(wide, 6))
    np.testing.assert_allclose(of_parts.components_, whole.components_, rtol=1e-9, atol=1e-11)


@settings(max_examples=60)
@given(
    data(max_rows=14),
    st.data(),
    st.sampled_from([1.0, 0.6, 0.25, 0.0]),
    st.sampled_from([*EXACT, "none"]),
    st.integers(1, 6),
)
def test_any_cut_gives_the_same_groups(of_partitions, draw, group_width, projection, resolution):
    table = of_partitions.table()
    if not table.n_records or table.n_columns < 2:
        return
    model = tacit.SparseComputation(resolution, 2, projection, random_state=0)
    try:
        whole = clone(model).fit(without(table, "c0"))
    except tacit.InputError as error:  # too many columns for "none"
        with pytest.raises(tacit.InputError, match=f"^{error}$".replace("(", r"\(")):
            clone(model).fit(cut(table, draw), "c0")
        return
    parts = cut(table, draw)
    of_parts = clone(model).fit(parts, "c0")
    assert_same_computation(whole, of_parts)
    groups, there = whole.group(labels(table, "c0"), group_width), of_parts.group("c0", group_width)
    assert_same_groups(groups, there)
    assert np.array_equal(there.assign(parts), groups.labels)


def test_partitions_of_one_record_and_a_label_that_one_of_them_has():
    table = tacit.Table(
        {
            "town": ["Ulm", "Bern", "Ulm", "Rome"],
            "pays": [True, False, True, True],
            "a": [0, 1, 2, 1],
        }
    )
    whole = tacit.SparseComputation(3, 2, random_state=0).fit(table)
    of_parts = tacit.SparseComputation(3, 2, random_state=0).fit(partition(table, 4))
    assert_same_computation(whole, of_parts)
    assert_same_groups(whole.group([1, 0, 1, 1]), of_parts.group("pays"))


def test_types_are_numbered_by_label_and_not_by_code():
    frame = {"t": ["b", "a", "c", "b"], "x": [0, 1, 0, 1], "z": [1, 1, 0, 1]}
    table = tacit.Table(frame)
    schema = tacit.schema.Schema(
        ["t", "x", "z"],
        [tacit.schema.Labels(["d", "c", "b", "a"], "String"), *table.schema.labels[1:]],
        [2, 0, 1],
    )
    table = table.conform(schema)
    whole = tacit.SparseComputation(2, 2, random_state=0).fit(without(table, "t"))
    of_parts = tacit.SparseComputation(2, 2, random_state=0).fit(partition(table, 2), "t")
    assert_same_groups(whole.group(frame["t"]), of_parts.group("t"))


def test_weights_of_records_play_no_part(visits):
    weights = np.random.default_rng(0).integers(0, 4, visits.n_records).astype(float)
    heavy = visits.with_weights(weights)
    whole = tacit.SparseComputation(random_state=0).fit(heavy)
    of_parts = tacit.SparseComputation(random_state=0).fit(partition(heavy, 3))
    assert_same_computation(whole, of_parts)
    assert_same_groups(whole.group(), of_parts.group())


def test_threads_do_not_matter(visits):
    one = tacit.SparseComputation(random_state=0, n_jobs=1).fit(partition(visits, 5))
    two = tacit.SparseComputation(random_state=0, n_jobs=3).fit(partition(visits, 5))
    assert_same_computation(one, two)


def test_a_record_that_no_group_is_for(visits):
    some = visits.take(np.arange(400))
    groups = tacit.SparseComputation(random_state=0).fit(partition(some, 2)).group(group_width=0.0)
    of_parts = groups.assign(partition(visits, 3))
    assert (of_parts[:400] >= 0).all()
    assert (of_parts[400:] == -1).any()


def test_the_statistic_is_small_and_goes_elsewhere(visits):
    sc = tacit.SparseComputation(random_state=0).fit(partition(visits, 2))
    sorter = CellSorter(sc._projector(), sc.grid_, 1.0, TypeColumn.same(0), within=True)
    sent = pickle.dumps(CellStatistic(sorter))
    assert len(sent) < 20_000
    again = pickle.loads(sent)
    here = CellStatistic(sorter).partial(Partition(visits, 0, 0, 1))
    there = pickle.loads(pickle.dumps(again.partial(Partition(visits, 0, 0, 1))))
    assert np.array_equal(here.names, there.names)
    assert same_matrix(here.sums, there.sums)
    assert len(pickle.dumps(sc.group().lookup)) < 100_000


def test_a_new_fit_forgets_the_other_kind(visits):
    sc = tacit.SparseComputation(random_state=0).fit(visits)
    sc.fit(partition(visits, 2))
    assert not hasattr(sc, "coords_")
    sc.fit(visits)
    assert len(sc.group().labels) == visits.n_records
    assert sc.pairs()[0].size == sc.n_pairs_


def test_what_cannot_be(visits, wide):
    parts = partition(visits, 3)
    sc = tacit.SparseComputation(random_state=0).fit(parts)
    for ask in (sc.similarity, sc.pairs, sc.plot):
        with pytest.raises(tacit.InputError, match=r"needs all records on one machine.*collect"):
            ask()
    with pytest.raises(tacit.InputError, match="adaptive"):
        tacit.SparseComputation(adaptive=True).fit(parts)
    with pytest.raises(tacit.InputError, match="there is no column 'z'"):
        tacit.SparseComputation().fit(parts, "z")
    with pytest.raises(tacit.InputError, match="y must be the name of a column"):
        sc.group(labels(visits, "region"))
    with pytest.raises(tacit.InputError, match="group_width must be"):
        sc.group(group_width=2.0)
    with pytest.raises(tacit.InputError, match="resolution"):
        tacit.SparseComputation(resolution=[3, 3]).fit(parts)
    with pytest.raises(tacit.InputError, match="projection must be 'randomized_svd'"):
        tacit.SparseComputation(projection="pca").fit(parts)
    with pytest.raises(tacit.InputError, match="no columns besides 'a'"):
        tacit.SparseComputation().fit(partition(tacit.Table({"a": [0, 1]}), 2), "a")
    lost = tacit.Table({"a": [0, 1, 1], "b": ["x", None, "y"]})
    with pytest.raises(tacit.InputError, match="y: column 'b' has 1 missing values"):
        tacit.SparseComputation().fit(partition(lost, 2), "b").group("b")
    names = [f"c{k}" for k in range(1100)]
    many = tacit.Table.from_baskets([names[:600], names[500:], names[3:9]])
    with pytest.raises(tacit.InputError, match=r"exact_pca of 1,100 columns.*randomized_svd"):
        tacit.SparseComputation(projection="exact_pca").fit(partition(many, 2))


class BrokenError(Exception):
    pass


def test_a_pass_that_fails_changes_nothing(visits, monkeypatch):
    sc = tacit.SparseComputation(random_state=0).fit(partition(visits, 2))
    known = dict(sc.__dict__)

    def fail(*_):
        raise BrokenError

    monkeypatch.setattr(CellStatistic, "partial", fail)
    with pytest.raises(BrokenError):
        sc.fit(partition(visits.take(np.arange(100)), 2))
    assert sc.__dict__ == known
