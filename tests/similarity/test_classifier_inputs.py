"""What all three classifiers by similarity take and refuse."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import tacit
from tacit import (
    InputError,
    NormalizedCutClassifier,
    SparseComputation,
    SparseKNeighborsClassifier,
    SparseSVC,
    Table,
)
from tacit.table.one_hot import OneHot

KINDS = [SparseKNeighborsClassifier, NormalizedCutClassifier, SparseSVC]


def objects(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.7)
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("group_width", [None, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_dense_and_sparse_may_be_mixed(kind, group_width):
    X, y = objects()
    for fitted, other in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        model = kind(resolution=5, group_width=group_width, random_state=0).fit(
            fitted(X[:150]), y[:150]
        )
        expected = model.predict(fitted(X[150:]))
        assert model.predict(other(X[150:])).tolist() == expected.tolist()


def test_the_encoding_keeps_the_form_of_fit():
    X, _ = objects()
    dense, _ = OneHot.fit(X)
    rows, _ = OneHot.fit(sparse.csr_array(X))
    assert dense.transform(sparse.coo_array(X)).tolist() == X.tolist()
    encoded = rows.transform(X)
    assert encoded.format == "csr"
    assert encoded.toarray().tolist() == X.tolist()
    sc = SparseComputation(random_state=0).fit(X)
    np.testing.assert_allclose(sc.transform(sparse.csr_array(X)), sc.coords_, atol=1e-12)


@pytest.mark.parametrize("huge", [1e155, -1e300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_too_large_for_distances(kind, form, huge):
    X, y = objects()
    for more in ({}, {"normalize": True, "group_width": 0.5}):
        model = kind(resolution=5, random_state=0, **more).fit(form(X), y)
        new = X[:20].copy()
        new[3, 1] = huge
        with pytest.raises(InputError, match="X: row 3 holds numbers that are too large for dist"):
            model.predict(form(new))
        new[3, 1] = 1e100
        assert set(model.predict(form(new))) <= {0, 1}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_numbers_too_large_for_the_type_that_was_fitted(form):
    X, y = objects()
    model = SparseKNeighborsClassifier(random_state=0).fit(form(X.astype(np.float32)), y)
    X[3, 1] = 1e100
    with pytest.raises(InputError, match="X holds numbers too large for the float32"):
        model.predict(form(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_fit_leaves_the_model_as_it_was(kind):
    X, y = objects()
    model = kind(resolution=5, random_state=0).fit(X, y)
    known = model.__dict__.copy()
    for wrong in ((X[:, :3], y[:-1]), (X[:, :3], y / 3), ({"a": X[:, 0]}, [None] * len(X))):
        with pytest.raises(InputError, match="y"):
            model.fit(*wrong)
        assert model.__dict__ == known
    model.set_params(resolution=(2, 2, 2, 2, 2))
    with pytest.raises(InputError, match="resolution"):
        model.fit(X + 1, 1 - y)
    assert model.computation_ is known["computation_"]


@pytest.mark.parametrize("resolution", [2**31 - 2, (3, 2**31 - 2), 2**40])
def test_resolutions_beyond_32_bits(resolution):
    X = objects()[0]
    dimensions = 1 if isinstance(resolution, int) else 2
    with pytest.raises(InputError, match="resolution must be at most 2147483645 in each dimension"):
        SparseComputation(resolution, dimensions).fit(X)
    assert SparseComputation(2**31 - 3, 1).fit(X).n_pairs_ >= 0


def people(n=240, seed=0):
    """Return numbers and labels, and what follows from them."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 90, n), rng.integers(0, 3, n)
    frame = pl.DataFrame(
        {
            "age": age,
            "size": np.round(rng.normal(scale=20, size=n), 2),
            "town": np.array(["Bern", "Rome", "Ulm"])[town],
            "pays": rng.random(n) < 0.5,
        }
    )
    return frame, np.where((age > 50) ^ (town == 2), "yes", "no")


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_with_numbers_is_what_its_frame_is(kind, tmp_path):
    frame, y = people()
    new, _ = people(60, seed=1)  # with numbers that were not there in fit
    model = kind(resolution=5, random_state=0).fit(frame, y)
    expected = model.predict(new).tolist()
    assert len(set(expected)) == 2
    of_table = kind(resolution=5, random_state=0).fit(Table(frame), y)
    by_name = kind(resolution=5, random_state=0).fit(Table(frame.with_columns(y=y)), "y")
    by_name.save(tmp_path / "model.tacit")
    assert model.predict(Table(new)).tolist() == expected
    for asked in (of_table, by_name, tacit.load(tmp_path / "model.tacit")):
        assert asked.predict(Table(new)).tolist() == expected
        assert asked.predict(new).tolist() == expected
        assert asked.predict(new[:, ::-1]).tolist() == expected  # columns by name
        assert asked.predict(Table(new[:, ::-1])).tolist() == expected


def test_neighbours_of_tables_are_those_of_frames():
    frame, y = people()
    model = SparseKNeighborsClassifier(3, algorithm="exact").fit(frame, y)
    other = SparseKNeighborsClassifier(3, algorithm="exact").fit(Table(frame), y)
    new, _ = people(30, seed=2)
    for X in (new, Table(new)):
        distances, indices = other.kneighbors(X)
        expected = model.kneighbors(new)
        np.testing.assert_array_equal(indices, expected[1])
        np.testing.assert_allclose(distances, expected[0])


@pytest.mark.parametrize("kind", KINDS)
def test_missing_numbers_of_tables_are_named(kind):
    frame, y = people()
    holes = Table(frame.with_columns(age=pl.when(pl.col("age") != frame["age"][3]).then("age")))
    first = int(np.argmax(frame["age"].to_numpy() == frame["age"][3]))
    message = f"X: column 'age' has a missing value at row {first}"
    with pytest.raises(InputError, match=message):
        kind(random_state=0).fit(holes, y)
    model = kind(resolution=5, random_state=0).fit(Table(frame), y)
    with pytest.raises(InputError, match=message):
        model.predict(holes)
