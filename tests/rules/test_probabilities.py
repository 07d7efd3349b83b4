"""From scores to probabilities, and from those to sets of labels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError
from tacit.rules.boosted.calibration import Isotonic, plain_probabilities
from tacit.rules.boosted.label_sets import best_sets, check_sets, label_sets


def test_probabilities_of_each_loss():
    scores = np.array([[-2.0, 0.0, 0.25]])
    assert plain_probabilities(scores, "squared").tolist() == [[0.001, 0.5, 0.75]]
    assert plain_probabilities(scores, "squared_hinge").tolist() == [[0.001, 0.5, 0.75]]
    assert plain_probabilities(scores, "logistic")[0, 0] == pytest.approx(1 / (1 + np.exp(2)))
    assert plain_probabilities(scores, "softmax").sum() == pytest.approx(1)
    huge = plain_probabilities(np.array([[1e5, -1e5]]), "logistic")
    assert huge.tolist() == [[1.0, 0.0]]


def violators_pooled(scores, labels, weights):
    """Return the best probabilities that do not fall, the slow way: the min-max formula."""
    values = np.unique(scores)
    w = np.array([weights[scores == v].sum() for v in values])
    s = np.array([(weights * labels)[scores == v].sum() for v in values])
    n = len(values)

    def mean(a, b):
        return s[a : b + 1].sum() / w[a : b + 1].sum()

    best = [max(min(mean(a, b) for b in range(k, n)) for a in range(k + 1)) for k in range(n)]
    least = 0.5 / (w.sum() + 1)
    return dict(zip(values.tolist(), np.clip(best, least, 1 - least).tolist(), strict=True))


@given(
    st.lists(
        st.tuples(st.integers(-4, 4), st.integers(0, 1), st.integers(1, 3)), min_size=1, max_size=15
    )
)
def test_isotonic_curves_are_the_best_that_never_fall(records):
    scores, labels, weights = (np.array(part, np.float64) for part in zip(*records, strict=True))
    curve = Isotonic.fit(scores[:, None], labels[None].astype(np.uint8), weights)
    expected = violators_pooled(scores, labels, weights)
    result = curve.apply(scores[:, None])[:, 0]
    np.testing.assert_allclose(result, [expected[v] for v in scores.tolist()], atol=1e-9)
    ends = curve.apply(np.array([[-99.0], [99.0]]))[:, 0]
    np.testing.assert_allclose(ends, [min(expected.values()), max(expected.values())], atol=1e-9)


def test_curves_are_one_for_each_output():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(50, 3)), rng.integers(0, 2, (3, 50)).astype(np.uint8)
    labels[1] = 0
    together = Isotonic.fit(scores, labels, None)
    np.testing.assert_allclose(together.apply(scores)[:, 1], 0.5 / 51)
    for output in (0, 2):
        column = slice(output, output + 1)
        alone = Isotonic.fit(scores[:, column], labels[column], None)
        result = together.apply(scores)[:, column]
        np.testing.assert_array_equal(result, alone.apply(scores[:, column]))
    again = Isotonic.checked(together.to_dict(), 3)
    np.testing.assert_array_equal(again.apply(scores), together.apply(scores))


def test_damaged_curves_are_refused():
    curves = Isotonic(np.array([0, 2]), np.array([0.0, 1.0]), np.array([0.0, 1.0])).to_dict()
    assert Isotonic.checked({}, 1) is None
    for name, array in (
        ("curve_starts", np.array([0, 1])),
        ("curve_starts", np.array([0, 0])),
        ("curve_scores", np.array([1.0, 0.0])),
        ("curve_scores", np.array([np.nan, 0.0])),
        ("curve_shares", np.array([0.0, 1.5])),
    ):
        with pytest.raises(InputError, match="curve_"):
            Isotonic.checked(curves | {name: array}, 1)


def test_sets_are_those_that_occur_the_most_common_first():
    labels = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0]], np.uint8).T
    sets = label_sets(labels)
    assert sets[0].tolist() == [0, 1, 1]
    assert len(sets) == 3


@given(st.integers(0, 2**32 - 1))
def test_the_best_set_is_the_most_probable(seed):
    rng = np.random.default_rng(seed)
    probabilities = rng.uniform(0.01, 0.99, (5, 4))
    every = np.array(list(itertools.product((0, 1), repeat=4)), np.uint8)
    sets = every[rng.permutation(16)[: rng.integers(1, 17)]]
    predicted = best_sets(probabilities, sets)
    for labels, chosen in zip(probabilities, predicted, strict=True):
        joint = np.prod(np.where(sets == 1, labels, 1 - labels), axis=1)
        probability = np.prod(np.where(chosen == 1, labels, 1 - labels))
        assert probability == pytest.approx(joint.max())


def test_impossible_labels_do_not_forbid_a_set():
    sets = np.array([[1, 0], [1, 1]], np.uint8)
    assert best_sets(np.array([[0.0, 1.0]]), sets).tolist() == [[1, 1]]
    assert best_sets(np.zeros((0, 2)), sets).shape == (0, 2)


def test_damaged_sets_are_refused():
    assert check_sets({}, 2) is None
    for sets in (
        np.array([[0, 2]], np.uint8),
        np.zeros((0, 2), np.uint8),
        np.zeros((1, 3), np.uint8),
        np.zeros((1, 2)),
    ):
        with pytest.raises(InputError, match="label_sets"):
            check_sets({"label_sets": sets}, 2)
