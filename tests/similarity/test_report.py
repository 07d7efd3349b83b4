"""Drawings of the page about a classifier: sound for any grid and any scores."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib import pyplot as plt

import tacit
from tacit.similarity.grid.grid import Grid
from tacit.similarity.report.page import page
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
    confusion = list(range(n)), np.eye(n, dtype=np.int64)
    told = page("t", [("a", "b")], model, confusion)
    assert f"There are {n} classes, too many to show" in told
    assert "<h2>Tuning</h2>" not in told


@pytest.mark.parametrize(
    "model",
    [
        tacit.SparseKNeighborsClassifier(3, random_state=0),
        tacit.NormalizedCutClassifier(1.0, resolution=5, group_width=0.5, random_state=0),
        tacit.SparseSVC(resolution=5, random_state=0),
    ],
)
def test_classifiers_show_themselves(model, tmp_path):
    X, y = tacit.datasets.make_objects(300, 4, n_clusters=6, random_state=0)
    names = np.array(["<no>", "yes"])[y]
    model.fit(X[:200], names[:200]).save(tmp_path / "model.tacit")
    for shown in (model, tacit.load(tmp_path / "model.tacit")):
        told = shown.to_html(X[200:], names[200:], title="a & b")
        assert "<title>a &amp; b</title>" in told
        assert "<h2>Confusion matrix</h2>" in told
        assert f"{shown.score(X[200:], names[200:]):.2%} of 100 objects" in told
        assert "<no>" not in told
        assert "Confusion" not in shown.to_html()
        frame = shown.to_frame()
        assert frame.columns == ["x0", "x1", "x2", "class"]
        assert set(frame["class"]) == {"<no>", "yes"}
        ax = shown.plot(max_objects=50)
        assert {text.get_text() for text in ax.get_legend().get_texts()} == {"<no>", "yes"}
        plt.close(ax.figure)


def test_tuning_shows_itself():
    X, y = tacit.datasets.make_objects(200, 4, n_clusters=6, random_state=0)
    grid = {"n_neighbors": [1, 3, 90], "group_width": [None, 0.5], "weights": ["uniform"]}
    tuning = tacit.tune(tacit.SparseKNeighborsClassifier(), X, y, grid=grid, random_state=0)
    frame = tuning.to_frame()
    assert frame["accuracy"].is_sorted(descending=True)
    assert tuning.to_frame(top=2).equals(frame.head(2))
    assert tuning.numeric_parameters == ["n_neighbors"]
    told = tuning.to_html()
    assert f"{frame.height} combinations" in told
    assert len(shapes(told[told.index("<svg") : told.index("</svg>") + 6], "polyline")) == 2
    ax = tuning.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("n_neighbors", "accuracy")
    assert ax.get_xscale() == "log"
    assert tuning.plot(ax, parameter="weights") is ax
    plt.close(ax.figure)
    with pytest.raises(tacit.InputError, match="parameter must be one of"):
        tuning.plot(parameter="scale")
