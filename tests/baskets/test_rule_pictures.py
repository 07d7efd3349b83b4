"""Pictures of association rules: what is drawn is what the measures say."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib import pyplot as plt

import tacit
from support.pages import EVIL, LONG
from tacit.baskets.lift_scale import LiftScale
from tacit.baskets.rule_network import network_scene
from tacit.baskets.rule_scatter import Scatter, notable_rules, plot_scatter
from tacit.plot.labels import place_labels
from tacit.plot.scene import Bow, Box, Dots, Polygon, Words, text_width
from tacit.plot.theme import DARK, LIFTS, LOWERS, PAPER

SVG = "{http://www.w3.org/2000/svg}"


def make_rules(min_support=0.01, min_confidence=0.1, names=None):
    """Draw baskets of three tastes, from items of very different frequencies."""
    rng = np.random.default_rng(5)
    names = names or [f"item {k}" for k in range(12)]
    baskets = []
    for _ in range(1500):
        taste = rng.integers(3)
        liked = [k for k in range(12) if rng.random() < (0.55 if k % 3 == taste else 0.5 / (k + 1))]
        baskets.append([names[k] for k in liked] or [names[0]])
    return tacit.FrequentItemsets(min_support=min_support).fit(baskets).rules(min_confidence)


@pytest.fixture(scope="module")
def rules():
    return make_rules()


@pytest.fixture(scope="module")
def awkward():
    return make_rules(0.02, 0.3, [EVIL, LONG, "$a$ & 'b'", *(f"{LONG} {k}" for k in range(9))])


# Dots


def test_dots_are_where_support_and_confidence_are(rules, draw_to_memory):
    ax = rules.plot()
    [dots] = [x for x in ax.collections if len(x.get_offsets()) == len(rules)]
    order = np.argsort(rules.measure("lift"), kind="stable")
    expected = np.column_stack([rules.measure("support"), rules.measure("confidence")])[order]
    np.testing.assert_allclose(dots.get_offsets(), expected)
    np.testing.assert_array_equal(dots.get_array(), rules.measure("lift")[order])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("support", "confidence")
    support = rules.measure("support")
    assert support.max() > 10 * support.min()
    assert ax.get_xscale() == "log"


def test_supports_of_less_than_a_decade_have_a_linear_axis(rules, draw_to_memory):
    support = rules.measure("support")
    near = rules.take(support > support.max() / 9)
    assert near.plot().get_xscale() == "linear"
    assert "logarithmic" not in near.to_svg()
    assert "logarithmic" in rules.to_svg()


def test_dots_of_svg_are_ordered_and_coloured_as_the_measures(rules):
    scatter = Scatter(rules)
    for pixels, name, sign in ((scatter.x, "support", 1), (scatter.y, "confidence", -1)):
        order = np.argsort(rules.measure(name), kind="stable")
        assert (np.diff(sign * pixels[order]) >= -1e-9).all()
    lift = rules.measure("lift")
    scale = LiftScale.of(lift)
    drawn = [x for x in scatter.scene.items if isinstance(x, Dots)]
    assert [x.colour for x in drawn] == list(scale.colours)
    for k, dots in enumerate(drawn):
        members = lift[scatter.classes == k]
        assert bool(len(dots.points)) == bool(len(members))
        places = np.column_stack([scatter.x, scatter.y])[scatter.classes == k].round(1)
        assert set(map(tuple, places.tolist())) == set(dots.points)
        if scale.colours[k] == LOWERS and len(members):
            assert members.max() < 1
    paths = ET.fromstring(rules.to_svg()).findall(f"{SVG}path[@class='dots']")
    assert [x.get("d").count("M") for x in paths] == [len(x.points) for x in drawn]


def test_logarithmic_pixels(rules):
    """Twice the support is as far to the right everywhere."""
    scatter = Scatter(rules)
    slope, _ = np.polyfit(np.log(rules.measure("support")), scatter.x, 1)
    steps = np.diff(scatter.x) - slope * np.diff(np.log(rules.measure("support")))
    np.testing.assert_allclose(steps, 0, atol=1e-6)


def test_the_greatest_are_named(rules):
    notable = notable_rules(rules)
    for name in ("lift", "support", "confidence"):
        values = rules.measure(name)
        assert any(np.isclose(values[k], values.max()) for k in notable[:3])
    texts = [x.text for x in Scatter(rules).scene.items if isinstance(x, Words)]
    antecedent, consequent = rules.sides(notable[0])
    assert any(", ".join(antecedent)[:10] in text for text in texts)
    assert any(f"→ {consequent}" in text for text in texts)


@pytest.mark.parametrize("some", [slice(None), slice(0, 3), slice(0, 1)])
def test_labels_do_not_overlap(rules, awkward, draw_to_memory, some):
    for each in (rules.take(some), awkward.take(some)):
        ax = plot_scatter(each)
        ax.figure.draw_without_rendering()
        texts = [x for x in ax.texts if x.get_text()]
        assert 1 <= len(texts) <= 8
        boxes = [x.get_window_extent() for x in texts]
        for k, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:k])
            assert box.x1 <= ax.figure.bbox.x1 + 1
            assert box.x0 >= ax.figure.bbox.x0 - 1
        plt.close("all")


def test_labels_keep_off_dots_where_there_is_room():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.uniform((0, 0), (150, 300), (400, 2)), [(160.0, 150.0)]])
    [label] = place_labels(points, [(400, 80.0, 14.0)], (0, 0, 400, 300), 8)
    inside = (points >= (label.left, label.top)) & (points <= (label.right, label.bottom))
    assert not inside.all(axis=1).any()
    assert place_labels(points, [(400, 500.0, 14.0)], (0, 0, 400, 300), 8) == []
    assert len(place_labels(points, [(k, 30.0, 9.0) for k in range(400)], (0, 0, 400, 300), 5)) == 5


# Colours


@pytest.mark.parametrize(
    "lifts", [[1.0], [2.0, 2.0], [0.5, 0.9], [0.5, 1.0], [0.9, 3.0, 50.0], [1.93, 1.9301, 1.94]]
)
def test_classes_of_lifts(lifts):
    lifts = np.array(lifts)
    scale = LiftScale.of(lifts)
    assert len(scale.edges) == len(scale.colours) + 1 == len(scale.texts()) + 1
    assert (np.diff(scale.edges) > 0).all()
    classes = scale.classes(lifts)
    assert (np.diff(classes[np.argsort(lifts)]) >= 0).all()
    for lift, k in zip(lifts, classes.tolist(), strict=True):
        assert (scale.colours[k] == LOWERS) == (lift < 1)
    assert scale.strengths(lifts).max() <= 1


def test_lightness_alone_tells_lifts_apart():
    def lightness(colour):
        return np.dot([int(colour[k : k + 2], 16) for k in (1, 3, 5)], [0.2126, 0.7152, 0.0722])

    assert (np.diff([lightness(x) for x in LIFTS]) < -8).all()
    assert (np.diff([lightness(DARK[x]) for x in LIFTS]) > 8).all()


# The network


def test_arrows_of_a_network_are_the_strongest_rules(rules):
    scene = network_scene(rules, 12)
    shown = rules.strongest(12)
    heads = [x for x in scene.items if isinstance(x, Polygon)]
    lift, scale = shown.measure("lift"), LiftScale.of(shown.measure("lift"))
    expected = {}
    for k in range(12):
        antecedent, consequent = shown.sides(k)
        told = f"{', '.join(antecedent)} → {consequent}: "
        expected[told] = (scale.colours[int(scale.classes(lift)[k])], f"lift {lift[k]:.4g}")
    assert len(heads) == 12
    for head in heads:
        [told] = [text for text in expected if head.title.startswith(text)]
        colour, said = expected.pop(told)
        assert head.fill == colour
        assert head.title.endswith(said)
    sizes = np.diff(shown.indptr)
    dots = [x for x in scene.items if isinstance(x, Box) and x.stroke == PAPER]
    assert len(dots) == (sizes > 1).sum()
    lines = [x for x in scene.items if isinstance(x, Bow)]
    assert len(lines) == np.where(sizes > 1, sizes + 1, 1).sum()


def test_items_of_a_network_are_as_large_as_their_supports(rules):
    scene = network_scene(rules)
    drawn = {x.title.split(":")[0]: (x.size, x.title) for x in scene.items
             if isinstance(x, Words) and x.title}  # fmt: skip
    support = {}
    for k in range(len(rules)):
        support[rules.sides(k)[1]] = rules.counts[k, 2] / rules.total
    known = [(support[name], *drawn[name]) for name in drawn if name in support]
    assert len(known) > 3
    assert [x[1] for x in sorted(known)] == sorted(x[1] for x in known)
    for value, _, title in known:
        assert f"{value:.2%}" in title


def test_boxes_of_a_network_do_not_overlap(rules, awkward):
    for each in (rules, awkward):
        scene = network_scene(each)
        boxes = [x for x in scene.items if isinstance(x, Box) and x.title]
        for k, a in enumerate(boxes):
            assert a.x >= 0
            assert a.x + a.width <= scene.width
            assert a.y + a.height <= scene.height
            for b in boxes[:k]:
                apart = a.x >= b.x + b.width or b.x >= a.x + a.width
                assert apart or a.y >= b.y + b.height or b.y >= a.y + a.height
        for words in (x for x in scene.items if isinstance(x, Words) and x.anchor == "start"):
            assert words.x + text_width(words.text, words.size, words.bold) <= scene.width + 1
        assert scene.items == network_scene(each).items


def test_long_rules_are_fewer_unless_asked_for():
    rng = np.random.default_rng(2)
    X = (rng.random((300, 10)) < 0.85).astype(int)
    rules = tacit.FrequentItemsets(min_support=0.2).fit(X).rules(0.5, redundant=True)
    long = rules.take(np.diff(rules.indptr) >= 6)
    drawn = [x for x in network_scene(long).items if isinstance(x, Polygon)]
    assert 1 <= len(drawn) < 25
    assert sum(isinstance(x, Bow) for x in network_scene(long).items) <= 80
    assert len([x for x in network_scene(long, 30).items if isinstance(x, Polygon)]) == 30


# All of them


@pytest.mark.parametrize("kind", ["scatter", "network", "bars"])
def test_few_rules_or_none(rules, awkward, draw_to_memory, kind):
    for some in (rules.take(slice(0, 0)), rules.take(slice(0, 1)), awkward):
        ax = plt.figure().gca()
        if kind != "bars" or len(some):
            assert some.plot(ax, kind=kind) is ax
            ax.figure.draw_without_rendering()
        if kind != "bars":
            ET.fromstring(some.to_svg(kind=kind))


def test_names_are_escaped(awkward):
    for kind in ("scatter", "network"):
        svg = awkward.to_svg(kind=kind)
        assert "<script" not in svg
        assert "<b>" not in svg
    assert EVIL not in awkward.to_html()
    assert EVIL not in awkward._repr_html_()
    assert not re.search("<script(?! type=.application)(?!>\n)", awkward.to_html())


def test_how_many_and_what_is_refused(rules, draw_to_memory):
    assert len(rules.plot(top=7).collections[0].get_offsets()) == 7
    assert len(rules.plot(kind="bars", top=4).patches) == 4
    assert len(rules.plot(kind="bars").patches) == 20
    with pytest.raises(tacit.InputError, match="kind"):
        rules.plot(kind="pie")
    with pytest.raises(tacit.InputError, match="kind"):
        rules.to_svg(kind="bars")
    with pytest.raises(tacit.InputError, match="top"):
        rules.plot(top=0)
    with pytest.raises(tacit.InputError, match="top"):
        rules.to_html(top=-1)
    with pytest.raises(tacit.InputError, match="lft"):
        rules.plot(kind="network", by="lft")
