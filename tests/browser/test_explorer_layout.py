"""The explorer in windows of any width: nothing is cut, and what is drawn fits."""

import numpy as np
import pytest

pytest.importorskip("uvicorn")

import tacit
from browser.explored import mixed_table


@pytest.mark.parametrize("form", ["heat", "mosaic"])
def test_two_columns_follow_the_width_of_the_window(explore, form):
    seen = explore(mixed_table(), state=f"view=pair&x=1&y=3&form={form}")
    widths = []
    for width in (1280, 700, 1000):
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.wait_for_timeout(200)
        seen.settle()
        widths.append(
            seen.page.evaluate(
                "(() => { const { canvas } = tacit.pair.drawn[0];"
                " return [canvas.width / devicePixelRatio, canvas.clientWidth]; })()"
            )
        )
    for drawn, wide in widths:
        assert drawn == pytest.approx(wide, abs=1)
    assert len({wide for _, wide in widths}) == 3


def test_little_room_is_enough(explore):
    """On a phone: the view's name, the numbers of a table, marks of a tree beside its nodes."""
    rng = np.random.default_rng(8)
    flags = rng.random((4000, 5)) < 0.5
    data = {f"what was asked, {k}": flags[:, k].tolist() for k in range(5)}
    table = tacit.Table({"what was said": [f"{n} of five" for n in flags.sum(axis=1)], **data})
    seen = explore(table, width=390, state="view=models&model=tree&target=0")
    assert seen.page.evaluate(
        "(() => { const { left, right } = document.querySelector('#tabs [aria-current]')"
        ".getBoundingClientRect(); return left >= 0 && right <= innerWidth; })()"
    )
    seen.button("Learn from all records").click()
    seen.until("tacit.models.found !== null")
    lines = seen.page.evaluate(
        "[...document.querySelectorAll('.tree summary')].map(e => {"
        " e.parentElement.open = true; return [e, e.querySelector('.node')]; }).map(([e, node]) =>"
        " node.getBoundingClientRect().top - e.getBoundingClientRect().top)"
    )
    assert len(lines) > 20
    assert max(lines) < 8
    seen.button("Itemsets, rules").click()
    seen.button("Learn from all records").click()
    seen.until("tacit.models.found?.model.kind === 'itemsets'")
    table = seen.page.locator("[aria-label=Itemsets]")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_what_fields_say_is_not_cut_nor_are_small_cards(explore):
    seen = explore(tacit.Table({"a": ["x", "y", "g", "x"], "b": [True, False, True, True]}))
    plots = seen.page.evaluate(
        "[...document.querySelectorAll('.plot')].map(e => [e.scrollHeight, e.clientHeight])"
    )
    assert seen.page.locator(".cards.small").count() == 1
    for inside, outside in plots:
        assert inside <= outside
    free = seen.page.evaluate(
        "(() => { const field = document.querySelector('#tools input');"
        " const style = getComputedStyle(field); const pen = document.createElement('canvas')"
        ".getContext('2d'); pen.font = style.font; return field.clientWidth"
        " - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)"
        " - pen.measureText(field.placeholder).width; })()"
    )
    assert free > 16  # where the browser has its button


def test_hints_of_weighted_records_speak_of_weight(explore):
    seen = explore(mixed_table(weights=np.arange(2000) % 9 / 4))
    assert " weight · " in seen.page.evaluate("tacit.cards.get(1).words(1)")
    seen.go("view=pair&x=1&y=3")
    words = "tacit.pair.words(tacit.pair.crosses[0], tacit.pair.drawn[0].cells[0])"
    assert " weight, " in seen.page.evaluate(words)
