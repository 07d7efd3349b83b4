"""Lists of items against sets and sorting in Python."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError, Table, _core

ITEMS = st.one_of(st.text(max_size=3), st.integers(0, 12), st.booleans(), st.none())
COLLECTIONS = st.sampled_from([list, tuple, set, frozenset])


@given(st.lists(st.tuples(st.lists(ITEMS, max_size=6), COLLECTIONS), max_size=30))
def test_each_item_once_and_sorted(made):
    baskets = [form(items) for items, form in made]
    names, indptr, ids = _core.encode_baskets(baskets)
    assert names == sorted({str(item) for basket in baskets for item in basket})
    assert indptr[0] == 0
    assert len(indptr) == len(made) + 1
    found = [[names[k] for k in ids[a:b]] for a, b in pairwise(indptr)]
    assert found == [sorted({str(item) for item in basket}) for basket in baskets]


def test_texts_that_live_shortly_are_told_apart():
    # Their addresses are those of others before them.
    rows = [(f"i{r * 7 % 50}" for r in range(k, k + 5)) for k in range(2000)]
    names, _, ids = _core.encode_baskets(rows)
    expected = [sorted({f"i{r * 7 % 50}" for r in range(k, k + 5)}) for k in range(2000)]
    assert [names[k] for k in ids] == [item for row in expected for item in row]


def test_many_objects_of_one_text():
    rows = [[str(k % 20_000), str(k % 3)] for k in range(60_000)]
    names, indptr, ids = _core.encode_baskets(rows)
    held = [{names[k] for k in ids[a:b]} for a, b in pairwise(indptr)]
    assert held == [set(row) for row in rows]


@pytest.mark.parametrize(
    ("baskets", "answer"),
    [
        ([["a"], ["b", "c"]], True),
        ([["a"], ("b",), {"c"}], False),
        ([["a"], [1]], None),
        ([["a"], "bc"], None),
        ([["a"], np.array(["b"])], None),
        ([], False),
    ],
)
def test_only_text(baskets, answer):
    assert _core.only_text(baskets) is answer


def test_what_is_no_collection_is_named():
    with pytest.raises(InputError, match="basket 1 is a str; give a list of items"):
        Table.from_baskets([["a"], "bc"])
    with pytest.raises(InputError, match="basket 2 is a int; give a list of items"):
        Table.from_baskets([["a"], (), 3])

    def failing():
        yield "a"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        Table.from_baskets([["a"], failing()])
