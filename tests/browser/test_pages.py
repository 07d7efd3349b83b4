"""Pages and pictures as people see them: in a browser, on a phone and a desk, light and dark."""

import re

import numpy as np
import pytest
from matplotlib import pyplot as plt

import tacit
from support.pages import EVIL, LONG, faint, long_table

SIZES = [(390, "light"), (390, "dark"), (1280, "dark")]


@pytest.fixture(scope="module")
def table():
    return long_table()


@pytest.fixture(scope="module")
def network(table):
    return tacit.DependencyNetwork(max_leaf_nodes=4).fit(table)


@pytest.fixture(scope="module")
def pages(table, network):
    """All pages that can be sent to somebody."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.array([f"{LONG} {k}" if k < 2 else f"class {k}" for k in rng.integers(0, 14, 400)])
    curve = [(k, -9e5 + 1e4 * np.log(k)) for k in (1, 2, 3, 5, 8, 13, 40, 100)]
    tuning = tacit.tune(tacit.NormalizedCutClassifier(), X, (X[:, 0] > 0).astype(str))
    clusters = tacit.NaiveBayesMixture(5, random_state=0).fit(table)
    nearest = tacit.SparseKNeighborsClassifier().fit(X, y)
    tree = tacit.DecisionTreeClassifier().fit(table, LONG)
    return {
        "clusters": clusters.profile().to_html(EVIL, {LONG: LONG}, curve=curve, criterion="BIC"),
        "network": network.to_html(f"{EVIL} {LONG}"),
        "classifier": nearest.to_html(X, y, title=LONG, tuning=tuning),
        "tuning": tuning.to_html(),
        "tree": tree.to_html(EVIL),
        "bayes net": tacit.BayesNet(max_parents=2).fit(table).to_html(LONG),
        "dependency tree": tacit.DependencyTree().fit(table).to_html(LONG),
    }


KINDS = (
    "clusters", "network", "classifier", "tuning", "tree", "bayes net", "dependency tree",
)  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_fit_and_can_be_read(see, pages, kind, width, scheme):
    seen = see(pages[kind], width, scheme)
    assert seen.errors == []
    assert seen.width <= width
    contrasts = seen.contrasts()
    assert len(contrasts) > 5
    assert faint(contrasts) == []
    assert seen.run("document.querySelectorAll('main script[src], main b').length") == 0


def test_without_dark_rules_texts_could_not_be_read(see, pages):
    """The measure of contrast tells: dark ink on a dark page fails it."""
    page = pages["tree"].replace("--tacit-1a1a1a:#e8edf3", "--tacit-1a1a1a:#1a1a1a")
    assert page != pages["tree"]
    assert faint(see(page, scheme="dark").contrasts())


def test_large_trees_begin_at_their_root(see, pages):
    seen = see(pages["tree"], 390)
    inside = seen.run(
        """() => {
          const box = document.querySelector(".picture").getBoundingClientRect();
          const boxes = [...document.querySelectorAll(".picture svg > rect[rx='5']")]
            .map(r => r.getBoundingClientRect());
          const root = boxes.reduce((a, b) => b.left < a.left ? b : a);
          return root.top >= box.top && root.bottom <= box.bottom && root.left >= box.left;
        }"""
    )
    assert inside


# The dependency network at work


def test_choosing_a_column_of_a_network(see, network):
    seen = see(network.to_html("Web"), 1280)
    frame = network.to_frame()
    target = frame["target"][0]
    seen.page.get_by_role("button", name=target, exact=True).first.click()
    panel = seen.page.locator("#panel")
    assert panel.locator("h2").inner_text() == target
    into = frame.filter(target=target)
    assert f"Predicted by ({into.height})" in panel.inner_text()
    marks = {"raises": "+", "lowers": "−", "varies": "±"}
    listed = panel.locator("ul").first.locator("button").all_inner_texts()
    assert listed == [f"{marks[i]} {p}" for p, i in into["predictor", "influence"].rows()]
    seen.page.keyboard.press("Escape")
    assert panel.locator("h2").count() == 0
    seen.page.locator("#strength").fill("2")
    assert seen.page.locator("#graph .arc:not([hidden])").count() == 2
    assert seen.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_arrows_differ_in_more_than_their_colours(see, network, scheme):
    seen = see(network.to_html("Web"), 1280, scheme)
    drawn = seen.run(
        """() => [...document.querySelectorAll(".legend svg")].map(svg => {
          const [line, tip] = svg.querySelectorAll("path");
          const style = getComputedStyle(line);
          return [style.stroke, style.strokeDasharray, tip.getAttribute("d").split("L").length];
        })"""
    )
    colours, dashes, corners = zip(*drawn, strict=True)
    assert len(set(colours)) == 3
    assert [dash != "none" for dash in dashes] == [False, True, False]
    assert corners[0] != corners[1]
    text = seen.page.locator(".legend").inner_text()
    assert re.search(r"\+ raises.*− lowers.*± varies", text, re.S)


def test_arrows_end_at_their_boxes(see, network):
    """No head is hidden under a box, and each is next to the box of its target."""
    seen = see(network.to_html("Web"), 1280)
    gaps = seen.run(
        """() => {
          const data = JSON.parse(document.getElementById("data").textContent);
          return data.tip.map((d, k) => {
            const corners = d.slice(1, -1).split("L").map(p => p.split(" ").map(Number));
            const c = data.to[k], w = data.w[c] / 2, h = data.h / 2;
            const first = corners.slice(0, data.influence[k] === "lowers" ? 2 : 1);
            const [x, y] = [0, 1].map(j => first.reduce((sum, p) => sum + p[j], 0) / first.length);
            return Math.max(Math.abs(x - data.x[c]) - w, Math.abs(y - data.y[c]) - h);
          });
        }"""
    )
    assert len(gaps) == min(400, network.to_frame().height)
    assert all(-0.5 < gap < 2 for gap in gaps)


def test_a_phone_shows_a_network_large_enough_to_read(see, network):
    seen = see(network.to_html("Web"), 390)
    heights = seen.run(
        """[...document.querySelectorAll('.node:not([hidden]) rect')]
          .map(r => r.getBoundingClientRect().height)"""
    )
    assert min(heights) >= 14


# Pictures


@pytest.fixture(scope="module")
def pictures(table, network):
    numbers = np.random.default_rng(1).normal(size=(200, 2))
    rules = tacit.BoostedRulesClassifier(n_rules=20).fit(table, "c1")
    models = (
        tacit.DecisionTreeClassifier(max_leaf_nodes=6).fit(table, "c1"),
        tacit.DecisionTreeRegressor(max_leaf_nodes=4).fit(numbers, numbers[:, 0]),
        network,
        tacit.DependencyTree().fit(table),
        tacit.Branching().fit(table),
        tacit.BayesNet(max_parents=1).fit(table),
        rules.explain(table.take([0])),
    )
    return {type(model).__name__: model.to_svg() for model in models}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_follow_the_colour_scheme(see, pictures, scheme):
    for name, picture in pictures.items():
        seen = see(picture, 1280, scheme, "svg")
        paper = seen.run("getComputedStyle(document.querySelector('svg > rect')).fill")
        assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)")
        contrasts = seen.contrasts("svg text")
        assert faint(contrasts) == []
        assert contrasts
        assert seen.run(CUT) == [], name


# Texts of a picture that are not within it.
CUT = """
() => {
  const paper = document.querySelector("svg > rect").getBoundingClientRect();
  return [...document.querySelectorAll("svg text")].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < paper.left - 1 || box.right > paper.right + 1 || box.top < paper.top - 1 ||
      box.bottom > paper.bottom + 1;
  }).map(text => text.textContent);
}
"""


def test_explanations_say_their_conditions_in_full(table):
    rules = tacit.BoostedRulesClassifier(n_rules=20).fit(table, "c1")
    explanation = rules.explain(table.take([0]))
    told = re.sub(r"<[^>]*>", " ", explanation.to_svg())
    assert explanation.rules
    for rule in explanation.rules:
        for condition in rule.conditions:
            assert condition.column[:60].replace("<", "&lt;").replace(">", "&gt;")[:20] in told


def test_skewed_parameters_have_a_logarithmic_axis(draw_to_memory):
    X = np.random.default_rng(0).normal(size=(300, 3))
    tuning = tacit.tune(tacit.NormalizedCutClassifier(), X, (X[:, 0] > 0).astype(str))
    ax = tuning.plot(parameter="balance")
    assert ax.get_xscale() in ("log", "symlog")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("balance", "accuracy")
    assert tuning.plot(plt.figure().gca(), parameter="scale").get_xscale() == "linear"
