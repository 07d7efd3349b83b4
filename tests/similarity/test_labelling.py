"""Labels by cuts on a graph: settling claims, what is unknown, neighbours, multiplicities."""

import numpy as np
import pytest
from scipy import sparse

from oracles.cuts import smallest_normalized_cut
from tacit.similarity.cuts.labelling import (
    UNKNOWN,
    LabelledGraph,
    cut_labels,
    labelled_graph,
    neighbor_fractions,
)


def random_graph(n_open, n_labelled, n_classes, seed, density=0.5):
    """A whole dense graph whose first nodes are open, and the classes of the rest."""
    rng = np.random.default_rng(seed)
    n = n_open + n_labelled
    upper = np.triu(np.exp(-rng.uniform(0, 4, (n, n))) * (rng.random((n, n)) < density), 1)
    codes = rng.permutation(np.arange(n_labelled) % n_classes).astype(np.int32)
    return upper + upper.T, codes


def near(weights, codes, n_classes):
    n = len(weights) - len(codes)
    return labelled_graph(
        sparse.csr_array(weights[:n, :n]),
        sparse.csr_array(weights[:n, n:]),
        codes,
        n_classes,
        np.ones(n),
        np.ones(len(codes)),
    )


def seeds(n_open, codes, code):
    return np.concatenate((np.full(n_open, -1), (codes == code).astype(int)))


@pytest.mark.parametrize("seed", range(8))
def test_two_classes_are_the_supervised_normalized_cut(seed):
    weights, codes = random_graph(8, 5, 2, seed)
    balances = np.array([0.3, 0.0, 0.1, 5.0])
    known = near(weights, codes, 2)
    assigned = cut_labels(known, balances)
    for k, balance in enumerate(balances):
        wanted, _ = smallest_normalized_cut(weights, seeds(8, codes, 1), balance)
        expected = np.where(known.connected(), wanted[:8], UNKNOWN)
        assert assigned[k].tolist() == expected.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_two_classes_with_weights_of_nodes(seed):
    weights, codes = random_graph(8, 5, 2, seed, density=0.8)
    known = near(weights, codes, 2)
    fractions = neighbor_fractions(sparse.csr_array(weights[:8, 8:]), codes, 2, np.ones(5), 3)
    assigned = cut_labels(known, np.array([0.2]), node_weights=fractions)
    expected = np.concatenate((fractions[:, 1], np.zeros(5)))
    wanted, _ = smallest_normalized_cut(weights, seeds(8, codes, 1), 0.2, expected)
    assert assigned[0].tolist() == np.where(known.connected(), wanted[:8], UNKNOWN).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_more_classes_are_one_cut_for_each(seed):
    weights, codes = random_graph(7, 6, 3, seed, density=0.8)
    known = near(weights, codes, 3)
    assigned = cut_labels(known, np.array([0.4]))[0]
    claims = np.stack(
        [smallest_normalized_cut(weights, seeds(7, codes, c), 0.4)[0][:7] for c in range(3)], axis=1
    )
    assert assigned.max() > 0
    for expected, label, affinity in zip(claims, assigned, known.affinity, strict=True):
        if expected.sum() == 1:
            assert label == np.argmax(expected)
        elif affinity.any():
            candidates = expected if expected.any() else np.ones(3, bool)
            assert candidates[label]
            assert affinity[label] == affinity[candidates].max()
        else:
            assert label == UNKNOWN


def test_one_class_is_everywhere_that_is_connected():
    graph = sparse.csr_array((3, 3))
    known = LabelledGraph(graph, np.array([[0.5], [0.0], [1.0]]))
    assert cut_labels(known, np.array([0.1])).tolist() == [[0, UNKNOWN, 0]]


def test_what_no_labelled_object_reaches_is_unknown():
    links = np.zeros((5, 5))
    links[0, 1] = links[1, 0] = links[2, 3] = links[3, 2] = 1.0
    known = LabelledGraph(sparse.csr_array(links), np.eye(5, 2, dtype=float))
    assert known.connected().tolist() == [True, True, False, False, False]
    assigned = cut_labels(known, np.array([0.0, 10.0]))
    assert (assigned[:, 2:] == UNKNOWN).all()
    assert (assigned[:, :2] != UNKNOWN).all()


def test_similarities_of_zero_connect_nothing():
    stored = sparse.csr_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    known = LabelledGraph(stored, np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert stored.nnz == 2
    assert known.connected().tolist() == [True, False]


def test_an_object_that_stands_for_three_counts_three_times():
    weights, codes = random_graph(6, 4, 2, 5, density=1.0)
    copies, labelled = np.array([1, 3, 1, 2, 1, 1]), np.array([2, 1, 1, 3])
    rows = np.concatenate((np.repeat(np.arange(6), copies), np.repeat(np.arange(6, 10), labelled)))
    spread = weights[np.ix_(rows, rows)]
    spread[rows[:, None] == rows] = 0.0
    single = labelled_graph(
        sparse.csr_array(weights[:6, :6]),
        sparse.csr_array(weights[:6, 6:]),
        codes,
        2,
        copies.astype(float),
        labelled.astype(float),
    )
    whole = near(spread, np.repeat(codes, labelled).astype(np.int32), 2)
    first = np.concatenate(([0], np.cumsum(copies)[:-1]))
    assert np.allclose(single.affinity, whole.affinity[first] * copies[:, None])
    assert np.allclose(single.degrees, whole.degrees[first] * copies)


def test_neighbours_that_stand_for_several():
    links = sparse.csr_array(np.array([[0.9, 0.8, 0.7]]))
    codes = np.array([0, 1, 0], np.int32)
    assigned = neighbor_fractions(links, codes, 2, np.array([1.0, 3.0, 1.0]), 3)
    assert np.allclose(assigned, [[1 / 3, 2 / 3]])


def test_no_labelled_object_near():
    links = sparse.csr_array((2, 3))
    assigned = neighbor_fractions(links, np.array([0, 1, 0], np.int32), 2, np.ones(3), 2)
    assert assigned.tolist() == [[0.0, 0.0], [0.0, 0.0]]
