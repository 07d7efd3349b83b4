"""Trees of 0/1 matrices: the same as those of tables, down to labels and counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tacit import DependencyTree, _core
from tacit.network.structure.bits import binary_structure, is_bytes

shapes = st.tuples(st.integers(1, 60), st.integers(1, 7))
bits = hnp.arrays(np.uint8, shapes, elements=st.integers(0, 1))


def by_table(x, **settings):
    """Fit the same numbers in the other order of memory, which bits are not read from."""
    other = np.asfortranarray(np.vstack([x, x]))[: len(x)]
    assert not is_bytes(other) or x.shape[1] == 1 or len(x) == 1
    return DependencyTree(algorithm="exact", **settings).fit(other)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.bool_])
@given(x=bits)
@settings(max_examples=40)
def test_bits_and_tables_make_the_same_model(kind, x):
    x = x.astype(kind)
    one, two = DependencyTree().fit(x), by_table(x)
    assert one.schema_ == two.schema_
    assert one.edges_.tolist() == two.edges_.tolist()
    assert one.weights_ == pytest.approx(two.weights_, abs=1e-12)
    for counts, other in zip(one.structure_.nodes, two.structure_.nodes, strict=True):
        assert counts.tolist() == other.tolist()
    for counts, other in zip(one.structure_.pairs, two.structure_.pairs, strict=True):
        assert counts.tolist() == other.tolist()
    assert one.score_samples(x) == pytest.approx(two.score_samples(x), rel=1e-12)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_the_number_of_threads_does_not_matter(n_jobs):
    x = (np.random.default_rng(0).random((40_000, 70)) < 0.3).astype(np.uint8)
    one, many = DependencyTree().fit(x), DependencyTree(n_jobs=n_jobs).fit(x)
    assert one.edges_.tolist() == many.edges_.tolist()
    assert one.weights_.tobytes() == many.weights_.tobytes()


def test_other_bytes_become_labels():
    x = np.array([[0, 2], [1, 0], [0, 2], [1, 1]], np.uint8)
    assert binary_structure(x, 1) is None
    assert list(DependencyTree().fit(x).schema_.arities) == [2, 3]


def test_bits_are_not_made_a_table(monkeypatch):
    def refuse(*arguments, **named):
        raise AssertionError("a table was made")

    monkeypatch.setattr("tacit.network.dependency_tree.dependency_tree.fit_columns", refuse)
    x = np.eye(4, dtype=np.uint8)
    assert len(DependencyTree().fit(x).edges_) == 3
    with pytest.raises(AssertionError, match="a table"):
        DependencyTree().fit(x, sample_weight=np.ones(4))


def test_fitting_leaves_x_alone():
    x = (np.random.default_rng(1).random((300, 9)) < 0.5).astype(np.int8)
    before = x.copy()
    DependencyTree().fit(x)
    assert np.array_equal(x, before)
    assert _core.pair_counts_bytes(x.view(np.uint8), 1) is not None
