"""Information measures: by their definitions, and as SciPy and scikit-learn have them."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import mutual_info_score

from support.contingency_tables import both, make, some_places, tables
from tacit import InputError

close = {"rel": 1e-9, "abs": 1e-12}
squares = tables(min_columns=2, max_columns=2)


def plain_entropy(counts):
    fractions = [n / counts.sum() for n in counts.flat if n]
    return -sum(p * math.log(p) for p in fractions) if fractions else 0.0


def entropy_of(counts, places):
    """The entropy of some axes, from the definition."""
    others = tuple(k for k in range(counts.ndim) if k not in places)
    return plain_entropy(counts.sum(axis=others)) if places else 0.0


@given(table=tables(), pick=st.data())
def test_entropy_is_that_of_the_definition(table, pick):
    own = pick.draw(some_places(table))
    given_ = pick.draw(some_places(table, min_size=0))
    counts = table.to_array()
    expected = entropy_of(counts, {*own, *given_}) - entropy_of(counts, set(given_))
    for form in both(table):
        found = form.entropy(own, given_ or None)
        assert found == pytest.approx(expected, **close)
        assert found >= 0
        assert form.entropy(own, given_ or None, base=10) == pytest.approx(
            expected * math.log10(math.e), **close
        )


@given(table=tables(), pick=st.data())
def test_mutual_information_is_that_of_the_definition(table, pick):
    x, y = pick.draw(some_places(table)), pick.draw(some_places(table))
    z = pick.draw(some_places(table, min_size=0))
    counts = table.to_array()
    sets = [{*x, *z}, {*y, *z}, {*x, *y, *z}, {*z}]
    xz, yz, xyz, only_z = (entropy_of(counts, places) for places in sets)
    for form in both(table):
        found = form.mutual_information(x, y, z or None)
        assert found == pytest.approx(xz + yz - xyz - only_z, **close)
        assert found >= 0
        assert form.mutual_information(y, x, z or None) == pytest.approx(found, **close)


@given(table=squares)
def test_measures_agree_with_scipy_and_scikit_learn(table):
    counts = table.to_array()
    assume(counts.sum() > 0)
    whole = (counts * 4).astype(int)  # scikit-learn rounds
    nats = mutual_info_score(None, None, contingency=whole)
    for form in both(table):
        assert form.entropy() == pytest.approx(scipy.stats.entropy(counts.ravel()), **close)
        assert form.mutual_information() == pytest.approx(nats, **close)
        assert form.g_test().statistic == pytest.approx(2 * counts.sum() * nats, **close)


@given(table=squares)
def test_tests_agree_with_scipy(table):
    counts = table.to_array()
    full = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    assume(full.size)
    for kind, name in (("pearson", "chi2"), ("log-likelihood", "g_test")):
        wanted = scipy.stats.chi2_contingency(full, correction=False, lambda_=kind)
        for form in both(table):
            found = getattr(form, name)()
            assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9, abs=1e-9)
            assert found.dof == wanted.dof
            assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-6, abs=1e-9)
            occurring = found.expected[counts.any(axis=1)][:, counts.any(axis=0)]
            np.testing.assert_allclose(occurring, wanted.expected_freq)
            assert found.expected.sum() == pytest.approx(counts.sum())
    if min(full.shape) > 1:
        wanted_v = scipy.stats.contingency.association((full * 4).astype(int))
        for form in both(table):
            assert form.cramers_v() == pytest.approx(wanted_v, rel=1e-6, abs=1e-6)


@given(table=squares)
def test_miller_madow_adds_half_a_cell_for_each_entropy(table):
    counts = table.to_array()
    assume(counts.sum() > 0)
    unit = 1 / (2 * counts.sum())
    rows, columns = np.count_nonzero(counts.sum(1)), np.count_nonzero(counts.sum(0))
    cells = np.count_nonzero(counts)
    for form in both(table):
        plain = form.mutual_information()
        corrected = form.mutual_information(bias_correction="miller_madow")
        assert corrected == pytest.approx(plain + (rows + columns - cells - 1) * unit, **close)
        assert form.entropy(bias_correction="miller_madow") == pytest.approx(
            form.entropy() + (cells - 1) * unit, **close
        )


@given(
    rows=hnp.arrays(np.int64, st.integers(1, 4), elements=st.integers(0, 999)),
    columns=hnp.arrays(np.int64, st.integers(1, 4), elements=st.integers(0, 999)),
)
def test_independent_columns_tell_nothing_of_each_other(rows, columns):
    for form in both(make(np.outer(rows, columns))):
        assert form.mutual_information() == 0
        assert form.g_test().statistic == 0
        assert form.chi2().statistic == pytest.approx(0, abs=1e-9)
        assert form.cramers_v() == pytest.approx(0, abs=1e-9)


@given(
    weights=hnp.arrays(np.float64, (3, 3), elements=st.floats(0, 1e6, allow_nan=False)),
)
def test_any_weights_give_finite_measures(weights):
    for form in both(make(weights)):
        numbers = [
            form.entropy(),
            form.entropy("a", given="b"),
            form.mutual_information(),
            form.chi2().statistic,
            form.g_test().statistic,
            form.cramers_v(),
        ]
        assert all(math.isfinite(x) and x >= 0 for x in numbers)


def test_worked_examples():
    coin = make([[1, 0], [0, 1]])
    assert coin.entropy() == math.log(2)
    assert coin.entropy("a", base=2) == 1
    assert coin.entropy("a", given="b") == 0
    assert coin.mutual_information() == math.log(2)
    assert coin.cramers_v() == 1
    assert make([1] * 8).entropy(base=2) == 3
    assert make([1] * 8).entropy(base=8) == pytest.approx(1)
    parity = make([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])  # c is the parity of a and b
    assert parity.mutual_information("a", "c") == 0
    assert parity.mutual_information("a", "c", given="b", base=2) == 1
    assert parity.mutual_information(["a", "b"], "c", base=2) == 1
    assert parity.mutual_information(given="b", base=2) == 1
    assert parity.mutual_information("a", given="b") == math.log(2)


def test_a_textbook_chi_squared():
    table = make([[10, 20], [30, 40]])
    test = table.chi2()
    assert test.statistic == pytest.approx(100 * (10 * 40 - 20 * 30) ** 2 / (30 * 70 * 40 * 60))
    assert test.dof == 1
    assert test.expected.tolist() == [[12, 18], [28, 42]]
    assert table.chi2("b", "a").expected.tolist() == [[12, 28], [18, 42]]
    assert table.chi2("b").statistic == pytest.approx(test.statistic)
    assert "dof=1" in repr(test)
    with pytest.raises(AttributeError):
        test.dof = 2


def test_labels_that_do_not_occur_have_no_degrees_of_freedom():
    small, padded = make([[5, 1], [2, 7]]), make([[5, 0, 1], [0, 0, 0], [2, 0, 7]])
    for form in both(padded):
        assert form.chi2().dof == 1
        assert form.chi2() == small.chi2()
        assert form.cramers_v() == small.cramers_v()


@pytest.mark.parametrize("counts", [np.zeros((2, 3), np.int64), np.array([[4, 5]])])
def test_nothing_to_compare_is_no_evidence(counts):
    for form in both(make(counts)):
        assert form.mutual_information() == 0
        assert form.cramers_v() == 0
        assert (form.chi2().statistic, form.chi2().dof, form.chi2().p_value) == (0, 0, 1)
        assert (form.g_test().statistic, form.g_test().p_value) == (0, 1)
        assert form.chi2().expected.shape == counts.shape
        assert form.chi2().expected.dtype == np.float64


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda t: t.entropy("z"), "columns: there is no column 'z'"),
        (lambda t: t.entropy([]), "columns must be one or more columns, got none"),
        (lambda t: t.entropy(given="z"), "given: there is no column 'z'"),
        (lambda t: t.entropy(base=1), "base must be a number above 1, got 1"),
        (lambda t: t.entropy(base="e"), "base must be a number above 1, got 'e'"),
        (lambda t: t.entropy(bias_correction="mm"), "bias_correction must be None or 'mill"),
        (lambda t: t.mutual_information(), "x and y must be named: the columns are 'a', 'b', 'c'"),
        (lambda t: t.mutual_information("a"), "y must be named: the columns are"),
        (lambda t: t.mutual_information("z", "a"), "x: there is no column 'z'"),
        (lambda t: t.mutual_information("a", "z"), "y: there is no column 'z'"),
        (lambda t: t.mutual_information("a", "b", "z"), "given: there is no column 'z'"),
        (lambda t: t.mutual_information("a", "b", base=-2), "base must be a number above 1"),
        (lambda t: t.mutual_information("a", "b", bias_correction=1), "bias_correction must be"),
        (lambda t: t.chi2(), "x and y must be named"),
        (lambda t: t.chi2("a", "a"), "x and y must be two columns, but both are 'a'"),
        (lambda t: t.chi2(["a"], "b"), "x must be a column's name or position"),
        (lambda t: t.g_test("z", "a"), "x: there is no column 'z'"),
        (lambda t: t.cramers_v("a", "z"), "y: there is no column 'z'"),
    ],
)
def test_questions_that_make_no_sense_are_refused(ask, message):
    for form in both(make(np.ones((2, 2, 2), np.int64))):
        with pytest.raises(InputError, match=message):
            ask(form)
