"""evaluate_recommender: what is hidden is found, or not, and the figures say how often."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.errors import InputError

BASKETS = [["a", "b"], ["a", "b", "c"], ["b", "c"], ["c"], [], ["a", "b"]] * 20


class Fixed:
    """Recommends the same items to everyone who lacks them; counts its fits."""

    def __init__(self, items=("a", "b", "c")):
        self.items = items

    def get_params(self, deep=True):
        return {"items": self.items}

    def set_params(self, **parameters):
        self.items = parameters["items"]
        return self

    def fit(self, X, y=None):
        self.n_fitted_ = X.n_records
        return self

    def recommend(self, table, n):
        names = table.schema.names
        rows = []
        for r in range(table.n_records):
            held = {names[v] for v in table.values[table.indptr[r] : table.indptr[r + 1]]}
            lacking = [item for item in self.items if item not in held][:n]
            rows += [(r, k + 1, item) for k, item in enumerate(lacking)]
        return pl.DataFrame(rows, schema=["record", "rank", "item"], orient="row")


def test_all_but_one_by_hand():
    """[a, b]: a is first; b, given a, is first. [a, b, c]: each is all that lacks. [b, c]: given
    b, a comes before c; given c, a comes before b.
    """
    found = tacit.evaluate_recommender(Fixed(), BASKETS, protocol="all_but_one", n=1, cv=None)
    frame = found.to_frame()
    assert frame["records"].to_list() == [80]
    assert frame["hit@1"].to_list() == [0.75]
    assert frame["coverage@1"].to_list() == [1.0]
    half = 1.959964 * np.std([1, 1, 0, 1] * 20, ddof=1) / np.sqrt(80)
    assert frame["hit@1 low"].to_list() == pytest.approx([0.75 - half])
    two = tacit.evaluate_recommender(Fixed(), BASKETS, protocol="all_but_one", n=2, cv=None)
    row = two.to_frame().row(0, named=True)
    assert row["hit@2"] == 1.0
    assert row["mrr@2"] == pytest.approx(0.75 + 0.25 / 2)
    assert row["ndcg@2"] == pytest.approx(0.75 + 0.25 / np.log2(3))


def test_leave_one_out_hides_one_item_of_each_record():
    found = tacit.evaluate_recommender(Fixed(("b", "a", "c")), BASKETS, n=3, cv=4)
    each = found.per_record["Fixed"]
    assert each["record"].to_list() == [r for r in range(120) if r % 6 in (0, 1, 2, 5)]
    assert (each["hit"] == 1.0).all()
    again = tacit.evaluate_recommender(Fixed(("b", "a", "c")), BASKETS, n=3, cv=4)
    assert again.per_record["Fixed"].equals(each)
    other = tacit.evaluate_recommender(Fixed(("b", "a", "c")), BASKETS, n=3, cv=4, random_state=1)
    assert not other.per_record["Fixed"].equals(each)


def test_folds_learn_from_the_others_only():
    """An item that one record holds cannot be found by who has not seen that record."""
    baskets = [["a", f"only {k}"] for k in range(40)]
    seen = tacit.Recommender("linear", l2=0.01).fit(baskets)
    fresh = tacit.evaluate_recommender(seen, baskets, protocol="all_but_one", n=1)
    known = tacit.evaluate_recommender(seen, baskets, protocol="all_but_one", n=1, cv=None)
    assert fresh.to_frame()["hit@1"][0] < known.to_frame()["hit@1"][0]


def test_temporal():
    """Until time 8, x has a and b, y has b; later x has c and again a, y has a and d."""
    log = pl.DataFrame(
        {
            "who": ["x", "x", "y", "z", "z", "z", "w", "w", "x", "x", "y", "y", "v"],
            "what": ["a", "b", "b", "a", "b", "c", "c", "b", "c", "a", "a", "d", "a"],
            "when": [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14],
        }
    )
    found = tacit.evaluate_recommender(
        Fixed(("c", "a")), log, protocol="temporal", n=1,
        record="who", item="what", time="when", test_fraction=5 / 13,
    )  # fmt: skip
    each = found.per_record["Fixed"]
    assert each["hit"].to_list() == [1.0, 0.0]  # x gets c; y gets c, not a
    assert found.n_unknown == 1  # d
    assert "1 items that were not there before are left out" in found.to_text()
    model = tacit.evaluate_recommender(
        tacit.Recommender("popularity"), log, protocol="temporal", n=3,
        record="who", item="what", time="when", test_fraction=5 / 13,
    )  # fmt: skip
    assert model.to_frame()["recall@3"].to_list() == [1.0]


def test_a_log_is_as_good_as_its_table():
    rows = [(r, item) for r, basket in enumerate(BASKETS) for item in basket]
    log = pl.DataFrame(rows, schema=["who", "what"], orient="row")
    table = tacit.Table.from_long(log, "who", "what")
    ask = {"n": 1, "protocol": "all_but_one"}
    one = tacit.evaluate_recommender(Fixed(), log, record="who", item="what", **ask)
    assert one.to_frame().equals(tacit.evaluate_recommender(Fixed(), table, **ask).to_frame())


def test_several_in_one_table():
    found = tacit.evaluate_recommender(
        {"good": Fixed(), "bad": Fixed(("c",))}, BASKETS, protocol="all_but_one", n=1, cv=None
    )
    assert found.to_frame()["recommender"].to_list() == ["good", "bad"]
    behind = found.differences("hit")
    assert behind["difference"].to_list()[0] == 0.0
    assert behind.row(1)[3] < 0  # worse, beyond the interval
    assert "good" in found.to_text()
    assert "<table" in found._repr_html_()
    listed = tacit.evaluate_recommender(
        [tacit.Recommender("popularity"), tacit.Recommender("neighbors")], BASKETS, n=1
    )
    assert len(listed.per_record) == 2


def test_networks_of_trees_are_recommenders():
    found = tacit.evaluate_recommender(tacit.DependencyNetwork(), BASKETS, n=2)
    assert found.to_frame()["hit@2"][0] > 0.9


def test_the_field_has_the_same_figures():
    """Ranks by sorting all scores, one record after another."""
    rng = np.random.default_rng(0)
    held = rng.random((150, 12)) < 0.3
    baskets = [[f"i{k:02}" for k in np.flatnonzero(row)] for row in held]
    rec = tacit.Recommender("linear", l2=10.0).fit(baskets[:100])
    new = tacit.Table.from_baskets(baskets).conform(rec.schema_).take(np.arange(100, 150))
    row = (
        tacit.evaluate_recommender(rec, new, protocol="all_but_one", n=5, cv=None)
        .to_frame()
        .row(0, named=True)
    )
    weights, constant = rec._linear.weights, rec._linear.intercept
    hits, gains = [], []
    for given in held[100:]:
        items = np.flatnonzero(given)
        if len(items) < 2:
            continue
        ranks = []
        for item in items:
            rest = given.copy()
            rest[item] = False
            scores = np.where(rest, -np.inf, rest @ weights + constant)
            ranks.append(int((scores > scores[item]).sum()) + 1)
        hits.append(np.mean([rank <= 5 for rank in ranks]))
        gains.append(np.mean([1 / np.log2(1 + rank) if rank <= 5 else 0 for rank in ranks]))
    assert row["hit@5"] == pytest.approx(np.mean(hits))
    assert row["recall@5"] == pytest.approx(np.mean(hits))
    assert row["ndcg@5"] == pytest.approx(np.mean(gains))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"protocol": "leave_two_out"}, "protocol must be"),
        ({"n": 0}, "n must be"),
        ({"cv": 1}, "cv must be"),
        ({"cv": 500}, "fewer than the 500 folds"),
        ({"level": 1.0}, "level must be"),
        ({"time": "when"}, "time is for protocol='temporal'"),
        ({"item": "what"}, "record: a log has one, too, if it has item='what'"),
    ],
)
def test_wrong_arguments(options, said):
    with pytest.raises(InputError, match=said):
        tacit.evaluate_recommender(Fixed(), BASKETS, **options)


def test_wrong_data():
    with pytest.raises(InputError, match="'int' has no method recommend"):
        tacit.evaluate_recommender({"int": 3}, BASKETS)
    with pytest.raises(InputError, match=r"is a class; make one, Recommender\(\)"):
        tacit.evaluate_recommender(tacit.Recommender, BASKETS)
    with pytest.raises(InputError, match="there are none"):
        tacit.evaluate_recommender([], BASKETS)
    with pytest.raises(InputError, match="no record to be asked about holds two items"):
        tacit.evaluate_recommender(Fixed(), [["a"], ["b"]], cv=None)
    log = pl.DataFrame({"who": ["x", "y"], "what": ["a", "b"], "when": [1, 1]})
    ask = {"protocol": "temporal", "record": "who", "item": "what"}
    with pytest.raises(InputError, match="time: protocol='temporal' needs"):
        tacit.evaluate_recommender(Fixed(), log, **ask)
    with pytest.raises(InputError, match="whenn"):
        tacit.evaluate_recommender(Fixed(), log, time="whenn", **ask)
    with pytest.raises(InputError, match="all times are the same"):
        tacit.evaluate_recommender(Fixed(), log, time="when", **ask)
