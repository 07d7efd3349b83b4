"""Gibbs sampling: what is drawn has the distribution that the trees describe."""

from importlib import import_module

import numpy as np
import pytest

from support.strategies import assert_identical
from tacit import DependencyNetwork, InputError, Table


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    a = rng.random(3000) < 0.3
    b = np.where(rng.random(3000) < 0.85, a, ~a)
    c = np.where(a, rng.integers(0, 3, 3000), 0)
    words = np.array(["none", "some", "much"])
    return Table({"a": a, "b": b, "c": words[c], "d": ["same"] * 3000})


@pytest.fixture(scope="module")
def web(table):
    return DependencyNetwork().fit(table)


def test_pairs_are_as_often_as_in_the_data(web, table):
    """The standard error of a share of 4,000 draws is below 0.008."""
    drawn = web.sample(4000, random_state=0)
    assert drawn.schema == table.schema
    assert drawn.n_records == 4000
    for pair in (["a", "b"], ["a", "c"], ["b", "c"]):
        shares = [
            np.asarray(t.contingency(pair).to_array(), float) / len(t) for t in (drawn, table)
        ]
        assert np.abs(shares[0] - shares[1]).max() < 0.03
    assert drawn.count({"d": "same"}) == 4000


def test_the_first_state_comes_from_the_columns_alone(web, table, monkeypatch):
    """With sweeps through trees of one leaf, columns are drawn independently."""
    alone = DependencyNetwork(max_leaf_nodes=1).fit(table)
    drawn = alone.sample(4000, burn_in=1, random_state=1)
    counts = np.asarray(drawn.contingency(["a", "b"]).to_array(), float) / 4000
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    assert np.abs(counts - expected).max() < 0.02


def test_the_seed_decides_and_nothing_else(web, monkeypatch):
    first = web.sample(300, burn_in=5, random_state=7)
    for jobs in (2, 3):
        other = DependencyNetwork(n_jobs=jobs)
        other.__dict__.update({k: v for k, v in web.__dict__.items() if k != "n_jobs"})
        assert_identical(other.sample(300, burn_in=5, random_state=7).values, first.values)
    monkeypatch.setattr(import_module("tacit.tree.network.sampling"), "_CELLS", 50)
    again = web.sample(300, burn_in=5, random_state=np.random.RandomState(7))
    assert_identical(again.indptr, first.indptr)
    assert_identical(again.values, first.values)
    differs = web.sample(300, burn_in=5, random_state=8)
    assert not np.array_equal(differs.indptr, first.indptr)
    rng = np.random.default_rng(3)
    one, two = (web.sample(50, random_state=rng) for _ in range(2))
    assert not (np.array_equal(one.indptr, two.indptr) and np.array_equal(one.values, two.values))


def test_progress(web, capsys):
    shown = DependencyNetwork(verbose=1)
    shown.__dict__.update({k: v for k, v in web.__dict__.items() if k != "verbose"})
    assert len(shown.sample(3, random_state=0)) == 3
    assert "records" in capsys.readouterr().err


def test_arguments_are_checked(web):
    for bad, message in (({"n": 0}, "n must"), ({"burn_in": 0}, "burn_in must")):
        with pytest.raises(InputError, match=message):
            web.sample(**bad)
    with pytest.raises(InputError, match="random_state"):
        web.sample(1, random_state="seven")
