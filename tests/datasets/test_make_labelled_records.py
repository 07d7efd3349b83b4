"""Drawn records with labels: sizes, seeds, and labels that follow from columns."""

import numpy as np
import pytest
from scipy import sparse

from tacit.datasets import make_labelled_records


@pytest.mark.parametrize("density", [0.02, 0.6, 1.0])
def test_sizes_and_density(density):
    X, Y = make_labelled_records(500, 80, density, 7)
    assert isinstance(X, sparse.csc_array)
    assert X.has_canonical_format
    assert X.shape == (500, 80)
    assert Y.shape == (500, 7)
    assert X.dtype == np.float64
    assert Y.dtype == np.uint8
    assert (X.data > 0).all()
    assert X.nnz / 40_000 == pytest.approx(density, rel=0.1)
    assert set(np.unique(Y)) == {0, 1}


def test_a_seed_decides():
    first, second, other = (make_labelled_records(300, 40, 0.1, random_state=k) for k in (3, 3, 4))
    assert (first[0] != second[0]).nnz == 0
    assert np.array_equal(first[1], second[1])
    assert not np.array_equal(first[1], other[1])


def test_labels_follow_from_columns_but_for_noise():
    X, Y = make_labelled_records(4000, 30, 0.1, 3, n_rules=2, noise=0.0, random_state=1)
    stored = (X.toarray() > 0).astype(float)
    for y in Y.T:
        # Nothing but the values of one or two columns gives a record the label.
        told = stored[y == 1].mean(axis=0)
        needed = np.argsort(-told)[:2]
        assert stored[y == 1][:, needed].any(axis=1).all()
    same, noisy = (
        make_labelled_records(4000, 30, 0.1, 3, n_rules=2, noise=x, random_state=1)
        for x in (0.0, 0.25)
    )
    assert (same[0] != noisy[0]).nnz == 0
    assert np.mean(same[1] != noisy[1]) == pytest.approx(0.25, abs=0.02)
