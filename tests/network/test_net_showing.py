"""Nets in words, DOT, graphs and pictures."""

import builtins
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from matplotlib import pyplot as plt

from support.nets import nets, sprinkler
from tacit import BayesNet
from tacit.network.bayes_net.layout import lay_out_layers
from tacit.network.bayes_net.picture import net_scene
from tacit.plot.scene import Box, Curve, Polygon


def test_one_line():
    one = BayesNet.from_tables({"a": [1]}, {}, {"a": [1.0]})
    assert one.to_text(0).startswith("Bayes net of 1 column, 0 arcs")
    assert sprinkler().to_text(1).splitlines()[-1] == "… and 2 more columns"
    assert repr(sprinkler()) == "BayesNet()"


def test_frame_of_arcs():
    assert sprinkler().to_frame().rows() == sprinkler().arcs_
    assert BayesNet.from_tables({"a": [1]}, {}, {"a": [1.0]}).to_frame().columns == ["from", "to"]


def test_text():
    assert sprinkler().to_text().splitlines() == [
        "Bayes net of 3 columns, 3 arcs, 7 parameters",
        "  rain        2 labels",
        "  sprinkler   2 labels  ← rain",
        "  grass       2 labels  ← rain, sprinkler",
    ]


def test_dot():
    lines = sprinkler().to_dot().splitlines()
    assert lines[0] == "digraph bayes_net {"
    assert '  "rain" -> "grass";' in lines
    assert sum("->" in line for line in lines) == 3


def test_dot_quotes_names():
    net = BayesNet.from_tables({'a "b" \\': [1, 2]}, {}, {'a "b" \\': [0.5, 0.5]})
    assert '  "a \\"b\\" \\\\";' in net.to_dot()


def test_networkx():
    nx = pytest.importorskip("networkx")
    graph = sprinkler().to_networkx()
    assert list(graph.edges) == sprinkler().arcs_
    assert graph.nodes["grass"]["labels"] == ("dry", "wet")
    assert graph.nodes["grass"]["parents"] == ("rain", "sprinkler")
    np.testing.assert_array_equal(graph.nodes["grass"]["table"], sprinkler().table("grass"))
    assert nx.is_directed_acyclic_graph(graph)


def test_without_networkx(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **others):
        if name == "networkx":
            raise ImportError(name)
        return real(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match="graphs need networkx: pip install networkx"):
        sprinkler().to_networkx()


@given(nets(max_columns=8))
def test_layers(net):
    placed = lay_out_layers(net.parents_, 26.0, 12.0)
    for child, above in enumerate(net.parents_):
        for parent in above:
            between = placed.layer[child] - placed.layer[parent] - 1
            assert between >= 0
            assert len(placed.bends[parent, child]) == between
    for layer in set(placed.layer):
        y = np.sort(placed.y[[k for k, number in enumerate(placed.layer) if number == layer]])
        assert (np.diff(y) >= 38.0 - 1e-6).all()
    assert min(placed.y - 13.0) >= -1e-6


@given(nets(max_columns=8))
def test_everything_is_on_the_picture(net):
    scene = net_scene(net)
    boxes = [item for item in scene.items if isinstance(item, Box)]
    curves = [item for item in scene.items if isinstance(item, Curve)]
    assert len(boxes) == len(net.column_names_)
    assert len(curves) == sum(isinstance(item, Polygon) for item in scene.items) == net.n_arcs_
    for box in boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= scene.width
        assert box.y + box.height <= scene.height
    for curve in curves:
        x = [point[0] for point in curve.points]
        assert x == sorted(x)  # arcs go from left to right
        assert all(0 <= y <= scene.height for _, y in curve.points)


def test_svg():
    root = ET.fromstring(sprinkler().to_svg())
    shown = "".join(root.itertext())
    assert all(name in shown for name in sprinkler().column_names_)
    assert sum(element.tag.endswith("polygon") for element in root.iter()) == 3


def test_html():
    page = sprinkler()._repr_html_()
    assert "<pre>Bayes net of 3 columns" in page
    assert "<svg" in page
    names = [f"c{k}" for k in range(200)]
    many = BayesNet.from_tables(
        {name: [0, 1] for name in names}, {}, {name: [0.5, 0.5] for name in names}
    )
    assert "<svg" not in many._html_of_fit()
    assert "c199" in many._repr_html_()


def test_plot():
    ax = sprinkler().plot()
    assert {text.get_text() for text in ax.texts} == set(sprinkler().column_names_)
    assert len(ax.patches) == 3 + 3 + 3  # boxes, arcs, heads
    again = plt.figure().add_subplot()
    assert sprinkler().plot(again) is again
    plt.close("all")
