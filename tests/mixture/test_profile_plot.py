"""Pictures of profiles: what is in them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt

import tacit
from support.drawing import texts, ticks
from tacit import Table
from tacit.mixture import Profile

pytestmark = pytest.mark.usefixtures("draw_to_memory")


@pytest.fixture(scope="module")
def shop():
    """Three kinds of baskets: 60 of bread and butter, 30 of tea, 10 of beer and crisps."""
    baskets = [["bread", "butter"]] * 60 + [["tea"]] * 30 + [["beer", "crisps"]] * 10
    return Profile.from_labels(Table.from_baskets(baskets), np.repeat([0, 1, 2], [60, 30, 10]))


def test_values_by_clusters(shop):
    ax = shop.plot()
    assert ticks(ax.yaxis) == ["bread", "butter", "tea", "beer", "crisps"]
    assert ticks(ax.xaxis) == ["all", "0", "1", "2"]
    assert ax.get_xlabel() == "cluster"
    # A cluster begins with one record's worth of overall shares: 60.6 of 61, 0.6 of 31, 0.6 of 11.
    assert texts(ax)[:3] == ["99%", "1.9%", "5.5%"]
    assert texts(ax)[15:] == ["60%", "60%", "30%", "10%", "10%"]


def test_colours_are_logarithms_of_lifts(shop):
    ax = shop.plot()
    array = ax.images[0].get_array()
    frame = shop.to_frame()
    for row, name in enumerate(ticks(ax.yaxis)):
        lifts = [r[6] for r in frame.iter_rows() if r[2] == name and r[3] == "True"]
        assert array[row].tolist() == pytest.approx(np.clip(np.log2(lifts), -3, 5).tolist())
    bar = ax.figure.axes[-1]
    assert bar.get_ylabel() == "lift"
    assert {"1/8", "1/2", "1", "2"} <= set(ticks(bar.yaxis))


def test_sizes_are_bars_on_top(shop):
    [top] = shop.plot().child_axes
    assert [bar.get_height() for bar in top.patches] == [0.6, 0.3, 0.1]
    assert texts(top) == ["60%", "30%", "10%"]


def test_each_cluster_has_its_say():
    table, labels = tacit.datasets.make_mixture(
        3000, 200, 30_000, n_clusters=20, return_clusters=True, noun="a rather long story that is"
    )
    profile = Profile.from_labels(table, labels)
    ax = profile.plot()
    drawn = set(ticks(ax.yaxis))
    assert len(drawn) <= 60
    assert all(len(name) <= 40 for name in drawn)
    for cluster in profile.traits(1):
        assert not cluster.over or cluster.over[0].text in drawn
    assert len(ticks(profile.plot(top=1).yaxis)) < len(drawn)


def test_long_names_of_clusters_are_turned(shop):
    schema, names = shop.schema, ["breakfast", "tea time", "in front of the television"]
    counts = shop._lifts.counts[schema.value_cells]
    named = Profile(schema, shop.sizes, counts, np.ones(schema.cells[-1]), names=names)
    ax = named.plot()
    assert ticks(ax.xaxis) == ["all", "breakfast", "tea time", "in front of the tel…"]
    assert {text.get_rotation() for text in ax.get_xticklabels()} == {60}


def test_into_given_axes(shop):
    _, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    assert shop.plot(right) is right
    assert len(right.images) == 1
    assert not left.images


@pytest.mark.parametrize("columns", [{"a": [0, 1] * 50}, {"b": ["x"] * 100}])
def test_where_nothing_stands_out_the_common_is_drawn(columns):
    ax = Profile.from_labels(Table(columns), np.repeat([0, 1], 50)).plot()
    assert ax.images[0].get_array().tolist() == [[0, 0]] * len(ticks(ax.yaxis))
    assert len(ticks(ax.yaxis)) > 0


def test_without_matplotlib(shop, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pictures need matplotlib"):
        shop.plot()
