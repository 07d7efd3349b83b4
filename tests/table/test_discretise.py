"""Discretisation against slow, obvious oracles in exact arithmetic."""

import math
from collections import Counter
from dataclasses import FrozenInstanceError
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tacit.errors import InputError
from tacit.table.discretise import (
    MDL,
    Edges,
    EqualFrequency,
    EqualWidth,
    apply_cuts,
    as_spec,
    bin_edges,
    bin_labels,
    cut_points,
)

NAN = math.nan
TINY = 5e-324
HUGE = np.finfo(np.float64).max

columns = hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats(allow_infinity=False))
tied_columns = hnp.arrays(
    np.float64, st.integers(0, 60), elements=st.sampled_from([-1.5, 0.0, 0.25, 1.0, 7.0, NAN])
)
specs = st.one_of(
    st.builds(EqualWidth, st.integers(2, 12)),
    st.builds(EqualFrequency, st.integers(2, 12)),
    st.just(MDL()),
)


# --- the oracle of MDL: every cut tried, whole numbers to choose and 50 digits to accept ---------


def power_product(counts):
    """2 to the power of sum c log2 c, as a whole number."""
    return math.prod(c**c for c in counts)


def odds(left, right):
    """2 to the power of minus the bits that the classes take in both parts: exact, most is best."""
    parts = (Fraction(power_product(p.values()), p.total() ** p.total()) for p in (left, right))
    return math.prod(parts)


def entropy(classes):
    log2 = Decimal(2).ln()
    shares = [Decimal(c) / classes.total() for c in classes.values()]
    return -sum(p * p.ln() / log2 for p in shares)


def pays(left, right):
    """Whether the gain exceeds the criterion of Fayyad & Irani (1993), equation by equation."""
    both = left + right
    n, k, k1, k2 = both.total(), len(both), len(left), len(right)
    log2 = Decimal(2).ln()
    ent, ent1, ent2 = entropy(both), entropy(left), entropy(right)
    gain = ent - (left.total() * ent1 + right.total() * ent2) / n
    delta = Decimal(3**k - 2).ln() / log2 - (k * ent - k1 * ent1 - k2 * ent2)
    return gain > (Decimal(n - 1).ln() / log2 + delta) / n


def mdl_oracle(values, target):
    """The values below each cut, in order."""
    pairs = [(v, t) for v, t in zip(values, target, strict=True) if not math.isnan(v)]
    distinct = sorted({v for v, _ in pairs})
    candidates = []
    for value in distinct[:-1]:
        left = Counter(t for v, t in pairs if v <= value)
        right = Counter(t for v, t in pairs if v > value)
        candidates.append((value, left, right))
    if not candidates:
        return []
    value, left, right = max(candidates, key=lambda c: odds(c[1], c[2]))  # max keeps the first
    with localcontext(prec=50):
        if not pays(left, right):
            return []
    low = [p for p in pairs if p[0] <= value]
    high = [p for p in pairs if p[0] > value]
    return [
        *mdl_oracle(*zip(*low, strict=True)),
        value,
        *mdl_oracle(*zip(*high, strict=True)),
    ]


def assert_cuts_after(cuts, values, lower):
    """Each cut lies midway between the distinct value in `lower` and the next one up."""
    distinct = sorted({v for v in values if not math.isnan(v)})
    upper = [distinct[distinct.index(v) + 1] for v in lower]
    assert cuts.tolist() == [(a + b) / 2 for a, b in zip(lower, upper, strict=True)]


@st.composite
def labelled_columns(draw):
    """Small columns in which classes go with values, so that there is something to cut."""
    n = draw(st.integers(0, 45))
    k = draw(st.integers(1, 5))
    values = draw(
        st.lists(st.integers(0, draw(st.integers(1, 30))) | st.just(NAN), min_size=n, max_size=n)
    )
    width = draw(st.integers(1, 8))
    noise = draw(st.lists(st.sampled_from([0, 0, 0, 0, 0, 1]), min_size=n, max_size=n))
    target = [
        (0 if math.isnan(v) else int(v) // width + e) % k
        for v, e in zip(values, noise, strict=True)
    ]
    return values, target


@given(labelled_columns())
@settings(max_examples=400, deadline=None)
@example(([0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 1, 1, 0, 0, 0]))  # two best cuts, mirror images
@example(([0] * 9 + [1] * 9 + [2] * 9, [0] * 9 + [1] * 9 + [0] * 9))
def test_mdl_equals_brute_force(data):
    values, target = data
    cuts = cut_points(np.array(values, dtype=np.float64), MDL(), np.array(target, dtype=np.int64))
    assert_cuts_after(cuts, values, mdl_oracle(values, target))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=30))
@settings(max_examples=200, deadline=None)
def test_mdl_equals_brute_force_on_noise(pairs):
    values, target = [v for v, _ in pairs], [t for _, t in pairs]
    cuts = cut_points(np.array(values, dtype=np.int64), MDL(), np.array(target, dtype=np.int8))
    assert_cuts_after(cuts, values, mdl_oracle(values, target))


@pytest.mark.parametrize("seed", range(6))
def test_mdl_equals_brute_force_on_a_longer_column(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 80, 400)
    target = (values // 16 * 7 + (rng.random(400) < 0.15)) % 6
    cuts = cut_points(values, MDL(), target)
    assert cuts.size >= 3
    assert_cuts_after(cuts, values.tolist(), mdl_oracle(values.tolist(), target.tolist()))


@given(st.integers(2, 20), st.sets(st.integers(1, 19)), st.sets(st.integers(1, 19)))
@settings(max_examples=200, deadline=None)
@example(9, {4}, set())
@example(8, {5}, set())
@example(11, set(), {1, 10})
def test_mdl_takes_the_first_of_cuts_that_tie(size, left_splits, right_splits):
    # A class shared evenly by two bins takes 2c log 2c - 2 (c log c) = 2c bits fewer if they stay
    # together, so only the sum of such classes counts: a tie of unlike logarithms, which rounding
    # would break either way. Half the middle bin goes with the left one, half with the right one.
    def parts(splits):
        places = [0, *sorted(s for s in splits if s < size), size]
        return np.diff(places).tolist()

    values, target = [], []
    for first, counts in ((0, parts(left_splits)), (1, parts(right_splits))):
        for i, count in enumerate(counts):
            values += [first] * count + [first + 1] * count
            target += [2 * i + first] * (2 * count)
    bins = [Counter(t for v, t in zip(values, target, strict=True) if v == b) for b in range(3)]
    assert odds(bins[0], bins[1] + bins[2]) == odds(bins[0] + bins[1], bins[2])
    for sign in (1, -1):
        column = [sign * v for v in values]
        assert_cuts_after(cut_points(column, MDL(), target), column, mdl_oracle(column, target))


def test_mdl_takes_the_first_of_cuts_that_tie_even_if_only_the_second_would_pay():
    values, target = [1, 1, 2, 3, 3], [0, 0, 1, 2, 3]
    assert cut_points(values, MDL(), target).size == 0
    assert cut_points([-v for v in values], MDL(), target).tolist() == [-2.5, -1.5]


def test_mdl_tells_near_ties_apart_in_a_long_column():
    # Among 200,001 records the later cut is better by some hundred-thousandths of a bit in all.
    counts = [Counter({0: 70_000, 1: 30_000}), Counter([0, 1]), Counter({0: 29_999, 1: 70_000})]
    with localcontext(prec=50):
        first, second = (
            sum(p.total() * entropy(p) for p in parts)
            for parts in (
                (counts[0], counts[1] + counts[2]),
                (counts[0] + counts[1], counts[2]),
            )
        )
        assert 0 < first - second < Decimal("1e-4")
    values = np.repeat([0, 1, 2], [c.total() for c in counts])
    target = np.concatenate([list(c.elements()) for c in counts])
    assert cut_points(values, MDL(), target).tolist() == [1.5]


# --- worked cases of MDL -------------------------------------------------------------------------


def test_mdl_cuts_between_two_classes():
    assert cut_points([1, 2, 3, 4, 6, 7, 8, 9], MDL(), [0, 0, 0, 0, 1, 1, 1, 1]).tolist() == [5.0]


def test_mdl_criterion_worked_by_hand():
    # Four of each class, apart: gain 1 bit; (log2 7 + log2 7 - 2) / 8 = 0.45, so it pays.
    # One of each: gain 1; (log2 1 + log2 7 - 2) / 2 = 0.40, so it pays too.
    # 1 + 1 against 2: gain 0.31; (log2 3 + log2 7 - 2 * 0.81 + 2) / 4 = 1.19 does not.
    assert cut_points(range(8), MDL(), [0] * 4 + [1] * 4).tolist() == [3.5]
    assert cut_points([0, 1], MDL(), [0, 1]).tolist() == [0.5]
    assert cut_points([0, 0, 1, 1], MDL(), [0, 1, 1, 1]).tolist() == []


def test_mdl_cuts_more_than_once():
    values = np.arange(60)
    assert cut_points(values, MDL(), values // 20).tolist() == [19.5, 39.5]
    assert cut_points(values, MDL(), values // 20 % 2).tolist() == [19.5, 39.5]


def test_mdl_leaves_noise_whole():
    rng = np.random.default_rng(0)
    cuts = cut_points(rng.normal(size=2000), MDL(), rng.integers(0, 2, 2000))
    assert cuts.size == 0


def test_mdl_leaves_one_class_whole():
    assert cut_points([1, 2, 3], MDL(), [4, 4, 4]).size == 0


def test_mdl_ignores_records_whose_value_is_missing():
    values = [1, 2, 3, 4, NAN, 6, 7, 8, 9, NAN]
    target = [0, 0, 0, 0, 99, 1, 1, 1, 1, 0]
    assert cut_points(values, MDL(), target).tolist() == [5.0]


def test_mdl_does_not_depend_on_the_order_of_records_nor_on_the_names_of_classes():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 200, 3000)
    target = (values // 40 + (rng.random(3000) < 0.2)) % 7
    cuts = cut_points(values, MDL(), target)
    order = rng.permutation(values.size)
    assert cuts.size >= 3
    assert np.array_equal(cuts, cut_points(values[order], MDL(), target[order]))
    renamed = np.array([2**62, 5, 10**9, 3, 0, 12345, 77], dtype=np.uint64)[target]
    assert np.array_equal(cuts, cut_points(values, MDL(), renamed))


def test_mdl_of_as_many_classes_as_records():
    values = np.arange(300)
    expected = mdl_oracle(values.tolist(), values.tolist())
    assert_cuts_after(cut_points(values, MDL(), values), values.tolist(), expected)


def test_mdl_does_not_recurse():
    values = np.arange(6000)
    assert cut_points(values, MDL(), values).size > 1000


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int32, np.uint64])
def test_mdl_reads_any_integer_codes(dtype):
    target = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=dtype)
    assert cut_points(range(8), MDL(), target).tolist() == [3.5]


# --- bins of equal width and of equal frequency --------------------------------------------------


def test_equal_width():
    assert cut_points([0.0, 3.0, 10.0], EqualWidth(5)).tolist() == [2.0, 4.0, 6.0, 8.0]
    tenths = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert cut_points([0, 1], EqualWidth()).tolist() == tenths  # 0.3, not 0.30000000000000004


def test_equal_width_at_the_ends_of_the_floats():
    assert cut_points([-HUGE, HUGE], EqualWidth(2)).tolist() == [0.0]
    assert cut_points([-HUGE, HUGE], EqualWidth(4)) == pytest.approx([-HUGE / 2, 0.0, HUGE / 2])
    assert cut_points([0.0, TINY], EqualWidth(10)).tolist() == [TINY]
    below = np.nextafter(HUGE, 0)
    assert cut_points([below, HUGE], EqualWidth(1000)).tolist() == [HUGE]


def test_equal_frequency():
    assert cut_points(range(10), EqualFrequency(2)).tolist() == [4.5]
    assert cut_points(range(10), EqualFrequency(3)).tolist() == [2.5, 6.5]
    assert cut_points([5, 1, 4, 2, 3], EqualFrequency(100)).tolist() == [1.5, 2.5, 3.5, 4.5]


def test_equal_frequency_keeps_ties_together():
    assert cut_points([1, 1, 1, 2, 5, 7], EqualFrequency(3)).tolist() == [1.5, 3.5]
    assert cut_points([0] * 90 + list(range(1, 11)), EqualFrequency(10)).tolist() == [0.5]
    # Wanted after 2 of 4 records, possible after 1 or 3: the lower of two equally near places.
    assert cut_points([0, 1, 1, 2], EqualFrequency(2)).tolist() == [0.5]


@given(tied_columns, st.integers(2, 9))
def test_equal_frequency_cuts_where_an_oracle_does(values, bins):
    data = sorted(v for v in values.tolist() if not math.isnan(v))
    places = [i for i in range(1, len(data)) if data[i - 1] < data[i]]
    wanted = [Fraction(i * len(data), bins) for i in range(1, bins)]
    chosen = {min(places, key=lambda p: (abs(p - w), p)) for w in wanted if places}
    expected = [(data[i - 1] + data[i]) / 2 for i in sorted(chosen)]
    assert cut_points(values, EqualFrequency(bins)).tolist() == expected


@given(columns | tied_columns, st.integers(2, 9))
def test_bins_of_equal_frequency_are_never_empty(values, bins):
    cuts = cut_points(values, EqualFrequency(bins))
    codes = apply_cuts(values, cuts)
    assume((codes >= 0).any())
    assert np.unique(codes[codes >= 0]).tolist() == list(range(cuts.size + 1))
    assert cuts.size < bins


# --- what holds for every way to cut -------------------------------------------------------------


@given(columns | tied_columns, specs, st.integers(0, 2**32 - 1))
def test_cuts_increase_and_codes_follow_values(values, spec, seed):
    target = np.random.default_rng(seed).integers(0, 3, values.size)
    kept, kept_target = values.copy(), target.copy()
    values.flags.writeable = target.flags.writeable = False
    cuts = cut_points(values, spec, target)
    assert cuts.dtype == np.float64
    assert np.isfinite(cuts).all()
    assert (np.diff(cuts) > 0).all()

    codes = apply_cuts(values, cuts)
    assert codes.dtype == np.int64
    assert np.array_equal(codes == -1, np.isnan(values))
    order = np.argsort(values)
    ordered = codes[order][~np.isnan(values[order])]
    assert (np.diff(ordered) >= 0).all()
    for value in np.unique(values[~np.isnan(values)]):
        assert np.unique(codes[values == value]).size == 1
    if ordered.size and cuts.size:  # the outer bins are never empty
        assert (ordered[0], ordered[-1]) == (0, cuts.size)
    assert np.array_equal(values, kept, equal_nan=True)
    assert np.array_equal(target, kept_target)


@pytest.mark.parametrize("spec", [EqualWidth(3), EqualFrequency(3), MDL()])
@pytest.mark.parametrize(
    "values", [[], [NAN], [NAN, NAN], [2.5], [2.5, NAN, 2.5], [0.0, -0.0], [HUGE]]
)
def test_nothing_to_cut(values, spec):
    cuts = cut_points(values, spec, list(range(len(values))))
    assert cuts.dtype == np.float64
    assert cuts.shape == (0,)


@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, TINY, -TINY, 2.0**52, 1e308, -1e-300])
@pytest.mark.parametrize("spec", [EqualWidth(2), EqualFrequency(2), MDL()])
def test_a_cut_separates_adjacent_floats(low, spec):
    high = np.nextafter(low, np.inf)
    cuts = cut_points([low, high], spec, [0, 1])
    assert apply_cuts([low, high], cuts).tolist() == [0, 1]
    assert low < cuts[0] <= high


def test_named_edges_are_kept_whatever_the_data():
    for values in ([], [NAN], [5.0, 5.0], [1.0, 50.0]):
        assert cut_points(values, Edges((18, 65))).tolist() == [18.0, 65.0]


def test_bins_are_closed_on_the_left():
    assert apply_cuts([0.9, 1.0, 1.1, 2.0, NAN], [1.0, 2.0]).tolist() == [0, 1, 1, 2, -1]
    assert apply_cuts(np.array([1, 2, 3], dtype=np.int8), np.array([2.0])).tolist() == [0, 1, 1]
    assert apply_cuts([1.0, NAN], []).tolist() == [0, -1]
    assert apply_cuts([], [1.0]).tolist() == []


@given(hnp.arrays(np.float64, 20, elements=st.floats()), st.lists(st.floats(-9, 9), unique=True))
def test_a_code_is_the_number_of_cuts_not_above(values, cuts):
    cuts = sorted(set(np.array(cuts) + 0.0))
    expected = [-1 if math.isnan(v) else sum(c <= v for c in cuts) for v in values]
    assert apply_cuts(values, cuts).tolist() == expected


# --- labels --------------------------------------------------------------------------------------


def test_labels():
    assert bin_labels([]) == ("all",)
    assert bin_labels([38.0]) == ("< 38", ">= 38")
    assert bin_labels([25.5, 38.0]) == ("< 25.5", "25.5 – 38", ">= 38")
    assert bin_labels(np.array([-2.0, -0.0, 0.1])) == ("< -2", "-2 – 0", "0 – 0.1", ">= 0.1")
    assert bin_labels([1234567.0, 1234567.5]) == (
        "< 1234567",
        "1234567 – 1234567.5",
        ">= 1234567.5",
    )
    assert bin_labels([1e20]) == ("< 1e+20", ">= 1e+20")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_labels_are_distinct_and_read_back(cuts):
    cuts = np.unique(np.array(cuts) + 0.0)
    labels = bin_labels(cuts)
    assert len(set(labels)) == len(labels) == cuts.size + 1
    assert [float(label.split(" – ")[0]) for label in labels[1:-1]] == cuts[:-1].tolist()
    assert float(labels[0].removeprefix("< ")) == cuts[0]
    assert float(labels[-1].removeprefix(">= ")) == cuts[-1]


def test_labels_of_adjacent_floats_differ():
    assert len(set(bin_labels([1.0, np.nextafter(1.0, 2.0)]))) == 3


# --- specifications ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        ("width", EqualWidth(10)),
        ("frequency", EqualFrequency(10)),
        ("mdl", MDL()),
        (4, EqualFrequency(4)),
        (np.int32(4), EqualFrequency(4)),
        ([1, 2.5], Edges((1.0, 2.5))),
        ((1, np.float32(2.5)), Edges((1.0, 2.5))),
        (np.array([1, 2]), Edges((1.0, 2.0))),
        (range(1, 3), Edges((1.0, 2.0))),
        ([], Edges(())),
        (EqualWidth(3), EqualWidth(3)),
        (EqualFrequency(3), EqualFrequency(3)),
        (Edges((1.0,)), Edges((1.0,))),
        (MDL(), MDL()),
    ],
)
def test_as_spec(value, spec):
    assert as_spec(value) == spec
    assert type(as_spec(value)) is type(spec)


def test_specs_are_values():
    assert EqualWidth(np.int64(4)) == EqualWidth(4) != EqualFrequency(4)
    assert repr(EqualWidth(np.int64(4))) == "EqualWidth(bins=4)"
    assert repr(Edges([18, np.float64(65)])) == "Edges(edges=(18.0, 65.0))"
    assert len({EqualWidth(4), EqualWidth(4), EqualFrequency(4), Edges((1,)), MDL()}) == 4
    with pytest.raises(FrozenInstanceError):
        EqualWidth(4).bins = 5


@pytest.mark.parametrize("value", ["MDL", "", 2.5, None, True, {1.0, 2.0}, MDL, b"ab"])
def test_as_spec_lists_what_it_takes(value):
    with pytest.raises(InputError) as error:
        as_spec(value)
    assert str(error.value) == (
        'a discretisation must be "auto", "width", "frequency", "mdl", a number of bins, cut '
        f"points, or one of Auto, EqualWidth, EqualFrequency, Edges and MDL; got {value!r}"
    )


# --- every refusal says what is wrong and where --------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EqualWidth(1), "bins must be an integer of at least 2, got 1"),
        (lambda: EqualFrequency(-3), "bins must be an integer of at least 2, got -3"),
        (lambda: EqualWidth(4.0), "bins must be an integer of at least 2, got 4.0"),
        (lambda: EqualWidth(True), "bins must be an integer of at least 2, got True"),
        (lambda: EqualWidth("4"), "bins must be an integer of at least 2, got '4'"),
        (lambda: as_spec(1), "bins must be an integer of at least 2, got 1"),
        (lambda: Edges(5), "edges must be a sequence of numbers, got 5"),
        (lambda: Edges((1, "a")), "edges must be finite numbers, got 'a' at position 1"),
        (lambda: as_spec(["1", "2"]), "edges must be finite numbers, got '1' at position 0"),
        (lambda: Edges((False, 1)), "edges must be finite numbers, got False at position 0"),
        (lambda: Edges((1, NAN)), "edges must be finite numbers, got nan at position 1"),
        (lambda: Edges((-math.inf, 0)), "edges must be finite numbers, got -inf at position 0"),
        (
            lambda: Edges((10**400,)),
            f"edges must be finite numbers, got {10**400} at position 0",
        ),
        (lambda: Edges((1, 3, 2)), "edges must increase strictly, got 2 at position 2"),
        (lambda: Edges((1.5, 1.5)), "edges must increase strictly, got 1.5 at position 1"),
        (lambda: apply_cuts([1.0], [2, 1]), "cuts must increase strictly, got 1 at position 1"),
        (lambda: apply_cuts([1.0], 2.0), "cuts must be a sequence of numbers, got 2.0"),
        (lambda: bin_labels([NAN]), "cuts must be finite numbers, got nan at position 0"),
        (lambda: apply_cuts(["a"], [2.0]), "values must hold numbers, got dtype <U1"),
        (lambda: apply_cuts(1.0, [2.0]), "values must be one-dimensional, got shape ()"),
        (
            lambda: cut_points([[1.0]], EqualWidth(), column="age"),
            "column 'age' must be one-dimensional, got shape (1, 1)",
        ),
        (
            lambda: cut_points([1, None], EqualWidth(), column="age"),
            "column 'age' must hold numbers, got dtype object",
        ),
        (
            lambda: cut_points([1.0, NAN, math.inf], EqualWidth(), column="age"),
            "column 'age' must hold finite numbers, got inf at record 2",
        ),
        (
            lambda: cut_points([-math.inf, 1.0], Edges((0.0,))),
            "column 'x' must hold finite numbers, got -inf at record 0",
        ),
        (
            lambda: cut_points([1.0], MDL()),
            "target must be given: MDL cuts a column by the classes of a target",
        ),
        (
            lambda: cut_points([1.0, 2.0], MDL(), [0]),
            "target must have shape (2,), got (1,)",
        ),
        (
            lambda: cut_points([1.0, 2.0], MDL(), [0.0, 1.0]),
            "target must hold integer codes, got dtype float64",
        ),
        (
            lambda: cut_points([1.0, 2.0], MDL(), [0, -1]),
            "target must hold no negative codes, got -1 at record 1",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == message


def test_cut_points_refuses_what_is_no_spec():
    with pytest.raises(InputError, match="a discretisation must be"):
        cut_points([1.0, 2.0], None)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=6, unique=True))
def test_edges_are_found_in_labels(edges):
    edges = sorted({edge + 0.0 for edge in edges})
    labels = bin_labels(edges)
    assert bin_edges(labels) == bin_edges((*labels, None)) == Edges(tuple(edges))


@pytest.mark.parametrize(
    "labels",
    [("no", "yes"), (0, 1), ("all",), ("< 3", ">= 4"), ("< 3", "3 – 2", ">= 2"), (None,),
     ("< x", ">= x"), ("< 3", 3, ">= 3"), ("< 3", "– 4", ">= 4")],
)  # fmt: skip
def test_other_labels_have_no_edges(labels):
    assert bin_edges(labels) is None
