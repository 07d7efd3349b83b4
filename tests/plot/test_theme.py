"""Pictures, tables and charts without a browser: colours, escapes, axes."""

import re
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from tacit.plot.html import Markup, Result, frame_html, histogram, html_frame, table_html
from tacit.plot.page import Chart, logarithmic
from tacit.plot.scene import Bow, Box, Polygon, Scene, Words, draw_scene, scene_svg
from tacit.plot.theme import DARK, INK, LOWERS, PAPER, dark_rules

EVIL = "<script>alert(1)</script>"


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_texts_can_be_read_on_light_and_on_dark_paper():
    for colour in (INK, "#5b6673", "#0b6aa8", LOWERS, "#66727f"):
        assert contrast(colour, PAPER) > 4.5
        assert contrast(DARK[colour], DARK[PAPER]) > 4.5


def test_a_picture_has_dark_colours_for_what_it_uses():
    items = [
        Box(0, 0, 9, 9, PAPER, INK, title=EVIL), Words(1, 1, EVIL, 10, INK),
        Bow((0, 0), (5, 9), (9, 9), 1.5, LOWERS, dashed=True),
        Polygon(((0, 0), (1, 1), (2, 0)), "#123456"),
    ]  # fmt: skip
    svg = scene_svg(Scene(20, 10, EVIL, items))
    root = ET.fromstring(svg)
    style = root.find("{http://www.w3.org/2000/svg}style").text
    for colour in (INK, PAPER, LOWERS):
        assert f"--tacit-{colour[1:]}:{DARK[colour]}" in style
    assert "#123456" not in style
    assert "script" not in svg.replace("&lt;script&gt;", "").replace("&lt;/script&gt;", "")
    assert 'stroke-dasharray="6 4"' in svg


def test_dark_rules_know_notebooks():
    rules = dark_rules("svg.x", "fill:red")
    assert rules.count("{fill:red}") == 2
    assert "prefers-color-scheme:dark" in rules
    for place in ('[data-jp-theme-light="false"]', ".vscode-dark", '[data-theme="dark"]'):
        assert f"{place} svg.x" in rules


def test_bows_are_drawn_with_matplotlib(draw_to_memory):
    scene = Scene(100, 50, "", [Bow((0, 0), (50, 40), (90, 0), 2.0, LOWERS, dashed=True)])
    [patch] = draw_scene(scene).patches
    assert patch.get_path().vertices.tolist() == [[0, 0], [50, 40], [90, 0]]
    assert patch.get_linestyle() != "solid"


# Tables


def test_tables_are_escaped_and_numbers_aligned():
    html = table_html([EVIL, "n"], [[EVIL, "1,234"], ["b", "<0.1%"]], title=EVIL, note=EVIL)
    assert EVIL not in html
    assert html.count("&lt;script&gt;") == 4
    assert html.count('class="number"') == 3
    assert "<i>x</i>" in table_html(["a"], [[Markup("<i>x</i>")]])


def test_frames_say_how_many_rows_are_not_shown():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 1 / 3]})
    html = frame_html(frame, top=2, note="sorted")
    assert "… and 1 more; sorted" in html
    assert "(missing)" in html
    assert "more" not in frame_html(frame, top=3)


def test_results_show_their_text():
    class Answer(Result):
        def __str__(self):
            return EVIL

    assert "<pre>&lt;script&gt;alert(1)&lt;/script&gt;</pre>" in Answer()._repr_html_()
    assert html_frame("a", "b").endswith("ab</div>")


@pytest.mark.parametrize("fractions", [[], [0.0, 0.0], [0.25, 1.0, 0.0]])
def test_histograms(fractions):
    svg = histogram(fractions, EVIL)
    assert EVIL not in svg
    assert len(re.findall("<rect", svg)) == sum(x > 0 for x in fractions)


# Charts


def test_axes_are_named():
    chart = Chart((400, 200), 60, [0, 1, 10, 1000], [0.2, 0.9])
    chart.line([(0, 0.2), (1000, 0.9)], "#000000")
    chart.label([0, 1, 10, 1000], 1, "balance", "accuracy", ".4g")
    svg = chart.to_svg("a chart")
    for text in ("balance", "accuracy", "0.2", "0.9"):
        assert f">{text}</text>" in svg
    assert 'font-weight="bold">1</text>' in svg
    places = [float(x) for x in re.findall(r'<text x="([\d.]+)" y="174', svg)]
    assert all(abs(a - b) > 6 for k, a in enumerate(places) for b in places[:k])


def test_skewed_values_are_placed_by_their_logarithms():
    place = logarithmic([0, 0.001, 0.1, 10])
    steps = [place(b) - place(a) for a, b in ((0.001, 0.1), (0.1, 10))]
    assert steps[0] == pytest.approx(steps[1])
    assert place(0) < place(0.001)
    assert logarithmic([-1, 1, 1000]) is None
    assert logarithmic([0, 0]) is None
    assert logarithmic([1, 2, 15]) is None
