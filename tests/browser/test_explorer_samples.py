"""A file of the explorer that holds a sample: what it knows is exact, what it estimates is said."""

import csv
import random

import numpy as np
import pytest

pytest.importorskip("uvicorn")

import tacit
from browser.explored import counts, mixed_table, random_text
from tacit.explore import Explorer
from tacit.explore.state import Selection


def test_a_sample_is_exact_in_pairs_and_bounded_beyond(explore):
    """A file of a quarter of the records: what it holds is exact, what it estimates has bounds."""
    n, most = 8000, 2000
    source = mixed_table(n)
    table = Explorer(source).table
    arities = table.schema.arities.tolist()
    seen = explore(source, offline=True, most=most)
    assert "a sample of 2,000 of 8,000 records" in seen.page.locator(".notes").inner_text()
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    draw, inside, exact = random.Random(11), [], 0
    for _ in range(25):
        text, other = random_text(draw, arities), random_text(draw, arities)
        against = draw.choice(["all", "b"])
        seen.go(f"f={fingerprint}&a={text}&b={other}&against={against}")
        conditions = set(Selection.parse(text, arities).conditions)
        for c in range(len(arities)):
            expected = counts(table, text, c)
            shown = seen.shown(c)
            if against == "b":
                expected = counts(table, text, c, without=False)
            ends = seen.page.evaluate(
                "([c, counts]) => { const margin = tacit.margin([c, ...tacit.state.a.keys()]);"
                " return margin && counts.map(margin); }", [c, shown],
            )  # fmt: skip
            if ends is None:
                assert len(conditions | {c}) <= 2
                assert shown == expected
                exact += 1
            else:
                assert len(conditions | {c}) > 2
                for estimate, (low, high), count in zip(shown, ends, expected, strict=True):
                    assert 0 <= low <= estimate <= high <= n
                    inside.append(low <= count <= high)
    assert exact > 20
    assert len(inside) > 300
    assert np.mean(inside) > 0.93
    # Where it is an estimate the page says so.
    seen.go(f"f={fingerprint}&a=0:3-20;1:!1;3:0")
    assert "≈" in seen.page.locator(".count").inner_text()
    assert "≈" in seen.page.evaluate("tacit.cards.get(2).words(5)")
    seen.go(f"f={fingerprint}&a=0:3-20")
    assert "≈" not in seen.page.locator(".count").inner_text()
    assert seen.size() == sum(counts(table, "0:3-20", 0, without=False))
    seen.button("Models").click()
    assert "cannot learn models" in seen.page.locator("#views").inner_text()


def test_the_rest_is_never_fewer_than_none(explore):
    """Of some labels the sample alone would say that more are in A than there are in all."""
    n, most = 8000, 800
    rng = np.random.default_rng(3)
    source = tacit.Table(
        {f"c{k}": rng.integers(0, 40, n) for k in range(3)}
        | {"u": (rng.random(n) < 0.95).tolist(), "v": (rng.random(n) < 0.9).tolist()}
    )
    table = Explorer(source).table
    arities = table.schema.arities.tolist()
    seen = explore(source, offline=True, most=most)
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    often = f"3:{table.schema['u'].code(True)};4:{table.schema['v'].code(True)}"
    seen.go(f"f={fingerprint}&a={often}&against=rest")
    too_many, inside = 0, []
    for c in range(3):
        own, rest = np.array(seen.shown(c)), np.array(seen.shown(c, "other"))
        everything = np.array(counts(table, "", c))
        too_many += int((own > everything).sum())
        assert rest.min() >= 0
        assert rest == pytest.approx(np.maximum(everything - own, 0))
        ends = seen.page.evaluate(
            "([c, n]) => Array.from({ length: n }, (_, k) => tacit.shown(c).otherEnds(k))",
            [c, arities[c]],
        )
        known = everything - counts(table, often, c)
        for estimate, (low, high), count in zip(rest, ends, known, strict=True):
            assert 0 <= low <= estimate <= high
            inside.append(low <= count <= high)
    assert too_many > 3
    assert np.mean(inside) > 0.93
    least = seen.page.evaluate(
        "async () => Math.min(...(await tacit.differences()).flatMap(row => Array.from(row.other)))"
    )
    assert least == 0


def test_estimates_of_what_a_is_compared_with_are_said(explore):
    source = mixed_table(8000)
    seen = explore(source, offline=True, most=2000)
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    a, b = "3:1", "0:3-20;1:!1;3:0"  # of A, pairs are exact; of B, nothing is
    seen.go(f"f={fingerprint}&a={a}&b={b}&against=b")
    said = seen.page.evaluate("tacit.cards.get(2).words(5)").splitlines()
    assert "≈" not in said[1]
    assert said[2].startswith("B: ≈ ")
    seen.go(f"f={fingerprint}&a={b}&b={a}&against=b")
    said = seen.page.evaluate("tacit.cards.get(2).words(5)").splitlines()
    assert said[1].startswith("≈ ")
    assert "≈" not in said[2]
    seen.go(f"f={fingerprint}&a={b}&against=rest")
    assert "the rest: ≈ " in seen.page.evaluate("tacit.cards.get(2).words(5)")
    seen.go(f"f={fingerprint}&a={a}&b={b}&against=b")
    rows = downloaded(seen, "hours")
    assert list(rows[0]) == ["hours", "count", "count_b", "low_b", "high_b"]
    for row in rows:
        assert float(row["low_b"]) <= float(row["count_b"]) <= float(row["high_b"])


def downloaded(seen, column):
    """Return the rows of the CSV file that the page gives of a column."""
    seen.button(f"Export {column}", exact=True).click()
    with seen.page.expect_download() as download:
        seen.button("CSV").click()
    seen.button("Close").click()
    with download.value.path().open(newline="") as file:
        return list(csv.DictReader(file))
