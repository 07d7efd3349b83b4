"""Pages of association rules and itemsets at work: sorting, searching, turning over, pointing."""

import numpy as np
import pytest

import tacit
from support.pages import EVIL, LONG, faint

SIZES = [(390, "light"), (390, "dark"), (1280, "dark")]


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(5)
    names = [EVIL, LONG, 'it\'s "milk" & more', *(f"item {k}" for k in range(9))]
    baskets = []
    for _ in range(1200):
        taste = rng.integers(3)
        liked = [k for k in range(12) if rng.random() < (0.55 if k % 3 == taste else 0.15)]
        baskets.append([names[k] for k in liked] or [names[0]])
    return tacit.FrequentItemsets(min_support=0.004).fit(baskets)


@pytest.fixture(scope="module")
def rules(sets):
    return sets.rules(0.05, measures=["lift", "conviction", "p_value"])


@pytest.fixture(scope="module")
def page(rules):
    return rules.to_html(title=EVIL)


def column(seen, k):
    return seen.page.locator(f"#rows td:nth-child({k + 1})").all_inner_texts()


def head(seen, name):
    return seen.page.get_by_role("columnheader").filter(has=seen.page.get_by_role(
        "button", name=name, exact=True))  # fmt: skip


def sort_by(seen, name):
    seen.page.get_by_role("button", name=name, exact=True).click()
    return head(seen, name).get_attribute("aria-sort")


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_pages_fit_and_can_be_read(see, sets, page, width, scheme):
    for text in (page, sets.to_html(), sets.rules(1.0, min_lift=1e9).to_html()):
        seen = see(text, width, scheme)
        assert seen.errors == []
        assert seen.width <= width
        contrasts = seen.contrasts()
        assert len(contrasts) > 5
        assert faint(contrasts) == []
        assert seen.run("document.querySelectorAll('main b, script[src], link, img').length") == 0
        assert seen.page.title() != "owned"


def test_the_first_rows_are_the_most_confident(see, rules, page):
    seen = see(page, 1280)
    listed = list(zip(column(seen, 0), column(seen, 1), strict=True))
    sides = [rules.sides(k) for k in range(100)]
    assert len(rules) > 300
    assert listed == [(", ".join(a), c) for a, c in sides]
    assert head(seen, "confidence").get_attribute("aria-sort") == "descending"
    for k, name, half_a_digit in ((3, "confidence", 0.05), (2, "support", 0.005)):
        shown = [float(text.removesuffix("%")) for text in column(seen, k)]  # 56.25 may be 56.3
        assert np.allclose(shown, 100 * rules.measure(name)[:100], rtol=0, atol=half_a_digit + 1e-9)
    assert seen.page.locator("#status").inner_text() == f"1–100 of {len(rules):,} rules"
    low, high = rules.interval("lift")
    shown = seen.page.locator("#rows td:nth-child(5)").first.get_attribute("title")
    assert shown == f"95% interval: {low[0]:.4g} to {high[0]:.4g}"


def test_rules_are_sorted_by_any_column_and_both_ways(see, rules, page):
    seen = see(page, 1280)
    lift = np.sort(rules.measure("lift"))
    assert sort_by(seen, "lift") == "descending"
    assert head(seen, "confidence").get_attribute("aria-sort") == "none"
    assert column(seen, 4) == [f"{x:.4g}" for x in lift[::-1][:100]]
    assert sort_by(seen, "lift") == "ascending"
    assert [float(x) for x in column(seen, 4)] == [float(f"{x:.4g}") for x in lift[:100]]
    assert sort_by(seen, "antecedent") == "ascending"
    first = column(seen, 0)
    assert sort_by(seen, "antecedent") == "descending"
    assert column(seen, 0)[0] != first[0]
    assert sort_by(seen, "p_value") == "ascending"
    p = [float(x) for x in column(seen, 6)]
    assert p == sorted(p)
    assert seen.errors == []


def test_infinite_measures_are_sorted_and_shown(see):
    baskets = [["a", "b"]] * 4 + [["b"], ["c"], ["a", "b", "c"]]
    rules = tacit.FrequentItemsets(min_support=1, kind="all").fit(baskets).rules(
        0.1, measures=["conviction"], redundant=True
    )  # fmt: skip
    infinite = int(np.isinf(rules.measure("conviction")).sum())
    assert 0 < infinite < len(rules)
    seen = see(rules.to_html(), 1280)
    assert sort_by(seen, "conviction") == "descending"
    shown = column(seen, 4)
    assert shown[:infinite] == ["∞"] * infinite
    assert "∞" not in shown[infinite:]


def test_the_keyboard_sorts_and_searches(see, page):
    seen = see(page, 1280)
    seen.page.get_by_role("button", name="support", exact=True).focus()
    seen.page.keyboard.press("Enter")
    assert head(seen, "support").get_attribute("aria-sort") == "descending"
    seen.page.keyboard.press(" ")
    assert head(seen, "support").get_attribute("aria-sort") == "ascending"
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("item 3")
    assert "found" in seen.page.locator("#status").inner_text()
    seen.page.keyboard.press("Escape")
    assert "found" not in seen.page.locator("#status").inner_text()
    assert seen.page.locator("#search").input_value() == ""


@pytest.mark.parametrize(
    ("asked", "left", "right", "either"),
    [
        ("ITEM 3", [], [], ["item 3"]),
        ("item 3, item 6", [], [], ["item 3", "item 6"]),
        ("→ item 3", [], ["item 3"], []),
        ("-> item 3", [], ["item 3"], []),
        ("item 3 →", ["item 3"], [], []),
        ("item 0, item 6 → item 3", ["item 0", "item 6"], ["item 3"], []),
        ("<script>", [], [], [EVIL]),
        ('"milk" &', [], [], ['it\'s "milk" & more']),
        ("no such item", [], [], ["no such item"]),
    ],
)
def test_searches_look_on_both_sides_or_on_one(see, rules, page, asked, left, right, either):
    seen = see(page, 1280)
    seen.page.locator("#search").fill(asked)
    sides = [rules.sides(k) for k in range(len(rules))]
    expected = [
        (", ".join(a), c)
        for a, c in sides
        if all(x in a for x in left) and all(x == c for x in right)
        and all(x in (*a, c) for x in either)
    ]  # fmt: skip
    assert list(zip(column(seen, 0), column(seen, 1), strict=True)) == expected[:100]
    status = seen.page.locator("#status").inner_text()
    n = f"of {len(rules):,}"
    assert status == (
        f"1–{min(len(expected), 100)} of {len(expected)} rules found, {n}" if expected else
        f"None {n} rules found"
    )  # fmt: skip
    # The dots are those of the rules that were found.
    dots = sum(
        path.count("M")
        for path in seen.run(
            "[...document.querySelectorAll('.dots')].map(p => p.getAttribute('d'))"
        )
    )
    assert (dots > 0) == bool(expected)
    assert dots <= len(expected)
    assert seen.errors == []


def test_pages_of_a_hundred_are_turned_over(see, rules, page):
    seen = see(page, 1280)
    before, after = (seen.page.get_by_role("button", name=x) for x in ("Previous", "Next"))
    assert before.is_disabled()
    after.click()
    assert column(seen, 1) == [rules.sides(k)[1] for k in range(100, 200)]
    for _ in range((len(rules) - 1) // 100 - 1):
        after.click()
    assert after.is_disabled()
    assert column(seen, 1)[-1] == rules.sides(len(rules) - 1)[1]
    before.click()
    assert len(column(seen, 1)) == 100
    assert not after.is_disabled()


def test_dots_tell_their_rule_and_find_it(see, rules, page):
    seen = see(page, 1280)
    where = seen.run(
        """() => {
          const data = JSON.parse(document.getElementById("data").textContent);
          const svg = document.querySelector("path.dots").ownerSVGElement;
          const k = data.dots.x.indexOf(Math.max(...data.dots.x));
          const at = new DOMPoint(data.dots.x[k], data.dots.y[k]).matrixTransform(
            svg.getScreenCTM());
          return [at.x, at.y];
        }"""
    )
    seen.page.mouse.move(*where)
    most = int(rules.measure("support").argmax())
    antecedent, consequent = rules.sides(most)
    hint = seen.page.locator("#hint").inner_text()
    assert f"support {rules.measure('support')[most]:.2%}" in hint
    assert consequent in hint
    seen.page.mouse.click(*where)
    chosen = seen.page.locator("tr.chosen td").all_inner_texts()
    assert chosen[:2] == [", ".join(antecedent), consequent]
    assert seen.page.locator("tr.chosen").is_visible()
    assert seen.page.locator("#hint").inner_text() == hint


def test_itemsets_are_sorted_and_searched(see, sets):
    seen = see(sets.to_html(), 1280)
    supports = sets.itemsets_.supports
    assert column(seen, 2) == [f"{x:.2%}" for x in supports[:100]]
    assert sort_by(seen, "size") == "descending"
    assert int(column(seen, 1)[0]) == sets.itemsets_.sizes.max()
    seen.page.locator("#search").fill("item 3, item 6")
    held = sum({"item 3", "item 6"} <= set(sets.itemsets_[k]) for k in range(len(supports)))
    assert f"of {held} itemsets found" in seen.page.locator("#status").inner_text()
    assert seen.errors == []


def test_twenty_thousand_rules(see):
    """Only what is seen is in the document."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, 14)) < 0.7).astype(int)
    rules = tacit.FrequentItemsets(min_support=0.05, kind="all").fit(X).rules(0.3, redundant=True)
    assert len(rules) > 20_000
    seen = see(rules.take(slice(20_000)).to_html(top=None), 1280)
    assert len(column(seen, 0)) == 100
    assert seen.run("document.querySelectorAll('*').length") < 3000
    assert sort_by(seen, "lift") == "descending"
    seen.page.locator("#search").fill("→ x1")
    assert "of 20,000" in seen.page.locator("#status").inner_text()
    assert "the 10,000 most confident of" in rules.to_html()
    assert seen.errors == []
