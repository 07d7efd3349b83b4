"""Answers of the server equal counts by brute force, whatever is selected."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from explore.test_state import selections
from support.strategies import data as random_data
from tacit import InputError
from tacit.explore import Explorer
from tacit.explore.findings import chosen_records
from tacit.explore.questions import answer, pack
from tacit.explore.views import views_of


def brute_force(table, selection, columns):
    codes = table.to_numpy()
    weights = np.ones(len(codes)) if table.weights is None else table.weights
    counts = np.zeros([table.schema.arities[c] for c in columns])
    for row, weight in zip(codes, weights, strict=True):
        if all(
            (row[c] in condition.codes) != condition.excluded
            for c, condition in selection.conditions.items()
        ):
            counts[tuple(row[c] for c in columns)] += weight
    return counts.ravel()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_state_is_counted(data):
    table = data.draw(random_data(with_chosen=False)).table()
    arities = table.schema.arities.tolist()
    columns = st.lists(
        st.integers(0, len(arities) - 1), min_size=1, max_size=min(3, len(arities)), unique=True
    )
    groups = data.draw(
        st.lists(
            st.tuples(selections(arities), st.lists(columns, max_size=4)), min_size=1, max_size=3
        )
    )
    asked = [{"given": s.to_text(), "sets": sets} for s, sets in groups]
    answers = answer(tacit.counter(table), asked)
    for (selection, sets), counts in zip(groups, answers, strict=True):
        expected = [brute_force(table, selection, columns) for columns in sets]
        assert counts.tolist() == np.concatenate([np.zeros(0), *expected]).tolist()
        records = chosen_records(table, selection)
        assert records.sum() == sum(brute_force(table.with_weights(None), selection, [0]))


@pytest.mark.parametrize(("largest", "size"), [(255, 1), (256, 2), (70_000, 4), (2**33, 8)])
def test_counts_take_as_few_bytes_as_they_need(largest, size):
    packed = pack([np.array([0, largest]), np.array([7])])
    assert packed[0] == size
    kind = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.float64}[size]
    assert np.frombuffer(packed, kind, offset=8).tolist() == [0, largest, 7]


def test_weights_are_doubles():
    assert np.frombuffer(pack([np.array([0.5])]), np.float64, offset=8).tolist() == [0.5]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (None, "ask must be a list"),
        ([], "ask must be a list"),
        (["x"], "sets of columns"),
        ([{"sets": "x"}], "sets of columns"),
        ([{"sets": [[]]}], "a set is up to 4"),
        ([{"sets": [[0, 1, 2, 3, 4]]}], "a set is up to 4"),
        ([{"sets": [["0"]]}], "a set is up to 4"),
        ([{"sets": [[True]]}], "a set is up to 4"),
        ([{"sets": [[5]]}], "a set is up to 4"),
        ([{"sets": [[-1]]}], "a set is up to 4"),
        ([{"sets": [[1, 1]]}], "distinct"),
        ([{"sets": [[0]] * 20_001}], "at most 20,000 tables"),
        ([{"sets": [[0, 1, 2, 3]] * 100}], "at most 4,000,000 cells"),
        ([{"sets": [[0]], "given": 3}], "must be a selection"),
    ],
)
def test_other_questions_are_refused(asked, said):
    table = tacit.Table(np.arange(5 * 30).reshape(30, 5) % 23)
    assert math.prod(table.schema.arities[:4].tolist()) * 100 > 4_000_000
    with pytest.raises(InputError, match=said):
        answer(tacit.counter(table), asked)


def test_conjunctions_are_those_of_brute_force():
    rng = np.random.default_rng(3)
    n = 3000
    x = {name: rng.integers(0, 3, n) for name in "abcd"}
    chosen = rng.random(n) < np.where((x["a"] == 1) & (x["b"] == 2), 0.9, 0.1)
    table = tacit.Table({**x, "chosen": chosen})
    explorer = Explorer(table)
    found = explorer.findings({"a": "4:1"})
    [best] = [rule for rule in found["rules"] if rule["given"] == {0: 1, 1: 2}]
    matching = (x["a"] == 1) & (x["b"] == 2)
    assert best["support"] == matching.sum()
    assert best["hits"] == (matching & chosen).sum()
    assert best["lift"] == pytest.approx(chosen[matching].mean() / chosen.mean())
    assert found["fraction"] == pytest.approx(chosen.mean())
    lowest = [rule["lowest"] for rule in found["rules"]]
    assert lowest == sorted(lowest, reverse=True)
    assert all(4 not in rule["given"] for rule in found["rules"])
    # Against another group: only records of both are compared.
    against = explorer.findings({"a": "4:1", "b": "4:0;3:0"})
    compared = chosen | (x["d"] == 0)
    assert against["fraction"] == pytest.approx(chosen[compared].mean())
    # Two columns are left, or none; nothing is selected, or everything.
    assert all(len(rule["given"]) <= 2 for rule in explorer.findings({"a": "0:1;1:2;2:1"})["rules"])
    assert explorer.findings({"a": "0:1;1:2;2:1;3:0;4:1"})["rules"] == []
    assert explorer.findings({"a": "4:"})["rules"] == []
    assert explorer.findings({"a": ""})["rules"] == []


def test_conjunctions_of_records_without_weight():
    table = tacit.Table({"x": [0, 0, 1, 1], "y": [0, 1, 1, 1]}, weights=[0, 0, 1, 0.5])
    explorer = Explorer(table)
    assert explorer.findings({"a": "0:0"})["rules"] == []
    assert explorer.findings({"a": "0:1"})["rules"] == []


def test_numbers_rare_labels_and_days_are_put_together():
    rng = np.random.default_rng(0)
    n = 4000
    days = np.datetime64("2024-01-01") + rng.integers(0, 700, n)
    table = tacit.Table(
        {
            "number": rng.normal(size=n).round(3),
            "skewed": np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(size=n)),
            "few": rng.integers(0, 5, n),
            "town": [f"t{k}" for k in np.minimum(rng.geometric(0.02, n), 300)],
            "id": [f"id {k}" for k in range(n)],
            "day": days,
        }
    )
    views = views_of(table)
    shown = views.of(table)
    assert set(views.left_out) == {"id"}
    assert views.regrouped == {"day"}
    assert shown.n_records == n
    number = shown.schema["number"]
    assert 15 < number.arity < 60
    assert shown.schema["few"].labels == table.schema["few"].labels
    one_way = shown.one_way()
    for name in ("number", "skewed"):
        column = shown.schema[name]
        values = np.asarray(table.schema[name].labels.numbers)[table.codes(name)]
        counts = np.bincount(np.searchsorted(column.edges, values, "right"), minlength=column.arity)
        assert one_way.array(shown.schema.position(name)).tolist() == counts.tolist()
    assert (
        one_way.array(shown.schema.position("skewed")).max() == (table.codes("skewed") == 0).sum()
    )
    town = shown.schema["town"]
    assert town.labels[-1] == f"{views.merged['town']:,} other labels"
    kept = set(town.labels[:-1])
    texts = [table.schema["town"].labels[c] for c in table.codes("town")]
    assert shown.count({"town": town.labels[-1]}) == sum(text not in kept for text in texts)
    assert shown.schema["day"].labels[0] == "2024-01"
    assert (
        shown.count({"day": "2024-02"}) == (days.astype("M8[M]") == np.datetime64("2024-02")).sum()
    )


def test_a_table_without_anything_to_count_is_refused():
    with pytest.raises(InputError, match="identifiers only"):
        Explorer(tacit.Table({"id": [f"x{k}" for k in range(200)]}))
    with pytest.raises(InputError, match="target: column 'id' is not shown"):
        Explorer(tacit.Table({"id": [f"x{k}" for k in range(200)], "y": [0, 1] * 100}), target="id")
