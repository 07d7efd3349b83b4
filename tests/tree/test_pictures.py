"""Pictures of trees: everything is in them, nothing on top of anything else, all escaped."""

import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn import config_context

from tacit import DecisionTreeClassifier
from tacit.plot import Box, Words, text_width
from tacit.schema import Labels, Schema
from tacit.table.discretise import bins_of
from tacit.tree.drawing.dot import tree_dot
from tacit.tree.drawing.edge_counts import edge_counts
from tacit.tree.drawing.scene import tree_scene
from tacit.tree.nodes import Nodes

pytestmark = pytest.mark.usefixtures("draw_to_memory")
# The models below only have what pictures ask for.
plot_tree, tree_svg = DecisionTreeClassifier.plot, DecisionTreeClassifier.to_svg

SVG = "{http://www.w3.org/2000/svg}"
ODD = '<sky> & "moon" \\n $x$'


def model(
    splits,
    counts,
    classes=("no", "yes"),
    names=("sky", "wind", "age"),
    *,
    regression=False,
    target=None,
):
    """Make a tree or graph; `splits` are (column, low, high, complete, left, children)."""
    labels = [
        Labels(["blue", "grey", "red", None], "String"),
        Labels([False, True], "Boolean"),
        bins_of([20, 65]),
    ]
    schema = Schema(names, labels, [0, 0, 0])
    n = len(counts)
    column = np.full(n, -1, np.int32)
    low, high, first = (np.zeros(n, np.int32) for _ in range(3))
    left, right = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    complete, children = np.zeros(n, np.uint8), []
    for node, (c, a, b, is_complete, below, nodes_below) in splits.items():
        column[node], low[node], high[node], complete[node] = c, a, b, is_complete
        left[node], right[node] = below, below if below < 0 else below + 1
        first[node] = len(children)
        children += nodes_below
    nodes = Nodes(
        column, low, high, complete, left, right, first, np.array(children, np.int32), np.zeros(n),
        np.ones(n), np.full(n, -1, np.int32), np.array(counts, np.float64),
    )  # fmt: skip
    tree = SimpleNamespace(nodes_=nodes, schema_=schema)
    totals = np.maximum(nodes.counts.sum(axis=1, keepdims=True), 1)
    fitted = SimpleNamespace(target_name=target, probabilities=nodes.counts / totals)
    tree._fitted = lambda: fitted
    if regression:
        fitted.means = nodes.counts[:, 1] / np.maximum(nodes.counts[:, 0], 1)
    else:
        tree.classes_ = np.array(classes)
    return tree


def small(**options):
    """A tree: wind? else age < 65?"""
    splits = {0: (1, 3, 4, 0, -1, [1, 2]), 2: (2, 5, 6, 0, 1, [3, 4])}
    counts = [[60, 40], [5, 25], [55, 15], [4, 11], [51, 4]]
    return model(splits, counts, **options)


def graph():
    """Two branches that end in the same leaf."""
    splits = {
        0: (1, 3, 4, 0, -1, [1, 2]),
        1: (2, 5, 6, 0, 1, [3, 4]),
        2: (0, 0, 1, 0, -1, [4, 5]),
    }
    return model(splits, [[60, 40], [20, 30], [40, 10], [5, 25], [20, 10], [35, 5]])


def fan():
    """A complete split; nobody has the last value."""
    return model(
        {0: (0, 0, 3, 1, -1, [1, 2, 3, 4])}, [[60, 40], [10, 20], [20, 0], [0, 0], [30, 20]]
    )


def many_classes():
    """Leaves predict the last class and class 6; nothing else is as telling."""
    counts = np.arange(1, 26)
    return model(
        {0: (1, 3, 4, 0, -1, [1, 2])},
        [counts, counts * (counts < 8), counts * (counts > 7)],
        classes=[f"class {k}" for k in range(25)],
    )


def regression():
    return model(
        {0: (1, 3, 4, 0, -1, [1, 2])}, [[4, 10, 60], [2, 1, 1], [2, 9, 59]], regression=True
    )


def odd():
    return small(classes=("<no> & 'never'", "yes" * 60), names=(ODD, f"{ODD} {'x' * 90}", "age"))


ALL = [small, graph, fan, many_classes, regression, odd]


def words(tree, **options):
    return [x.text for x in tree_scene(tree, **options).items if isinstance(x, Words)]


def test_a_tree_says_what_it_asks_and_what_it_predicts():
    assert words(small()) == [
        "no", "yes", "wind", "", "100", "yes", "83%", "30", "age", "", "70", "yes", "73%", "15",
        "no", "93%", "55", "= False", "< 65", "= True", "≥ 65",
    ]  # fmt: skip


def test_the_target_stands_before_the_legend():
    assert words(small(target="rain"))[:3] == ["rain", "no", "yes"]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("max_depth", [None, 0, 1])
def test_boxes_do_not_overlap_and_stay_inside(make, max_depth):
    scene = tree_scene(make(), max_depth)
    frames = [x for x in scene.items if isinstance(x, Box) and x.radius == 5]
    assert frames
    for k, a in enumerate(frames):
        assert 0 <= a.x <= a.x + a.width <= scene.width
        assert 0 <= a.y <= a.y + a.height <= scene.height
        for b in frames[:k]:
            assert (
                a.x + a.width < b.x
                or b.x + b.width < a.x
                or a.y + a.height < b.y
                or b.y + b.height < a.y
            )
    for text in scene.items:
        if isinstance(text, Words) and text.anchor == "start":
            assert text.x + text_width(text.text, text.size, text.bold) <= scene.width


def test_bars_are_fractions():
    scene = tree_scene(small())
    boxes = [x for x in scene.items if isinstance(x, Box)]
    place = next(k for k, x in enumerate(boxes) if x.radius == 5)
    whole, no, yes = boxes[place + 1 : place + 4]
    assert no.width / whole.width == pytest.approx(0.6)
    assert yes.width / whole.width == pytest.approx(0.4)
    assert no.x + no.width == pytest.approx(yes.x)


def test_shared_leaves_are_drawn_once():
    tree = graph()
    frames = [x for x in tree_scene(tree).items if isinstance(x, Box) and x.radius == 5]
    assert len(frames) == 6
    assert tree_dot(tree).count(" -> n4 ") == 2


def test_records_on_shared_edges_follow_from_those_of_nodes():
    notes = [x.title for x in tree_scene(graph()).items if isinstance(x, Words) and x.halo]
    assert sorted(notes) == sorted(
        [
            "wind = True: 50 records",
            "wind = False: 50 records",
            "age ≥ 65: 30 records",
            "age < 65: 20 records",
            "sky = grey: 10 records",
            "sky ≠ grey: 40 records",
        ]
    )


def test_what_is_not_known_of_edges_is_not_said():
    """Four edges between two parents and two leaves: only their sums are known."""
    splits = {
        0: (1, 3, 4, 0, -1, [1, 2]),
        1: (2, 5, 6, 0, 1, [3, 4]),
        2: (0, 0, 1, 0, -1, [3, 4]),
    }
    tree = model(splits, [[60, 40], [20, 30], [40, 10], [45, 5], [15, 35]])
    notes = [x.title for x in tree_scene(tree).items if isinstance(x, Words) and x.halo]
    assert sorted(notes) == sorted(
        ["wind = True: 50 records", "wind = False: 50 records", "age ≥ 65", "age < 65",
         "sky = grey", "sky ≠ grey"]
    )  # fmt: skip
    counts, certain = edge_counts(tree.nodes_, tree.nodes_.counts.sum(axis=1))
    assert certain == {(0, 0), (0, 1)}
    assert counts[1, 0] + counts[2, 0] == pytest.approx(50)
    assert counts[1, 0] + counts[1, 1] == pytest.approx(50)


def test_large_trees_are_cut_where_they_can_be_read():
    """A comb of a hundred leaves, each one level below the last."""
    splits = {2 * k: (1, 3, 4, 0, -1, [2 * k + 1, 2 * k + 2]) for k in range(100)}
    counts = np.repeat([[300.0 - k, 10] for k in range(101)], [1] + [2] * 100, axis=0)
    tree = model(splits, counts)
    drawn = [text.get_text() for text in plot_tree(tree).texts]
    assert "… 22 leaves" in drawn
    assert len([x for x in drawn if x == "wind"]) == 79
    assert tree.nodes_.readable_depth(101) is None


def test_a_complete_split_has_a_branch_for_each_label_in_their_order():
    texts = words(fan())
    assert [x for x in texts if x.startswith(("= ", "is "))] == [
        "= blue", "= grey", "= red", "is missing",
    ]  # fmt: skip
    assert "no records" in texts


def test_predicted_and_common_classes_have_colours_and_the_rest_one():
    texts = words(many_classes())
    assert texts[:21] == [*(f"class {k}" for k in range(5, 25)), "5 other classes"]
    scene = tree_scene(many_classes())
    swatches = [x.fill for x in scene.items if isinstance(x, Box) and x.width == x.height == 11]
    assert len(set(swatches)) == 21


def test_regressions_show_means_and_deviations():
    texts = words(regression())
    assert texts[0] == "mean"
    assert {"0.5", "± 0.5", "4.5", "± 3.04"} <= set(texts)


def test_what_is_cut_says_how_many_leaves_it_has():
    texts = words(small(), max_depth=1)
    assert "… 2 leaves" in texts
    assert "age" not in texts
    assert "… 3 leaves" in words(graph(), max_depth=0)


@pytest.mark.parametrize("make", ALL)
def test_svg_is_xml_and_holds_what_was_said(make):
    tree = make()
    root = ET.fromstring(tree_svg(tree))
    assert root.tag == f"{SVG}svg"
    texts = [x.text or x[-1].tail for x in root.iter(f"{SVG}text") if len(x) or x.text]
    halos = [x for x in root.iter(f"{SVG}text") if x.get("stroke")]
    assert len(texts) - len(halos) == sum(bool(text) for text in words(tree))
    assert not list(root.iter(f"{SVG}script"))


def test_names_are_escaped():
    svg, dot = tree_svg(odd()), tree_dot(odd())
    assert "<no>" not in svg
    assert "&lt;no&gt; &amp; &#x27;never&#x27;" in svg
    assert r"<sky> & \"moon\" \\n $x$" in dot
    told = [x.text for x in ET.fromstring(svg).iter(f"{SVG}title")]
    assert any(text.startswith(ODD) and "x" * 90 in text for text in told)  # all of a long name


def test_control_characters_do_not_break_svg():
    tree = small(classes=("a\x00b\x1b", "c\ud800"))
    texts = [x.text for x in ET.fromstring(tree_svg(tree)).iter(f"{SVG}text")]
    assert "a b " in texts
    assert "c" in texts


def test_dot():
    assert tree_dot(small()).splitlines() == [
        "digraph tree {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded", fontname="Helvetica", color="#8a8f98"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#8a8f98"];',
        r'  n0 [label="wind\n100 records", tooltip="no: 60 (60%); yes: 40 (40%)"];',
        r'  n1 [label="yes (83%)\n30 records", tooltip="yes: 25 (83%); no: 5 (17%)", '
        'color="#d97a2b"];',
        r'  n2 [label="age\n70 records", tooltip="no: 55 (79%); yes: 15 (21%)"];',
        r'  n3 [label="yes (73%)\n15 records", tooltip="yes: 11 (73%); no: 4 (27%)", '
        'color="#d97a2b"];',
        r'  n4 [label="no (93%)\n55 records", tooltip="no: 51 (93%); yes: 4 (7%)", '
        'color="#2f7fc1"];',
        '  n0 -> n1 [label="= True", penwidth=2.50];',
        '  n0 -> n2 [label="= False", penwidth=4.50];',
        '  n2 -> n3 [label="≥ 65", penwidth=1.75];',
        '  n2 -> n4 [label="< 65", penwidth=3.75];',
        "}",
    ]


@pytest.mark.parametrize("make", ALL)
def test_figures_hold_the_same_words(make):
    ax = plot_tree(make())
    drawn = [text.get_text().replace(r"\$", "$") for text in ax.texts]
    assert drawn == words(make())


def test_given_axes_are_filled():
    _, ax = plt.subplots(figsize=(3, 2))
    assert plot_tree(small(), ax=ax) is ax
    sizes = {text.get_fontsize() for text in ax.texts}
    assert max(sizes) < 6  # shrunk with everything else


def test_matplotlib_is_loaded_only_for_figures():
    code = "import sys, tacit.tree.drawing.scene; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_notebooks_show_the_picture():
    tree = DecisionTreeClassifier()
    assert "<svg" not in tree._repr_html_()[:200]
    tree.fit({"sky": ["blue", "grey"] * 30}, ["no", "yes"] * 30)
    shown = tree._repr_mimebundle_()["text/html"]
    assert tree.to_svg() in shown
    assert "<details><summary>DecisionTreeClassifier: parameters</summary>" in shown
    assert "<h1>Rain</h1>" in tree.to_html("Rain")
    with config_context(display="text"):
        assert "text/html" not in tree._repr_mimebundle_()
