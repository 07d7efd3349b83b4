"""Recommendations: against every probability sorted by hand, and baskets of all kinds."""

from importlib import import_module

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from oracles import counts as oracles
from support.strategies import data
from tacit import DependencyNetwork, InputError, Table

BASKETS = [["bread", "butter"], ["bread", "butter", "jam"], ["beer"], ["beer", "crisps"], []] * 12


@pytest.fixture(scope="module")
def web():
    return DependencyNetwork().fit(Table.from_baskets(BASKETS))


@pytest.fixture(scope="module")
def mixed():
    """Columns of several values, one of them with missing values."""
    rng = np.random.default_rng(0)
    size = rng.integers(0, 3, 300)
    sizes = np.array(["S", "M", "L"])[size]
    colour = np.where(rng.random(300) < 0.8, np.array(["red", "blue", None])[size], "red")
    frame = pl.DataFrame({"size": sizes, "colour": colour.tolist(), "sold": size > 0})
    return DependencyNetwork().fit(frame), Table(frame)


@settings(max_examples=40)
@given(data(max_columns=5, weights=None, with_chosen=False), st.integers(1, 12))
def test_items_are_ranked_by_probability(small, n):
    if len(small.arities) < 2:
        return
    table = small.table()
    web = DependencyNetwork().fit(table)
    ranked = web.recommend(table, n=n)
    ids = oracles.value_ids(small.arities, small.defaults)
    expected = []
    for record, row in enumerate(small.rows):
        chances = [
            (-web.predict_proba(table, column)[record, code], v, column, code)
            for (column, code), v in ids.items()
            if row[column] == small.defaults[column]
        ]
        for rank, (chance, _, column, code) in enumerate(sorted(chances)[:n], 1):
            expected.append((record, rank, f"c{column}=v{code}", -chance))
    assert ranked.rows() == expected
    one = web.recommend(list(held_items(small, 0)), n=n)
    assert one.rows() == [(item, chance) for r, _, item, chance in expected if r == 0]


def held_items(small, record):
    for column, code in enumerate(small.rows[record]):
        if code != small.defaults[column]:
            yield f"c{column}", f"v{code}"


def test_one_basket_by_names_places_and_mapping(web):
    named = web.recommend(["bread", "butter"], n=2)
    assert named.columns == ["item", "probability"]
    assert named["item"][0] == "jam"
    names = web.schema_.names
    places = [names.index("bread"), names.index("butter")]
    for basket in (
        places,
        np.array(["bread", "butter"]),
        {"bread", "butter"},
        [("bread", True), "butter"],
        {"bread": True, "butter": True, "beer": False},
        ["butter", "bread", "bread"],
    ):
        assert web.recommend(basket, n=2).equals(named)


def test_an_empty_basket_gets_what_is_most_probable_given_nothing(web):
    ranked = web.recommend([])
    assert sorted(ranked["item"]) == sorted(web.schema_.names)
    assert ranked["probability"].is_sorted(descending=True)
    empty = Table.from_stored(web.schema_, [0, 0], np.zeros(0, np.uint16))
    assert web.recommend(empty).select("item", "probability").equals(ranked)
    assert web.recommend({}).equals(ranked)


def test_nothing_is_left_to_recommend(web):
    everything = web.recommend(list(web.schema_.names))
    assert everything.shape == (0, 2)
    assert everything.schema == web.recommend([]).schema


def test_many_baskets(web):
    table = Table.from_baskets(BASKETS)
    ranked = web.recommend(table, n=3)
    assert ranked.columns == ["record", "rank", "item", "probability"]
    for record in range(5):
        one = ranked.filter(pl.col("record") == record).select("item", "probability")
        assert one.equals(web.recommend(BASKETS[record], n=3))
    held = {(r, item) for r, basket in enumerate(BASKETS) for item in basket}
    assert held.isdisjoint(ranked.select("record", "item").iter_rows())


def test_many_baskets_as_frames_and_sparse_arrays():
    codes = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]] * 10)
    web = DependencyNetwork().fit(codes)
    expected = web.recommend(codes, n=2)
    assert expected["item"][0] == "x2"
    assert web.recommend(sparse.csr_array(codes), n=2).equals(expected)
    frame = pl.DataFrame(codes, schema=["a", "b", "c"], orient="row")
    named = DependencyNetwork().fit(frame)
    assert named.recommend(frame, n=2)["probability"].equals(expected["probability"])
    columns = {name: frame[name].to_list() for name in "abc"}
    assert named.recommend(columns, n=2).equals(named.recommend(frame, n=2))


def test_batches_do_not_matter(web, monkeypatch):
    table = Table.from_baskets(BASKETS)
    whole = web.recommend(table, n=2)
    monkeypatch.setattr(import_module("tacit.tree.network.recommend"), "_CELLS", 13)
    assert web.recommend(table, n=2).equals(whole)


def test_values_of_several_and_missing_ones(mixed):
    web, _ = mixed
    stored = web.schema_.value_label(0)
    ranked = web.recommend([stored], n=20)
    items = ranked["item"].to_list()
    assert not any("size" in item or "missing" in item for item in items)
    assert {"sold", "sold=False", "colour=blue", "colour=red"} & set(items)
    again = web.recommend([f"size={stored[1]}"], n=20)
    assert again.equals(ranked)
    default = str(web.schema_["size"].default_label)
    assert web.recommend({"size": default}).equals(web.recommend([]))


@pytest.mark.parametrize(
    ("basket", "message"),
    [
        (["bred"], "there is no item 'bred'; did you mean 'bread'"),
        (["zzz"], "there is no item 'zzz'$"),
        ("bread", "must be a list of items, got 'bread'"),
        (7, "must be a list of items"),
        ([99], "column 99 is not among"),
        ([None], "must be a column's name or position"),
        ([("bread", "much")], "basket: column 'bread' has no label 'much'"),
        ([("bread", True, 1)], "a pair is a column and a label"),
        ({"brad": True}, "there is no column 'brad'"),
        ([("bread", True), ("bread", False)], "column 'bread' has two values"),
    ],
)
def test_baskets_that_cannot_be(web, basket, message):
    with pytest.raises(InputError, match=message):
        web.recommend(basket)


def test_columns_of_several_values_need_a_label(mixed):
    with pytest.raises(InputError, match="column 'size' has several values"):
        mixed[0].recommend(["size"])
    web = DependencyNetwork().fit({"a": [0, 1] * 9, "b": [1, 0] * 9, "c": ["same"] * 18})
    with pytest.raises(InputError, match="column 'c' has one value only"):
        web.recommend(["c"])


def test_n_is_checked(web):
    with pytest.raises(InputError, match="n must be"):
        web.recommend(["bread"], n=0)
