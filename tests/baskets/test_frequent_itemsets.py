"""FrequentItemsets: which sets are found, how they are shown and saved, and what is refused."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles.itemsets import frequent_itemsets, most_frequent
from support.baskets import BASKETS, ITEMS
from support.scripts import run, run_interrupted
from tacit import FrequentItemsets, InputError, Table
from tacit.baskets.mining import whole_weights

KINDS = ("all", "closed", "maximal")


@parametrize_with_checks([FrequentItemsets()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def as_dict(fitted):
    sets = fitted.itemsets_
    found = {sets[k]: sets.counts[k].item() for k in range(len(sets))}
    assert len(found) == len(sets)
    return found


def expected_sets(baskets, min_count, kind, *, weights=None, n=None, sizes=(1, 99), hold=(),
                  exclude=(), groups=()):  # fmt: skip
    """What the parameters mean: constraints choose among the sets of a kind."""
    records = [basket - set(exclude) for basket in baskets]
    found = {
        items: count
        for items, count in frequent_itemsets(records, min_count, kind, weights).items()
        if sizes[0] <= len(items) <= sizes[1]
        and set(hold) <= set(items)
        and all(set(group) & set(items) for group in groups)
    }
    return most_frequent(found, n) if n else found


@st.composite
def questions(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chances = rng.random(8) ** draw(st.integers(0, 2))
    held = rng.random((draw(st.integers(1, 60)), 8)) < chances
    held[0] = True  # all items are there
    baskets = [{ITEMS[k] for k in np.flatnonzero(row)} for row in held]
    kind = draw(st.sampled_from(KINDS))
    some = st.lists(st.sampled_from(ITEMS), max_size=2, unique=True)
    hold = draw(some)
    low = draw(st.integers(1, 3))
    return baskets, {
        "kind": kind,
        "n": None if kind == "maximal" else draw(st.none() | st.integers(1, 12)),
        "sizes": (low, low + draw(st.integers(0, 5))),
        "hold": hold,
        "exclude": [item for item in draw(some) if item not in hold],
        "groups": draw(st.lists(st.lists(st.sampled_from(ITEMS), min_size=1), max_size=2)),
    }


@given(questions(), st.integers(1, 9), st.sampled_from([1, 3]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_constraints_choose_among_the_sets_of_a_kind(question, min_count, n_jobs, weighted):
    baskets, asked = question
    weights = np.random.default_rng(len(baskets)).integers(1, 4, len(baskets)) if weighted else None
    low, high = asked["sizes"]
    fitted = FrequentItemsets(
        min_support=min_count, kind=asked["kind"], n_itemsets=asked["n"], min_size=low,
        max_size=high, must_hold=asked["hold"], must_not_hold=asked["exclude"],
        one_of=asked["groups"], n_jobs=n_jobs,
    ).fit(baskets, sample_weight=weights)  # fmt: skip
    given_weights = None if weights is None else weights.tolist()
    assert as_dict(fitted) == expected_sets(baskets, min_count, weights=given_weights, **asked)
    counts = fitted.itemsets_.counts
    assert (np.diff(counts) <= 0).all()
    level = np.diff(counts) == 0
    assert (np.diff(fitted.itemsets_.sizes)[level] >= 0).all()
    if not asked["groups"]:
        everything = clone(fitted).set_params(n_itemsets=None)
        forecast = everything.forecast(baskets, weights)
        sets = everything.fit(baskets, sample_weight=weights).itemsets_
        assert forecast == (len(sets), 16 * len(sets) + 4 * len(sets.cells))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("min_count", [1, 5, 30, 97, 120, 121])
def test_all_kinds(kind, min_count):
    fitted = FrequentItemsets(min_support=min_count, kind=kind).fit(BASKETS)
    assert as_dict(fitted) == frequent_itemsets(BASKETS, min_count, kind)
    assert (fitted.n_records_, fitted.complete_) == (120, True)
    assert bool(len(fitted.itemsets_)) == (min_count <= 120)
    assert fitted.feature_names_in_.tolist() == list(ITEMS)
    for n_jobs in (2, 5):
        again = clone(fitted).set_params(n_jobs=n_jobs).fit(BASKETS)
        assert again.to_frame().equals(fitted.to_frame())


def test_ties_of_the_most_frequent():
    baskets = [{"a", "b"}, {"a", "c"}, {"a"}, {"d"}]
    for n, expected in ((1, 1), (2, 6), (6, 6), (7, 6)):
        fitted = FrequentItemsets(min_support=1, kind="all", n_itemsets=n).fit(baskets)
        assert len(fitted.itemsets_) == expected
    for n, expected in ((1, 1), (2, 3), (3, 3)):  # a by itself is one of them
        held = FrequentItemsets(min_support=1, kind="all", n_itemsets=n, must_hold=["a"])
        assert len(held.fit(baskets).itemsets_) == expected
    # c is in few sets, all of them rare.
    rare = FrequentItemsets(min_support=1, kind="all", n_itemsets=1, one_of=[["c"]]).fit(baskets)
    assert as_dict(rare) == {("c",): 1, ("a", "c"): 1}


@pytest.mark.parametrize("kind", KINDS)
def test_groups_that_items_of_all_sets_meet(kind):
    asked = {"hold": ("c",), "groups": (("c", "e"), ("f", "g"))}
    fitted = FrequentItemsets(min_support=4, kind=kind, must_hold=["c"], one_of=asked["groups"])
    assert as_dict(fitted.fit(BASKETS)) == expected_sets(BASKETS, 4, kind, **asked) != {}


@pytest.mark.parametrize(("support", "least"), [(0.07, 7), (0.070001, 8), (7, 7), (1.0, 100)])
def test_fractions_that_are_a_hair_above_a_whole_number(support, least):
    assert 0.07 * 100 > 7
    baskets = [{"x"} if k < 7 else {"y"} for k in range(100)]
    found = as_dict(FrequentItemsets(min_support=support).fit(baskets))
    assert ((("x",) in found), (("y",) in found)) == (least <= 7, least <= 93)


def test_defaults_are_items_of_tables_of_any_arity():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "plan": rng.choice(["free", "pro", "team"], 60, p=[0.6, 0.3, 0.1]),
            "paid": rng.random(60) < 0.7,
            "same": ["x"] * 60,
            "seats": rng.integers(1, 5, 60),
            "note": [None if k % 3 else "n" for k in range(60)],
        }
    )

    def name(column, label):
        if label is True:
            return column
        return f"{column} = {'(missing)' if label is None else label}"

    records = [{name(*cell) for cell in row.items()} for row in frame.iter_rows(named=True)]
    names = {tuple(sorted(items)) for items in as_dict(
        FrequentItemsets(min_support=6, kind="all", defaults=True).fit(frame))}  # fmt: skip
    for kind in KINDS:
        fitted = FrequentItemsets(min_support=6, kind=kind, defaults=True).fit(frame)
        found = {tuple(sorted(items)): n for items, n in as_dict(fitted).items()}
        assert found == frequent_itemsets(records, 6, kind)
    assert ("same = x",) in names
    # Without them, only what differs from the most common label, and what is there.
    defaults = {"plan = free", "same = x", "paid = False", "note = (missing)",
                name("seats", frame["seats"].mode()[0])}  # fmt: skip
    stored = [record - defaults for record in records]
    found = as_dict(FrequentItemsets(min_support=6, kind="all").fit(frame))
    assert {tuple(sorted(items)): n for items, n in found.items()} == frequent_itemsets(stored, 6)
    held = FrequentItemsets(min_support=1, must_hold=[("plan", "pro")], must_not_hold=["paid"])
    assert all("plan = pro" in items for items in as_dict(held.fit(frame)))
    with pytest.raises(InputError, match=r"must_hold: plan = free is the default, and no item"):
        held.set_params(must_hold=("plan", "free")).fit(frame)
    held.set_params(defaults=True, kind="all").fit(frame)
    assert held.support([("plan", "free")]) == pytest.approx((frame["plan"] == "free").mean())


def kinds_of_input(baskets, tmp_path):
    held = np.array([[item in basket for item in ITEMS] for basket in baskets])
    codes = held.astype(int)
    path = tmp_path / "shop.parquet"
    pl.DataFrame(dict(zip(ITEMS, held.T, strict=True))).write_parquet(path)
    lines = tmp_path / "shop.baskets"
    lines.write_text("\n".join(",".join(sorted(basket)) for basket in baskets) + "\n")
    named = dict(zip(ITEMS, held.T, strict=True))
    return {
        "sets": baskets,
        "lists": [sorted(basket) for basket in baskets],
        "flags": pl.DataFrame(named),
        "pandas": pd.DataFrame(named),
        "numbers": pl.DataFrame(dict(zip(ITEMS, codes.T, strict=True))),
        "array": codes,
        "flag array": held,
        "csr": sparse.csr_array(codes),
        "csc": sparse.csc_matrix(codes),
        "table": Table.from_baskets(baskets),
        "other defaults": Table.from_baskets(baskets).with_defaults({"a": True, "d": True}),
        "path": path,
        "text path": str(path),
        "basket file": lines,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_input(kind, tmp_path):
    """Items in all records, in more than half and in none of them are the same items anywhere."""
    baskets = [basket - {"h"} for basket in BASKETS] + [{"a", "b", "h"}]
    expected = frequent_itemsets(baskets, 9, kind)
    for name, data in kinds_of_input(baskets, tmp_path).items():
        kept = copy.deepcopy(data)
        found = as_dict(FrequentItemsets(min_support=9, kind=kind).fit(data))
        if "array" in name or name.startswith("cs"):
            found = {tuple(ITEMS[int(x[1:])] for x in items): n for items, n in found.items()}
        assert found == expected, name
        assert_unchanged(data, kept)


def assert_unchanged(data, kept):
    if isinstance(data, pl.DataFrame | pd.DataFrame):
        assert data.equals(kept)
    elif isinstance(data, np.ndarray):
        np.testing.assert_array_equal(data, kept)
    elif sparse.issparse(data):
        assert (data != kept).nnz == 0
    elif isinstance(data, Table):
        assert data.schema == kept.schema
        np.testing.assert_array_equal(data.to_numpy(), kept.to_numpy())
    else:
        assert data == kept


def test_lists_that_are_equally_long_are_baskets():
    fitted = FrequentItemsets(min_support=1).fit([["tea", "milk"], ["milk", "jam"]])
    assert as_dict(fitted) == {("milk",): 2, ("milk", "tea"): 1, ("jam", "milk"): 1}


def test_one_record_and_nothing_frequent():
    assert as_dict(FrequentItemsets().fit([{"a", "b"}])) == {("a", "b"): 1}
    nothing = FrequentItemsets(min_support=2).fit([{"a"}, {"b"}])
    assert as_dict(nothing) == {}
    assert nothing.to_text() == "0 closed frequent itemsets of 2 records"
    assert nothing.to_frame().schema == FrequentItemsets().fit(BASKETS).to_frame().schema
    assert nothing.support(["a"]) == 0
    assert nothing.support([]) == 1
    assert nothing.to_html().count("<tr>") == 1
    assert len(nothing.plot().patches) == 0
    assert len(nothing.rules()) == 0
    assert nothing.forecast([{"a"}, {"b"}]) == (0, 0)


@pytest.mark.parametrize(
    ("empty", "message"),
    [
        ([], "X is empty: there are no baskets"),
        ((), "X is empty: there are no baskets"),
        ([["a", 1], ["b"]], "X: items of baskets must be text, got 1 in basket 0; Table.from_bask"),
        ([[1, 2], [], [3]], "X: items of baskets must be text, got 1 in basket 0"),
        ([set(), set()], "it has no columns"),
        (pl.DataFrame({"a": []}, schema={"a": pl.Boolean}), "X: there are no records"),
    ],
)
def test_empty_input_and_what_is_no_basket_is_refused(empty, message):
    with pytest.raises(ValueError, match=message):
        FrequentItemsets().fit(empty)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_weights_repeat_records(kind):
    often = np.random.default_rng(1).integers(0, 4, len(BASKETS))
    repeated = [basket for basket, n in zip(BASKETS, often, strict=True) for _ in range(n)]
    expected = FrequentItemsets(min_support=0.1, kind=kind).fit(repeated)
    for weights in (often, often.astype(float)):
        weighted = FrequentItemsets(min_support=0.1, kind=kind).fit(BASKETS, None, weights)
        assert as_dict(weighted) == as_dict(expected)
        assert weighted.n_records_ == often.sum()
    table = Table.from_baskets(BASKETS).with_weights(often)
    assert as_dict(FrequentItemsets(min_support=0.1, kind=kind).fit(table)) == as_dict(expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", [0.25, 0.1, 1 / 3, 1e-9, 12345.678])
def test_fractional_weights_are_multiples(kind, unit):
    often = np.random.default_rng(2).integers(0, 4, len(BASKETS))
    expected = FrequentItemsets(min_support=0.15, kind=kind).fit(BASKETS, None, often)
    scaled = FrequentItemsets(min_support=0.15, kind=kind).fit(BASKETS, None, often * unit)
    assert list(as_dict(scaled)) == list(as_dict(expected))
    counts = np.array(list(as_dict(expected).values()))
    np.testing.assert_allclose(scaled.itemsets_.counts, counts * unit, rtol=1e-9)
    assert scaled.n_records_ == pytest.approx(often.sum() * unit)
    assert (
        scaled.support(["c"]) == pytest.approx(expected.support(["c"])) if kind != "maximal" else 1
    )


def test_a_number_of_records_and_weights_that_are_no_fractions_of_two():
    fitted = FrequentItemsets(min_support=3).fit([{"a"}] * 10 + [{"b"}], None, [0.3] * 10 + [2.9])
    assert as_dict(fitted) == {("a",): pytest.approx(3)}
    # Weights of very different sizes: none is lost.
    tiny = FrequentItemsets(min_support=1e-300).fit([{"a"}, {"b"}], None, [1e-200, 1])
    assert set(as_dict(tiny)) == {("a",), ("b",)}


def test_whole_weights():
    whole, scale = whole_weights(np.array([0.1, 0.2, 1e6]))
    np.testing.assert_allclose(whole / scale, [0.1, 0.2, 1e6], rtol=1e-10)
    assert whole.sum() < 2**62
    assert whole_weights(np.array([1.0, 3.0]))[1] == 1


def test_weights_are_checked():
    def fit(weights):
        return FrequentItemsets(min_support=1).fit([{"a"}, {"b"}], None, weights)

    for weights, message in (
        ([0, 0], "sample_weight: all weights are zero"),
        ([1, -1], "sample_weight: .* record 1"),
        ([1, np.nan], "sample_weight: .* record 1"),
        ([1], "sample_weight"),
        ([2.0**62, 1], "sample_weight: weights must add up to 2\\^53 at most"),
    ):
        with pytest.raises(InputError, match=message):
            fit(weights)
    table = Table.from_baskets([{"a"}, {"b"}]).with_weights([1, 2])
    with pytest.raises(InputError, match="sample_weight: the Table has weights already"):
        FrequentItemsets().fit(table, None, [1, 1])


def test_a_limit_of_memory():
    baskets = [set(map(str, range(30)))] * 2
    with pytest.raises(
        InputError, match=r"min_support: the itemsets .* more than 1.0 MB; raise it"
    ):
        FrequentItemsets(min_support=1, kind="all", memory="1MB").fit(baskets)
    with pytest.raises(InputError, match="more than 20 B"):
        FrequentItemsets(min_support=1, memory=20).fit(baskets)
    forecast = FrequentItemsets(min_support=1, kind="all", memory=20).forecast(baskets)
    assert forecast.n_itemsets == 2**30 - 1
    fitted = FrequentItemsets(min_support=1, memory="1MB").fit(baskets)
    with pytest.raises(InputError, match=r"min_confidence: the rules.* more than 1.0 MB; raise it"):
        fitted.rules(redundant=True)


def test_ctrl_c_keeps_what_is_complete():
    script = """
        import os, signal, threading, warnings
        import numpy as np
        from tacit import FrequentItemsets, InputError, Table

        rng = np.random.default_rng(0)
        held = rng.random((2000, 200)) < np.linspace(0.01, 0.9, 200)
        table = Table(held)
        FrequentItemsets(min_support=2).fit(held[:3])  # all that is imported late is there
        sets = FrequentItemsets(min_support=20, kind="all", memory=2**50, n_jobs=2)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sets.fit(table)
        assert "interrupted" in str(caught[0].message)
        assert caught[0].filename == "<string>", caught[0].filename
        found = sets.itemsets_
        for k in range(0, len(found), len(found) // 50 + 1):
            cells = found.cells[found.indptr[k] : found.indptr[k + 1]] // 2
            assert held[:, cells].all(axis=1).sum() == found.counts[k]
        try:
            sets.rules()
        except InputError as error:
            print(sets.complete_, str(error).split(":")[0])
        """
    assert run(script) == ["False", "complete_"]


def test_ctrl_c_during_a_forecast_leaves_the_estimator_as_it_was():
    outcome, seconds = run_interrupted(
        """
        import numpy as np
        from tacit import FrequentItemsets

        held = np.random.default_rng(0).random((2000, 200)) < np.linspace(0.01, 0.9, 200)
        sets = FrequentItemsets(min_support=20, kind="closed")
        """,
        "sets.forecast(held)",
        "assert not hasattr(sets, 'itemsets_')",
    )
    assert outcome == "interrupted"
    assert seconds < 5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_support": 0}, "min_support"),
        ({"min_support": 0.0}, "min_support must be a fraction above 0"),
        ({"min_support": 1.5}, "min_support must be a fraction above 0 and up to 1, or a whole"),
        ({"min_support": -1}, "min_support"),
        ({"min_support": True}, "min_support"),
        ({"min_support": np.nan}, "min_support"),
        ({"min_support": "1%"}, "min_support"),
        ({"kind": "close"}, "kind must be .* did you mean 'closed'"),
        ({"n_itemsets": 0}, "n_itemsets must be"),
        ({"n_itemsets": 5, "kind": "maximal"}, "n_itemsets: which sets are maximal"),
        ({"min_size": 0}, "min_size must be"),
        ({"min_size": 3, "max_size": 2}, "max_size must be a whole number of at least 3"),
        ({"must_hold": ["z"]}, "must_hold: there is no column 'z'"),
        ({"must_hold": 5}, "must_hold must be a list of items, got 5"),
        ({"must_hold": [["a", True]]}, "must_hold must be a column's name or position"),
        ({"must_hold": [("a", "x")]}, "must_hold: column 'a' has no label 'x'"),
        ({"must_not_hold": [99]}, "must_not_hold: column 99"),
        ({"must_hold": "a", "must_not_hold": ["a"]}, "must_not_hold: 'a' is in must_hold, too"),
        ({"one_of": 5}, "one_of must be a list of lists of items, got 5"),
        ({"one_of": "ab"}, "one_of must be a list of lists of items, got 'ab'"),
        ({"one_of": [["a"], []]}, r"one_of\[1\] is empty"),
        ({"one_of": [["a"], ["z"]]}, r"one_of\[1\]: there is no column 'z'"),
        ({"defaults": "no"}, "defaults must be True or False"),
        ({"memory": "lots"}, "memory must be a size"),
        ({"memory": 0}, "memory must be"),
        ({"discretise": "x"}, "a discretisation must be"),
        ({"kinds": {"z": "categorical"}}, "kinds"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_parameters_are_checked(parameters, message):
    fitted = FrequentItemsets(min_support=5).fit(BASKETS)
    sets, data = fitted.itemsets_, Table.from_baskets(BASKETS)
    fitted.set_params(**parameters)
    with pytest.raises(InputError, match=message):
        fitted.fit(data)
    assert fitted.itemsets_ is sets
    with pytest.raises(InputError, match=message):
        clone(fitted).fit(tacit.scale.partition(data, 2))


def test_labels_with_commas_and_other_names_of_columns():
    fitted = FrequentItemsets(min_support=2, kind="all").fit([{"a, b", "c"}, {"a, b", "c"}, {"c"}])
    assert as_dict(fitted) == {("c",): 3, ("a, b",): 2, ("a, b", "c"): 2}
    assert fitted.to_frame()["items"].to_list() == [["c"], ["a, b"], ["a, b", "c"]]
    assert fitted.support(["a, b"]) == pytest.approx(2 / 3)
    frame = pl.DataFrame({"q": ["x, y", "x, y", "z = 1", "w", "w", "w"]})
    found = as_dict(FrequentItemsets(min_support=1).fit(frame))
    assert set(found) == {("q = x, y",), ("q = z = 1",)}
    numbered = pd.DataFrame({3: [True, False, True], 4: [True, True, True]})
    first = FrequentItemsets(min_support=1, kind="all", must_hold=[0]).fit(numbered)
    # As scikit-learn has it, names that are no text are none: columns go by their positions.
    assert as_dict(first) == {("x0",): 2, ("x0", "x1"): 2}
    assert first.support([1, 0]) == pytest.approx(2 / 3)


def test_numbers_are_cut():
    frame = pl.DataFrame({"age": np.linspace(20, 80, 90), "b": np.arange(90) % 2 == 0})
    fitted = FrequentItemsets(min_support=5, discretise=tacit.Edges((40, 65)), defaults=True)
    assert ("age = >= 65",) in as_dict(fitted.set_params(kind="all").fit(frame))
    kept = FrequentItemsets(min_support=1, kinds={"b": "categorical"}).fit(frame.select("b"))
    assert as_dict(kept) == {("b",): 45}


def test_weights_may_be_as_small_as_they_like():
    baskets = [["a", "q"], ["a"]] * 20
    sets = tacit.FrequentItemsets(min_support=0.1, kind="all")
    sets.fit(baskets, sample_weight=[1e-20, 3e-20] * 20)
    assert sets.support(["q"]) == pytest.approx(0.25, rel=1e-9)
    assert sets.n_records_ == pytest.approx(8e-19, rel=1e-9)
    none = tacit.FrequentItemsets(min_support=1).fit(baskets, sample_weight=[1e-20] * 40)
    assert len(none.itemsets_) == 0
