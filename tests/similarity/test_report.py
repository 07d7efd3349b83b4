"""Drawings of the page about a classifier: sound for any grid and any scores."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import tacit
from tacit.similarity.grid.grid import Grid
from tacit.similarity.report.page import Confusion, page
from tacit.similarity.report.svg import grid_map, score_curves

SPACE = "{http://www.w3.org/2000/svg}"


def shapes(drawing, name):
    root = ET.fromstring(drawing)
    assert float(root.get("width")) > 0
    assert float(root.get("height")) > 0
    return root.findall(f".//{name}")


@pytest.mark.parametrize("resolution", [1, 7, 60, 61, 1000, (3, 500, 2)])
def test_a_block_is_drawn_for_each_that_holds_an_object(resolution):
    rng = np.random.default_rng(0)
    coords = rng.normal(size=(300, 3))
    grid = Grid.over(coords, resolution)
    drawn = shapes(grid_map(coords, rng.integers(0, 2, 300), grid, ["a", "b"]), "rect")
    cells = grid.cells(coords)[:, :2]
    blocks = len(np.unique(cells, axis=0))
    if max(grid.resolution[:2]) <= 60:
        assert len(drawn) == 1 + blocks  # and the frame
    else:
        assert 1 < len(drawn) <= 1 + blocks
    told = sum(int(rect.find("title").text.split()[0].replace(",", "")) for rect in drawn[1:])
    assert told == 300


def test_a_grid_of_one_dimension_is_a_line():
    coords = np.linspace(0, 1, 50)[:, None]
    drawn = shapes(grid_map(coords, np.zeros(50, int), Grid.over(coords, 10), ["<a>"]), "rect")
    assert len(drawn) == 11
    assert {rect.get("y") for rect in drawn[1:]} == {drawn[1].get("y")}
    assert drawn[1].find("title").text == "5 objects, 100% <a>"


def test_curves_have_a_point_for_each_score():
    points = [(10.0**k, 0.5 + k / 100) for k in range(-3, 4)]
    drawn = score_curves({"one": points, "two": points[:3]}, "scale", "accuracy", 100.0)
    assert len(shapes(drawn, "circle")) == 10
    assert len(shapes(drawn, "polyline")) == 2
    places = [float(c.get("cx")) for c in shapes(drawn, "circle")[:7]]
    np.testing.assert_allclose(np.diff(places), np.diff(places)[0], atol=0.11)  # logarithmic


def test_equal_scores_and_single_values_can_be_drawn():
    drawn = score_curves({"one": [(0.0, 0.5)]}, "balance", "f1", 0.0)
    assert len(shapes(drawn, "circle")) == 1
    drawn = score_curves({"one": [(0.0, 0.5), (30.0, 0.5)]}, "balance", "f1", 0.0)
    places = [float(c.get("cx")) for c in shapes(drawn, "circle")]
    assert places[0] < places[1]


def test_many_classes_are_not_listed():
    X, y = tacit.datasets.make_objects(400, 4, n_clusters=50, n_classes=50, random_state=0)
    model = tacit.SparseKNeighborsClassifier(1, random_state=0).fit(X, y)
    n = len(model.classes_)
    confusion = Confusion(list(range(n)), np.eye(n, dtype=np.int64))
    told = page("t", [("a", "b")], model, confusion)
    assert f"There are {n} classes, too many to show" in told
    assert "<h2>Tuning</h2>" not in told
