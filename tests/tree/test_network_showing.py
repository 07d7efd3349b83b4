"""Networks as pictures and pages."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from tacit import DependencyNetwork, InputError, Table

mpl.use("Agg")
from matplotlib import pyplot as plt

EVIL = '<script>alert("1")</script>'
DRIVER = Path(__file__).parent / "page_dom.js"


@pytest.fixture(scope="module")
def web():
    rng = np.random.default_rng(0)
    base = rng.random((800, 4)) < 0.3
    columns = {EVIL: base[:, 0], "cost in $": base[:, 0] ^ (rng.random(800) < 0.1)}
    columns |= {"a&b</style>": base[:, 1], "it's": base[:, 1] ^ (rng.random(800) < 0.2)}
    columns |= {"a very long name " * 6: base[:, 2], "ü→": base[:, 2] & base[:, 3]}
    columns["alone"] = rng.random(800) < 0.5
    return DependencyNetwork().fit(Table(columns))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


# Pictures


def test_picture(web):
    ax = web.plot(top=6)
    frame = web.strongest(top=6)
    title, *legend = (text.get_text() for text in ax.texts[:4])
    assert title == f"What predicts what: the 6 strongest of {len(web.to_frame())} arcs"
    assert [text[0] for text in legend] == ["+", "−", "±"]
    shown = {text.get_text() for text in ax.texts[4:]}
    assert "cost in \\$" in shown
    assert len(shown) == len(set(frame["predictor"]) | set(frame["target"]))
    arrows = [p for p in ax.patches if type(p).__name__ == "PathPatch"][3:]
    assert len(arrows) == 6
    widths = [arrow.get_linewidth() for arrow in arrows]
    assert widths == sorted(widths)  # the strongest are drawn last, over the others
    ax.figure.canvas.draw()


def test_arrows_say_whether_a_probability_is_raised_or_lowered():
    """By the shape of the head and by dashes, not by colours alone."""
    rng = np.random.default_rng(1)
    a = rng.random(3000) < 0.4
    more = np.where(a, rng.random(3000) < 0.8, rng.random(3000) < 0.2)
    less = np.where(a, rng.random(3000) < 0.05, rng.random(3000) < 0.45)
    web = DependencyNetwork().fit(Table({"a": a, "more": more, "less": less}))
    frame = web.to_frame()
    told = {(p, t): (i, c) for p, t, _, i, c, _ in frame.iter_rows()}
    assert told["a", "more"][0] == "raises"
    assert told["a", "less"][0] == "lowers"
    assert told["a", "more"][1] == pytest.approx(0.6, abs=0.1)
    assert told["a", "less"][1] == pytest.approx(-0.4, abs=0.1)
    assert "+ a → more" in web.to_text()
    assert "− a → less" in web.to_text()
    dot = web.to_dot().splitlines()
    assert all(("arrowhead=tee" in line) == ('"less"' in line) for line in dot if "->" in line)
    picture = web.to_svg()
    n_lower = frame.filter(influence="lowers").height
    assert picture.count('stroke-dasharray="6 4"') == n_lower + 1  # and in the legend
    assert "raises P(more = True), on average from" in picture
    _, data = read_page(web.to_html())
    assert data["influence"] == frame["influence"].to_list()


def test_an_influence_may_vary():
    """What b does to c depends on a."""
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 8000)) < 0.5
    c = rng.random(8000) < np.where(a, np.where(b, 0.6, 0.9), np.where(b, 0.4, 0.1))
    web = DependencyNetwork().fit(Table({"a": a, "b": b, "c": c}, defaults=False))
    told = {(p, t): i for p, t, i in web.to_frame()["predictor", "target", "influence"].rows()}
    assert told["a", "c"] == "raises"
    assert told["b", "c"] == "varies"
    assert "±" in web.to_text()


def test_names_do_not_overlap(web):
    ax = web.plot()
    figure = ax.figure
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 10
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
    assert "all" in ax.texts[0].get_text()


def test_into_axes_that_are_there(web):
    _, ax = plt.subplots(figsize=(3, 2))
    assert web.plot(ax, top=4) is ax
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_nothing_to_draw():
    web = DependencyNetwork().fit(np.random.default_rng(5).integers(0, 2, (50, 4)))
    assert "no column depends on another" in web.plot().texts[0].get_text()
    assert "nothing to draw" in web.to_html()


def test_top_is_checked(web):
    for draw in (web.plot, web.to_html, web.to_svg, web.to_dot, web.strongest):
        with pytest.raises(InputError, match="top must be"):
            draw(top=0)


def test_svg_and_dot(web):
    assert "<svg" in web.to_svg(top=4)
    assert not plt.get_fignums()
    lines = web.to_dot(top=6).splitlines()
    assert (lines[0], len(lines), lines[-1]) == ("digraph network {", 8, "}")
    assert 'alert(\\"1\\")' in web.to_dot()
    assert "[penwidth=4.50, " in lines[1]


# Pages


class Reader(HTMLParser):
    """Collects what a browser would: tags with their attributes, and the data."""

    def __init__(self):
        super().__init__()
        self.tags, self.inside, self.texts = [], [], {}

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, text):
        if self.inside:
            self.texts[self.inside[-1]] = self.texts.get(self.inside[-1], "") + text


def read_page(page):
    reader = Reader()
    reader.feed(page)
    return reader, json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def test_page_holds_what_the_network_says(web):
    _, data = read_page(web.to_html())
    frame = web.to_frame()
    names = data["names"]
    assert [names[k] for k in data["from"]] == frame["predictor"].to_list()
    assert [names[k] for k in data["to"]] == frame["target"].to_list()
    assert data["gain"] == pytest.approx(frame["gain"].to_list(), rel=1e-3)
    for name, leaves, tree in zip(names, data["leaves"], data["trees"], strict=True):
        assert tree.splitlines()[0] == web.tree(name).to_text().splitlines()[0]
        assert leaves == web.tree(name).n_leaves_
    assert "alone" not in names


def test_names_are_never_markup(web):
    page = web.to_html(title=EVIL)
    reader, _ = read_page(page)
    assert EVIL not in page
    kinds = [tag for tag, _ in reader.tags]
    assert kinds.count("script") == 2
    assert kinds.count("style") == 1
    assert reader.texts["title"] == EVIL
    assert reader.texts["h1"] == EVIL


def test_page_needs_nothing_else(web):
    page = web.to_html()
    reader, _ = read_page(page)
    assert not any({"src", "href"} & set(attributes) for _, attributes in reader.tags)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "@import" not in page
    assert "url(" not in page
    assert not any(tag in ("link", "img", "iframe") for tag, _ in reader.tags)
    assert "prefers-color-scheme: dark" in page


def test_large_networks_make_small_pages():
    """Three thousand columns in pairs; the page says how many arcs it holds."""
    rng = np.random.default_rng(1)
    half = rng.random((300, 500)) < 0.3
    web = DependencyNetwork(max_leaf_nodes=3).fit(np.hstack([half, half]).astype(np.int64))
    page = web.to_html(top=120)
    assert len(web.to_frame()) >= 1000
    assert len(page) < 200_000
    _, data = read_page(page)
    assert len(data["gain"]) == 120
    assert re.search(r"On this page: the 120 strongest of them, between \d+ columns", page)


def test_a_page_has_a_title(web):
    assert "<h1>Areas</h1>" in web.to_html("Areas", top=5)


@pytest.mark.skipif(
    shutil.which("node") is None, reason="Node.js, which plays the browser, is absent"
)
def test_page_at_work(web, tmp_path):
    """Move the slider, choose with the keyboard, let go, and search."""
    path = tmp_path / "web.html"
    path.write_text(web.to_html(), encoding="utf-8")
    frame = web.to_frame()
    target = frame["target"][0]
    done = subprocess.run(
        ["node", str(DRIVER), str(path), target], capture_output=True, text=True, check=True
    )
    seen = json.loads(done.stdout)
    ends = set(frame["predictor"]) | set(frame["target"])
    assert seen["start"]["arcs"] == min(40, len(frame))
    assert set(seen["start"]["boxes"]) == ends
    two = frame[:2]
    assert seen["two"]["arcs"] == 2
    assert set(seen["two"]["boxes"]) == set(two["predictor"]) | set(two["target"])
    chosen = seen["chosen"]
    into, out = frame.filter(target=target), frame.filter(predictor=target)
    assert chosen["chosen"] == [target]
    assert (chosen["into"], chosen["out"]) == (len(into), len(out))
    assert set(chosen["near"]) == set(into["predictor"]) | set(out["target"])
    assert web.tree(target).to_text().splitlines()[0] in chosen["panel"]
    assert seen["let_go"]["chosen"] == []
    assert seen["let_go"]["arcs"] == 0
    assert seen["found"]["chosen"] == [target]
    assert seen["found"]["focused"] == target
    assert seen["lost"]["message"] == "no such column on this page"
