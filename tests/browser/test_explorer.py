"""The explorer at work in Chromium: everything that it is for, as a person would do it."""

import random
from xml.etree import ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("uvicorn")

import tacit
from browser.explored import (
    AGE,
    HOURS,
    RICH,
    TOWN,
    Explored,
    counts,
    hostile_table,
    mixed_table,
    random_text,
)
from support.pages import EVIL, LONG, faint
from support.real_data import ADULT
from tacit.explore import Explorer
from tacit.explore.server import Server
from tacit.explore.state import Selection


@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_state_shows_the_counts_of_brute_force(explore, offline, weighted):
    weights = np.arange(2000) % 9 / 4 if weighted else None
    source = mixed_table(weights=weights)
    table = Explorer(source).table
    arities = table.schema.arities.tolist()
    seen = explore(source, offline=offline)
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    draw = random.Random(5)
    for _ in range(20):
        text, other = random_text(draw, arities), random_text(draw, arities)
        against = draw.choice(["all", "rest", "b"])
        active = draw.randrange(len(arities))
        seen.go(f"f={fingerprint}&a={text}&b={other}&against={against}")
        assert seen.problem == ""
        # Everything that a drag over a column will need has come, and says the same.
        seen.page.evaluate("c => tacit.linked.prepare(c, tacit.state.a, tacit.needed)", active)
        local = seen.page.evaluate(
            "[...tacit.linked.local(tacit.state.a, tacit.needed)]"
            ".map(([c, counts]) => [c, Array.from(counts)])"
        )
        assert dict(local) == {c: counts(table, text, c) for c in range(len(arities))}
        for c in range(len(arities)):
            own = counts(table, text, c, without=False)
            everything = counts(table, "", c)
            expected = counts(table, text, c) if against == "all" else own
            assert seen.shown(c) == expected
            if against == "rest":
                assert seen.shown(c, "other") == (np.array(everything) - own).tolist()
            if against == "b":
                assert seen.shown(c, "other") == counts(table, other, c, without=False)
        assert seen.size() == sum(counts(table, text, 0, without=False))


def test_a_drag_asks_for_nothing(explore):
    seen = explore(mixed_table())
    table = Explorer(mixed_table()).table
    seen.drag(AGE, 3, 3, release=False)
    before = len(seen.requests)
    for last in (5, 9, 14, 8):
        seen.page.mouse.move(*seen.place(AGE, last), steps=3)
        for c in range(6):
            assert seen.shown(c) == counts(table, f"0:3-{last}", c)
    assert len(seen.requests) == before
    assert "a=" not in seen.hash
    seen.page.mouse.up()
    seen.settle()
    assert "a=0:3-8" in seen.hash
    # A range is moved by what is inside of it.
    seen.drag(AGE, 5, 10)
    assert "a=0:8-13" in seen.hash
    assert (
        f"{sum(counts(table, '0:8-13', 0, without=False)):,}"
        in seen.page.locator("header").inner_text()
    )


def test_clicks_select_exclude_and_are_undone(explore):
    seen = explore(mixed_table())
    seen.click(TOWN, 1)
    seen.click(TOWN, 3)
    assert "a=1:1,3" in seen.hash
    chip = seen.page.locator(".chip")
    assert chip.inner_text().startswith("town is north, west")
    seen.page.locator('[data-column="1"]').get_by_role("button", name="Invert town").click()
    seen.settle()
    assert "a=1:!1,3" in seen.hash
    assert "town is not north, west" in chip.inner_text()
    seen.click(AGE, 4)
    seen.click(AGE, 6, key="Control")
    assert "a=0:4,6;1:!1,3" in seen.hash
    seen.click(AGE, 4, key="Control")
    seen.click(AGE, 6)
    assert "a=1:!1,3" in seen.hash
    seen.page.keyboard.press("Control+z")
    seen.settle()
    assert "a=0:6;1:!1,3" in seen.hash
    seen.button("Undo").click()
    seen.settle()
    assert "a=0:4,6;1:!1,3" in seen.hash
    seen.click(RICH, 0, key="Alt")
    assert "3:!0" in seen.hash
    seen.button("Remove rich is not False").click()
    seen.settle()
    assert "3:" not in seen.hash
    seen.button("Clear", exact=True).click()
    seen.settle()
    assert "a=" not in seen.hash
    assert "2,000 records, all of them" in seen.page.locator("header").inner_text()


def test_missing_numbers_have_a_bar_of_their_own(explore):
    seen = explore(mixed_table())
    table = Explorer(mixed_table()).table
    missing = table.schema.labels[HOURS].missing
    seen.click(HOURS, missing)
    assert f"a=2:{missing}" in seen.hash
    assert seen.page.locator(".chip").inner_text().startswith("hours is (missing)")
    assert seen.size() == table.count({"hours": None})


def test_the_keyboard_does_it_all(explore):
    seen = explore(mixed_table())
    seen.canvas(TOWN).focus()
    for key in ("ArrowDown", "ArrowDown", " "):
        seen.page.keyboard.press(key)
    seen.settle()
    order = seen.page.evaluate("tacit.cards.get(1).order")
    assert f"a=1:{order[1]}" in seen.hash
    assert "records" in seen.page.locator("#said").inner_text()
    seen.page.keyboard.press("i")
    seen.settle()
    assert f"a=1:!{order[1]}" in seen.hash
    seen.page.keyboard.press("Delete")
    seen.canvas(AGE).focus()
    for key in ("Home", "Shift+ArrowRight", "Shift+ArrowRight"):
        seen.page.keyboard.press(key)
        seen.settle()
    assert "a=0:0-2" in seen.hash
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("hou")
    seen.until("tacit.listed.length === 1")
    assert seen.page.locator(".card h2").all_inner_texts() == ["hours"]


def test_a_is_compared_with_b(explore):
    seen = explore(mixed_table())
    table = Explorer(mixed_table()).table
    seen.click(TOWN, 1)
    seen.button("Keep as B").click()
    seen.settle()
    seen.click(TOWN, 1)
    seen.click(TOWN, 2)
    assert "a=1:2&b=1:1&against=b" in seen.hash
    assert seen.shown(AGE) == counts(table, "1:2", AGE)
    assert seen.shown(AGE, "other") == counts(table, "1:1", AGE)
    assert seen.size("b") == table.count({"town": "north"})
    seen.button("Swap").click()
    seen.settle()
    assert "a=1:1&b=1:2" in seen.hash
    seen.button("Drop B").click()
    seen.settle()
    assert "b=" not in seen.hash


def test_columns_are_ordered_and_searched(explore):
    source = mixed_table()
    seen = explore(source, target="rich")
    table = Explorer(source).table
    information = {
        name: table.contingency([name, "rich"]).mutual_information()
        for name in table.schema.names if name != "rich"
    }  # fmt: skip
    expected = ["rich", *sorted(information, key=information.get, reverse=True)]
    names = seen.page.locator(".card h2")
    assert names.all_inner_texts() == expected
    note = seen.page.locator('[data-column="0"] .foot').inner_text()
    assert float(note.removesuffix(" nats about rich")) == pytest.approx(
        information["age"], rel=0.01
    )
    order = seen.page.get_by_label("Order")
    order.select_option("name")
    seen.settle()
    assert names.all_inner_texts() == sorted(table.schema.names)
    order.select_option("variety")
    seen.settle()
    entropy = {n: table.contingency([n]).entropy() for n in table.schema.names}
    assert names.all_inner_texts() == sorted(entropy, key=entropy.get, reverse=True)
    seen.page.get_by_role("searchbox").fill("WEST")
    seen.until("tacit.listed.length === 1")
    assert names.all_inner_texts() == ["town"]


@pytest.mark.parametrize("offline", [False, True])
def test_what_is_different_is_ranked(explore, offline):
    source = mixed_table()
    table = Explorer(source).table
    seen = explore(source, offline=offline, state="view=difference")
    assert "Nothing is selected yet" in seen.page.locator("#views").inner_text()
    seen.go(f"f={seen.page.evaluate('tacit.schema.fingerprint')}&a=3:1&view=difference")
    rows = seen.page.locator("[aria-label=Differences] tbody tr")
    cells = rows.first.locator("td").all_inner_texts()
    assert cells[0] == "age"
    code = [str(x) for x in table.schema.labels[AGE]].index(cells[2])
    a, b = counts(table, "3:1", AGE), counts(table, "3:0", AGE)
    p, q = a[code] / sum(a), b[code] / sum(b)
    assert float(cells[5]) == pytest.approx(p / q, abs=0.006)
    assert cells[7] == str(a[code])
    low, high = (float(x) for x in cells[6].split(" – "))
    assert low < p / q < high
    with seen.page.expect_download() as download:
        seen.page.locator("#views").get_by_role("button", name="Export").first.click()
    exported = download.value.path().read_text().splitlines()
    assert exported[0] == "column,nats,label,count_a,count_rest,lift,lift_low,lift_high"
    assert [line.split(",")[3] for line in exported[1:] if line.startswith("age,")] == [
        str(count) for count in counts(table, "3:1", AGE)
    ]
    if offline:
        assert "needs `tacit explore`" in seen.page.locator("#views").inner_text()
        return
    found = Explorer(source).findings({"a": "3:1"})["rules"]
    listed = seen.page.locator("[aria-label=Combinations] tbody tr")
    listed.first.wait_for()
    assert listed.count() == min(len(found), 40)
    assert (
        listed.first.locator("td").last.inner_text()
        == f"{found[0]['hits']} of {found[0]['support']}"
    )
    listed.first.get_by_role("button").click()
    seen.settle()
    assert seen.size() == found[0]["hits"]


def test_two_columns_say_what_tables_say(explore):
    source = mixed_table()
    table = Explorer(source).table
    seen = explore(source, state="view=pair&x=1&y=0")
    cross = table.contingency(["age", "town"])
    measures = seen.page.evaluate("tacit.pair.crosses[0].measures")
    assert measures["information"] == pytest.approx(cross.mutual_information(), rel=1e-9)
    assert measures["chi2"] == pytest.approx(cross.chi2().statistic, rel=1e-9)
    assert measures["dof"] == cross.chi2().dof
    assert measures["p"] == pytest.approx(cross.chi2().p_value, rel=1e-6)
    assert measures["v"] == pytest.approx(cross.cramers_v(), rel=1e-9)
    assert measures["expected"] == pytest.approx(cross.chi2().expected.ravel().tolist())
    box = seen.page.locator(".heat canvas").bounding_box()
    cell = seen.page.evaluate("tacit.pair.drawn[0].cells.find(c => c.i === 3 && c.j === 2)")
    seen.page.mouse.click(
        box["x"] + cell["x"] + cell["w"] / 2, box["y"] + cell["y"] + cell["h"] / 2
    )
    seen.settle()
    assert "a=0:3;1:2" in seen.hash
    assert seen.size() == cross.to_array()[3, 2]
    seen.button("Mosaic").click()
    seen.settle()
    cells = seen.page.evaluate("tacit.pair.drawn[0].cells")
    assert len(cells) == cross.to_array().size
    areas = {(c["i"], c["j"]): c["w"] * c["h"] for c in cells}
    total = sum(areas.values())
    for at, area in areas.items():
        assert area / total == pytest.approx(cross.to_array()[at] / cross.total, abs=1e-9)


def test_small_multiples_are_tables_given_the_third(explore):
    source = mixed_table()
    table = Explorer(source).table
    seen = explore(source, state="view=pair&x=3&y=0&z=1")
    titles = seen.page.locator(".multiples h3").all_inner_texts()
    assert titles[0] == "town: north"
    for k, title in enumerate(titles):
        label = title.removeprefix("town: ")
        expected = table.contingency(
            ["age", "rich"], given={"town": None if label == "(missing)" else label}
        )
        shown = seen.page.evaluate("k => Array.from(tacit.pair.crosses[k].table)", k)
        assert shown == expected.to_array().ravel().tolist()
    # The picture has all of them, one beside another.
    picture = seen.page.evaluate(
        "async () => (await import('/static/export.js')).pictureOf(tacit, [3, 0, 1])"
    )
    root = ET.fromstring(picture)
    texts = [x.text for x in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [x for x in texts if x in {t.removeprefix("town: ") for t in titles}] == [
        title.removeprefix("town: ") for title in titles
    ]
    edges = [float(x.get("x")) + float(x.get("width")) for x in root.iter() if x.get("rx") is None
             and x.tag.endswith("rect") and x.get("width") != "100%"]  # fmt: skip
    assert max(edges) <= float(root.get("width"))


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "dark")])
def test_pages_fit_and_can_be_read(explore, width, scheme):
    from browser.conftest import CONTRASTS

    seen = explore(hostile_table(), width=width, scheme=scheme)
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    for view in ("overview", "difference", "pair", "models"):
        seen.go(f"f={fingerprint}&a=0:1;3:!0&view={view}")
        if view == "models":
            seen.page.locator("#views .tools select").select_option("2")
            seen.button("Learn from the selection").click()
            seen.until("tacit.models.found !== null")
        seen.page.wait_for_timeout(200)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, view
        contrasts = seen.page.evaluate(CONTRASTS, "body *")
        assert len(contrasts) > 10
        assert faint(contrasts) == [], view
        unnamed = seen.page.evaluate(
            "[...document.querySelectorAll('button, canvas[tabindex], select, input')].filter(e => "
            "!(e.getAttribute('aria-label') || e.textContent || e.closest('label')))"
            ".map(e => e.outerHTML.slice(0, 200))"
        )
        assert unnamed == [], view


@pytest.mark.parametrize("offline", [False, True])
def test_labels_are_texts_and_nothing_else(explore, offline):
    seen = explore(hostile_table(), offline=offline, title=EVIL, target=EVIL)
    assert seen.page.title() != "owned"
    scripts = 4 if offline else 1
    for view in ("overview", "difference", "pair"):
        seen.go(f"f={seen.page.evaluate('tacit.schema.fingerprint')}&a=0:0-3;5:!1&view={view}")
        seen.page.wait_for_timeout(400)
        assert seen.page.evaluate("document.querySelectorAll('script').length") <= scripts
        assert (
            seen.page.evaluate("document.querySelectorAll('main b:not(.facts b), main img').length")
            == 0
        )
        assert "\u202e" not in seen.page.locator(".selection").inner_text()
    seen.go(f"f={seen.page.evaluate('tacit.schema.fingerprint')}&a=0:0-3")
    for c in range(6):
        seen.page.locator(f'[data-column="{c}"]').get_by_role("button", name="Export").click()
        assert seen.page.get_by_role("dialog").is_visible()
        for kind in ("SVG", "PNG", "CSV"):
            with seen.page.expect_download() as download:
                seen.page.get_by_role("dialog").get_by_role("button", name=kind, exact=True).click()
            content = download.value.path().read_bytes()
            assert len(content) > 30
            assert b"<script" not in content or kind == "CSV"
        seen.page.get_by_role("button", name="Close").click()
    assert seen.page.title() != "owned"


def test_late_answers_are_not_shown(explore):
    table = mixed_table()
    seen = explore(table)
    seen.page.evaluate("""async () => {
      const tables = tacit.source.tables.bind(tacit.source);
      let first = true;
      tacit.source.tables = async (...asked) => {
        const late = first;
        first = false;
        const found = await tables(...asked);
        if (late) await new Promise((done) => setTimeout(done, 400));
        return found;
      };
      tacit.change(1, { codes: [0], excluded: false }, false);
      tacit.change(1, { codes: [2], excluded: false }, true);
    }""")
    seen.page.wait_for_timeout(900)
    seen.settle()
    town = Explorer(table).table.schema["town"].labels[2]
    assert seen.shown(3) == counts(Explorer(table).table, "1:2", 3), town


def test_a_restarted_server_finds_its_state(explore, chromium):
    seen = explore(mixed_table())
    seen.click(TOWN, 1)
    state, shown = seen.hash, seen.shown(AGE)
    with Server(Explorer(mixed_table())) as server:
        again = Explored(chromium.new_context().new_page(), server.url).open(state)
        assert again.shown(AGE) == shown
        again.check()
    other = explore(hostile_table(), state=state)
    assert "about other data" in other.problem
    assert "600 records, all of them" in other.page.locator("header").inner_text()


def test_what_goes_wrong_is_said_and_nothing_is_lost(chromium):
    server = Server(Explorer(mixed_table())).start()
    seen = Explored(chromium.new_context().new_page(), server.url).open()
    seen.click(TOWN, 1)
    server.stop()
    seen.page.evaluate("tacit.linked.cube = null")
    seen.click(AGE, 4)
    seen.until("!document.getElementById('problem').hidden")
    assert "Is `tacit explore` still running?" in seen.problem
    assert "a=0:4;1:1" in seen.hash


def test_two_browsers_and_a_closed_tab(chromium):
    """Each has its own state; who closes the page in the middle of a fit waits for no model."""
    explorer = Explorer(mixed_table(40_000))
    with Server(explorer) as server:
        first, second = (
            Explored(chromium.new_context().new_page(), server.url).open() for _ in range(2)
        )
        first.click(TOWN, 1)
        assert second.size() == 40_000
        second.click(RICH, 1)
        assert first.size() == explorer.table.count({"town": "north"})
        assert second.size() == explorer.table.count({"rich": True})
        # A tab that shows the same address shows the same.
        third = Explored(first.page.context.new_page(), server.url).open(first.hash)
        assert third.shown(AGE) == first.shown(AGE)
        first.go(first.hash + "&view=models&model=clusters")
        first.page.locator("#views .tools select").select_option("20")
        first.page.locator("button.main").click()
        first.until("tacit.models.job")
        [job] = explorer.jobs._jobs.values()
        assert job.state == "running"
        first.page.goto("about:blank")
        for _ in range(200):
            if job.state != "running":
                break
            second.page.wait_for_timeout(50)
        assert job.state == "cancelled"
        job._process.wait(20)
        for seen in (first, second, third):
            seen.check()
            seen.page.context.close()


def test_a_damaged_file_says_so(chromium, tmp_path):
    path = tmp_path / "page.html"
    Explorer(mixed_table()).save(path)
    page = path.read_text()
    at = page.index('id="records">') + 2000
    path.write_text(page[:at] + page[at + 400 :])
    seen = Explored(chromium.new_page(), path.as_uri())
    seen.page.goto(seen.url)
    seen.until("document.getElementById('problem').textContent.includes('the file is damaged')")
    seen.page.close()


def test_an_empty_selection_is_said(explore):
    seen = explore(tacit.Table({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]}))
    for view in ("overview", "difference", "pair"):
        seen.go(f"f={seen.page.evaluate('tacit.schema.fingerprint')}&a=0:0;1:1&view={view}")
        assert "No record matches" in seen.page.locator("header").inner_text()
        assert seen.size() == 0


@pytest.mark.parametrize(
    "text", ["a=99:1", "a=0:99", "a=%E0%A4%A", "view=nothing&x=-7&page=99", "a=0:3-1"]
)
def test_a_broken_address_shows_the_page(explore, text):
    seen = explore(mixed_table(), state=text)
    assert "2,000 records, all of them" in seen.page.locator("header").inner_text()
    assert ("cannot be read" in seen.problem) == ("a=" in text)


def test_hundreds_and_thousands_of_columns(explore):
    """A thousand cards are on a page; those in sight are counted and drawn, and no others."""
    rng = np.random.default_rng(0)
    table = tacit.Table((rng.random((300, 1800)) < 0.05).astype(int))
    seen = explore(table)
    assert seen.page.locator(".card").count() == 1000
    assert "1–1,000 of 1,800 columns" in seen.page.locator(".pager").inner_text()
    seen.click(3, 1)
    for c in (0, 500, 990):
        seen.canvas(c)  # comes into sight
        seen.until(f"tacit.seen.has({c}) && tacit.a.has({c}) && tacit.cards.get({c}).shown")
        shown = seen.page.evaluate("c => Array.from(tacit.cards.get(c).shown.a)", c)
        assert shown == counts(table, "3:1", c)
        drawn = "[...document.querySelectorAll('.card canvas')].filter(x => x.width > 0).length"
        seen.page.wait_for_timeout(200)
        assert 0 < seen.page.evaluate(drawn) < 300
    # Another selection, and B, while others are in sight.
    seen.click(990, 1)
    assert seen.size() == table.count({"3": 1, "990": 1})
    seen.button("Keep as B").click()
    seen.button("Clear", exact=True).click()
    seen.canvas(400)
    seen.until("tacit.counted(400) && tacit.cards.get(400).shown")
    shown = seen.page.evaluate("Array.from(tacit.cards.get(400).shown.other)")
    assert shown == counts(table, "3:1;990:1", 400)
    seen.button("Next").click()
    seen.settle()
    assert seen.page.locator(".card h2").first.inner_text() == "1000"
    seen.page.get_by_role("searchbox").fill("1799")
    seen.until("tacit.listed.length === 1")
    seen.click(1799, 1)
    assert seen.size() == table.count({"1799": 1})


def test_selections_are_written_as_the_server_reads_them(explore):
    seen = explore(mixed_table())
    arities = Explorer(mixed_table()).table.schema.arities.tolist()
    draw = random.Random(3)
    texts = [random_text(draw, arities) for _ in range(300)]
    again = seen.page.evaluate(
        """async ([texts, arities]) => {
          const { parseSelection, selectionText } = await import("/static/state.js");
          return texts.map(text => selectionText(parseSelection(text, arities)));
        }""",
        [texts, arities],
    )
    assert again == [Selection.parse(text, arities).to_text() for text in texts]


def test_adult_in_one_file(explore, shared_data, tmp_path):
    """The whole of Adult, offline: small, quick to open, and exact."""
    folder = shared_data / "adult"
    parts = [
        tacit.read_csv(folder / "adult.data.xz", **ADULT),
        tacit.read_csv(folder / "adult.test.xz", **{**ADULT, "skip_lines": 1}),
    ]
    source = tacit.Table.concat(parts)
    table = Explorer(source).table
    seen = explore(source, offline=True, target="class")
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
    seen.click(table.schema.position("sex"), 0)
    text = seen.hash.split("a=")[1].split("&")[0]
    for c in range(len(table.schema)):
        assert seen.shown(c) == counts(table, text, c)


@pytest.mark.parametrize("name", ["groceries", "msweb"])
def test_baskets(explore, shared_data, name):
    if name == "groceries":
        source = tacit.read_baskets(shared_data / "groceries" / "groceries.csv.xz")
    else:
        source = tacit.read_msweb(shared_data / "msweb" / "anonymous-msweb.data.gz")
    seen = explore(source)
    frequent = source.one_way().counts[source.schema.cells[:-1] + 1]
    column = int(frequent.argsort()[-2])
    seen.page.get_by_role("searchbox").fill(source.schema.names[column])
    seen.until("tacit.listed.length < 20")
    seen.click(column, 1)
    label = source.schema.labels[column][1]
    assert seen.size() == source.count({source.schema.names[column]: label})
    seen.page.get_by_role("searchbox").fill("")
    seen.until("tacit.listed.length > 20")
    seen.page.get_by_label("Order").select_option("difference")
    seen.settle()
    assert seen.page.evaluate("tacit.listed[0]") == column


def test_long_names_are_cut(explore):
    seen = explore(hostile_table())
    assert LONG in seen.page.locator(".card h2").nth(3).inner_text()
    assert len(seen.page.locator(".card h2").nth(1).inner_text()) < 200
