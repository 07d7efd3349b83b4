"""Dependency trees in words, graphs, pictures and files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import tacit
from tacit import DependencyTree, FileError, InputError, store


@pytest.fixture(scope="module")
def visits():
    return tacit.datasets.load_visits().take(range(2000))


@pytest.fixture(scope="module")
def tree(visits):
    return DependencyTree().fit(visits)


def mixed_frame(n=200):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n)
    size = kind + rng.normal(size=n)
    lost = [None if k % 9 == 0 else "ab"[x] for k, x in enumerate(kind)]
    return pl.DataFrame(
        {"kind": lost, "size": size, "more": 2 * size + rng.normal(size=n), "odd": kind % 2 == 1}
    )


def trees():
    rng = np.random.default_rng(1)
    frame = mixed_frame()
    return {
        "discrete": (DependencyTree(), frame.select("kind", "odd")),
        "numeric": (DependencyTree(smoothing=3.0), rng.normal(size=(60, 4)).cumsum(axis=1)),
        "mixed": (DependencyTree(), frame),
        "ignored": (DependencyTree(missing="ignore"), frame),
        "cut": (DependencyTree(discretise={"size": 3}), frame),
        "array": (DependencyTree(kinds={1: "numeric"}), rng.integers(0, 3, (50, 3))),
        "one": (DependencyTree(), frame.select("kind")),
    }


def test_frame(tree):
    frame = tree.to_frame()
    assert frame.columns == ["from", "to", "weight", "low", "high"]
    assert frame.height == tree.n_features_in_ - 1
    assert frame["weight"].is_sorted(descending=True)
    names = list(tree.feature_names_in_)
    a, b = tree.edges_[np.argmax(tree.weights_)]
    assert frame.row(0)[:2] == (names[a], names[b])


def test_text_has_every_column_below_its_neighbour(tree):
    head, *lines = tree.to_text().splitlines()
    assert head.startswith("Dependency tree of 27 columns; edges have")
    names = set(tree.feature_names_in_)
    above, joined = {}, set()
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.strip().rsplit("  ", 1)[0]
        assert name in names
        above[depth] = name
        if depth:
            joined.add(frozenset((above[depth - 1], name)))
    assert joined == {frozenset(pair) for pair in tree.to_frame().select("from", "to").rows()}


class Graph:
    """As much of networkx as it takes."""

    def __init__(self):
        self.nodes, self.edges = {}, {}

    def add_node(self, name, **facts):
        self.nodes[name] = facts

    def add_edge(self, a, b, **facts):
        self.edges[a, b] = facts


def test_networkx_graphs_get_nodes_and_weights(monkeypatch, tree):
    monkeypatch.setitem(sys.modules, "networkx", SimpleNamespace(Graph=Graph))
    graph = tree.to_networkx()
    assert list(graph.nodes) == list(tree.feature_names_in_)
    weights = dict(zip(graph.edges, tree.weights_, strict=True))
    assert {pair: facts["weight"] for pair, facts in graph.edges.items()} == weights
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        tree.to_networkx()


def test_networkx(tree):
    nx = pytest.importorskip("networkx")
    graph = tree.to_networkx()
    assert nx.is_tree(graph)
    assert graph.size("weight") == pytest.approx(tree.weights_.sum())
    assert nx.get_node_attributes(DependencyTree().fit(mixed_frame()).to_networkx(), "numeric") == {
        "kind": False, "size": True, "more": True, "odd": False,
    }  # fmt: skip


def test_dot(tmp_path, tree):
    dot = tree.to_dot()
    assert dot.count(" -- ") == 26
    assert 'label="grocery offers"' in dot
    odd = DependencyTree().fit({'a "b" \\ c': [0, 1, 1], "d\ne": [1, 0, 1]})
    assert r'label="a \"b\" \\ c"' in odd.to_dot()
    if shutil.which("dot"):
        path = tmp_path / "t.dot"
        path.write_text(odd.to_dot(), "utf-8")
        subprocess.run(["dot", "-Tsvg", path, "-o", tmp_path / "t.svg"], check=True)


def test_svg_has_all_columns_and_weights(tree):
    svg = tree.to_svg()
    ET.fromstring(svg)
    for name in tree.feature_names_in_:
        assert f">{name}</text>" in svg
    assert svg.count("<path") == 26
    assert "0.120" in DependencyTree().fit(tacit.datasets.load_visits()).to_svg()
    strange = DependencyTree().fit({"<a> & b": [0, 1, 1], "x" * 300: [1, 0, 1]}).to_svg()
    ET.fromstring(strange)
    assert "&lt;a&gt; &amp; b" in strange


def test_boxes_do_not_overlap(tree):
    from tacit.network.dependency_tree.picture import tree_scene
    from tacit.plot import Box

    boxes = [item for item in tree_scene(tree).items if isinstance(item, Box)]
    assert len(boxes) == 27
    for k, a in enumerate(boxes):
        for b in boxes[:k]:
            apart = (
                a.x + a.width <= b.x or b.x + b.width <= a.x
                or a.y + a.height <= b.y or b.y + b.height <= a.y
            )  # fmt: skip
            assert apart


@pytest.mark.parametrize("name", trees())
def test_plot(name):
    plt = pytest.importorskip("matplotlib.pyplot")
    model, X = trees()[name]
    ax = model.fit(X).plot()
    texts = {text.get_text() for text in ax.texts}
    assert set(model.column_names_) <= texts
    _, other = plt.subplots()
    assert model.plot(ax=other) is other
    plt.close("all")


@pytest.mark.parametrize("name", trees())
def test_files_hold_all_of_a_tree(tmp_path, name):
    model, X = trees()[name]
    model.fit(X)
    path = tmp_path / "tree.tacit"
    model.save(path)
    again = tacit.load(path)
    assert again.to_text() == model.to_text()
    assert again.to_frame().equals(model.to_frame())
    assert np.array_equal(again.score_samples(X), model.score_samples(X))
    for one, other in zip(again.marginals().values(), model.marginals().values(), strict=True):
        assert one == other or one.to_dict() == other.to_dict()
    assert again.root_ == model.root_
    assert hasattr(again, "feature_names_in_") == hasattr(model, "feature_names_in_")
    assert again.structure_.rounds == model.structure_.rounds
    drawn = [tree.sample(5, random_state=0) for tree in (again, model)]
    frames = [
        records if isinstance(records, pl.DataFrame) else records.to_frame() for records in drawn
    ]
    assert frames[0].equals(frames[1])


def test_smoothing_is_that_of_the_fit(tmp_path, visits):
    model = DependencyTree(smoothing=2.0).fit(visits)
    model.set_params(smoothing=50.0).save(tmp_path / "t.tacit")
    again = tacit.load(tmp_path / "t.tacit")
    assert again.smoothing == 2.0
    assert_allclose(again.score_samples(visits), model.score_samples(visits))


def resave(path, change):
    """Write a file anew, with sound checksums, after a change of its arrays."""
    kind, arrays = store.read_arrays(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays)
    store.write_arrays(path, kind, arrays)


def set_facts(arrays, name, **facts):
    content = json.loads(arrays[name].tobytes())
    content.update(facts)
    arrays[name] = np.frombuffer(json.dumps(content).encode(), np.uint8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("pairs"), "it has no 'pairs'"),
        (lambda a: a.update(edges=a["edges"][:-1]), "'edges' has the shape"),
        (lambda a: a["edges"].__setitem__((0, 1), 99), "joins columns that are not there"),
        (lambda a: a["edges"].__setitem__(0, a["edges"][1]), "does not join all columns"),
        (lambda a: a["weights"].__setitem__(0, np.nan), "'weights' has a number that cannot be"),
        (lambda a: a.update(pairs=a["pairs"][:-1]), "not those of its columns"),
        (lambda a: a["nodes"].__setitem__(0, -1.0), "below zero"),
        (lambda a: a["nodes"].__setitem__(0, np.inf), "are not numbers"),
        (lambda a: set_facts(a, "settings", edge_usage=-1), "fraction of pairs read"),
        (lambda a: set_facts(a, "settings", states=[9, 9]), "other labels"),
        (lambda a: set_facts(a, "settings", states=None), "is damaged"),
        (lambda a: set_facts(a, "settings", parameters={"depth": 3}), "is damaged"),
        (lambda a: set_facts(a, "settings", parameters={"delta": 7}), "delta must be"),
        (lambda a: set_facts(a, "columns", names=["a", "a", "b", "c"]), "do not go together"),
        (lambda a: set_facts(a, "columns", names=["a", "b", "c"]), "do not go together"),
        (lambda a: set_facts(a, "columns", numbers={}), "do not go together"),
        (lambda a: set_facts(a, "columns", origin="net"), "those of a 'net'"),
        (lambda a: set_facts(a, "columns", origin="array"), "their number cannot be"),
        (lambda a: set_facts(a, "columns", missing=[True]), "not those of its discrete"),
        (lambda a: a.update(columns=np.zeros(3, np.uint8)), "cannot be read"),
    ],
)
def test_damaged_files(tmp_path, change, message):
    path = tmp_path / "tree.tacit"
    DependencyTree().fit(mixed_frame()).save(path)
    resave(path, change)
    with pytest.raises(FileError, match=message):
        tacit.load(path)


def test_not_fitted():
    for ask in (DependencyTree.to_text, DependencyTree.to_svg, DependencyTree.sample):
        with pytest.raises((InputError, ValueError), match="not fitted"):
            ask(DependencyTree())
