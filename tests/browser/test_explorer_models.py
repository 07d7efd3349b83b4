"""Models in the explorer's page: learnt beside the views, asked, cancelled, failing."""

import numpy as np
import pytest

pytest.importorskip("uvicorn")

import tacit
from browser.explored import (
    AGE,
    RICH,
    TOWN,
    Explored,
    counts,
    explored,
    hostile_table,
    mixed_table,
)
from support.pages import faint
from tacit.explore import Explorer
from tacit.explore.server import Server


def learn(seen, kind, text=""):
    fingerprint = seen.page.evaluate("tacit.schema.fingerprint")
    seen.go(f"f={fingerprint}&a={text}&view=models&model={kind}")
    seen.page.locator("button.main").click()
    seen.until("tacit.models.job === null")
    assert seen.problem == ""
    seen.settle()


def test_nodes_of_a_tree_become_the_selection(explore):
    seen = explore(mixed_table(), target="rich")
    seen.click(TOWN, 1)
    seen.button("Models").click()
    seen.button("Learn from the selection").click()
    seen.until("tacit.models.found !== null")
    nodes = seen.page.evaluate("tacit.models.found.model.nodes")
    assert sum(nodes[0]["counts"]) == seen.size()
    rows = seen.page.locator(".tree .node")
    assert rows.count() == len(nodes)
    assert rows.first.inner_text().startswith("all")
    rows.nth(1).get_by_role("button").click()
    seen.settle()
    assert seen.size() == sum(nodes[1]["counts"])
    assert "1:1" in seen.hash
    # The tree stays, and another node can be taken instead.
    rows.first.get_by_role("button").click()
    seen.settle()
    assert seen.size() == sum(nodes[0]["counts"])


def test_clusters_and_cancelling(explore):
    seen = explore(mixed_table(), state="view=models")
    seen.button("Clusters").click()
    seen.button("Learn from all records").click()
    seen.button("Cancel").click()
    seen.until("document.getElementById('status').textContent === 'cancelled'")
    assert seen.page.evaluate("tacit.models.found") is None
    seen.button("Learn from all records").click()
    seen.until("tacit.models.found !== null")
    assert seen.page.locator(".kinds h3").count() == 6
    seen.page.locator(".kinds td button").first.click()
    seen.settle()
    assert "a=" in seen.hash


def test_a_model_that_fails_says_why(chromium, tmp_path):
    with explored(chromium, mixed_table(), tmp_path, target="rich", state="view=models") as seen:
        seen.go(f"f={seen.page.evaluate('tacit.schema.fingerprint')}&a=3:1&view=models")
        seen.button("Learn from the selection").click()
        seen.until("!document.getElementById('problem').hidden")
        assert "all selected records have the same" in seen.problem
        assert seen.page.locator("#status").inner_text() == "failed"


def test_the_web_and_the_net_of_a_selection(explore):
    """Arrows are chosen and lead to two columns; evidence is clicked, and marginals move."""
    source = mixed_table()
    table = Explorer(source).table
    seen = explore(source)
    learn(seen, "web", "1:!0")
    arrows = seen.page.evaluate("tacit.models.found.model.graph.arrows")
    assert seen.page.locator(".graph .arrow").count() == min(len(arrows), 40)
    seen.page.get_by_role("slider").fill("1")
    assert seen.page.locator(".graph .arrow").count() == 1
    box = seen.page.locator(".graph .box").first
    box.focus()
    seen.page.keyboard.press("Enter")
    assert seen.page.locator(".graph .box.chosen").count() == 1
    seen.button("Two columns").nth(1).click()
    seen.settle()
    assert "view=pair" in seen.hash
    learn(seen, "net", "1:!0")
    part = table.take(table.where({"town": tacit.exclude(table.schema["town"].labels[0])}))
    net = tacit.BayesNet(discretise=None, n_restarts=3, max_seconds=60, random_state=0).fit(part)
    belief = seen.page.locator(f'[data-at="{RICH}-1"]')
    before = belief.inner_text()
    seen.page.locator(f'[data-at="{AGE}-20"]').click()
    seen.until("tacit.models.found.view.logEvidence < 0")
    given = {"age": table.schema["age"].labels[20]}
    expected = net.query("rich", given)[True]
    shown = seen.page.evaluate("tacit.models.found.view.marginals")
    assert shown[RICH][1] == pytest.approx(expected, rel=1e-9)
    assert belief.inner_text() != before
    assert f"{100 * expected:.1f} %" in belief.inner_text()
    assert seen.page.evaluate("document.activeElement.dataset.at") == f"{AGE}-20"
    # A second label is said at once; the first is taken back by another click.
    seen.page.locator(f'[data-at="{TOWN}-1"]').click()
    seen.page.locator(f'[data-at="{AGE}-20"]').click()
    seen.until("tacit.models.found.view.marginals[1][1] === 1")
    seen.until("tacit.models.found.view.evidence.size === 1")
    seen.button("Select these records").click()
    seen.settle()
    assert seen.size() == counts(table, "1:1", TOWN)[1]
    # The model is kept while other views are looked at, and is lost to nobody.
    seen.button("Models").click()
    seen.until("document.querySelector('[aria-pressed=true].belief') !== null")


def test_itemsets_and_recommendations_for_a_typed_basket(explore, shared_data):
    source = tacit.read_baskets(shared_data / "groceries" / "groceries.csv.xz")
    seen = explore(source)
    learn(seen, "itemsets")
    row = seen.page.locator("[aria-label=Rules] tbody tr").first
    records = int(row.locator("td").last.inner_text().replace(",", ""))
    row.get_by_role("button").nth(1).click()
    seen.settle()
    assert seen.size() == records
    with seen.page.expect_download() as download:
        seen.page.locator(".panel").get_by_role("button", name="Export").first.click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "if,then,records,confidence,lift,lift_low,lift_high"
    assert len(lines) == 1 + seen.page.evaluate("tacit.models.found.model.rules.length")
    learn(seen, "recommend")
    model = tacit.Recommender(discretise=None, random_state=0).fit(Explorer(source).table)
    field = seen.page.get_by_label("Item to add")
    for text in ("coffee", "sug"):  # as far as it is clear
        field.fill(text)
        seen.page.keyboard.press("Enter")
        seen.settle()
    listed = seen.page.locator("[aria-label=Recommendations] tbody tr")
    seen.until("tacit.models.found.view.ranked?.every(one => one.because.length < 3)")
    expected = model.recommend(["coffee", "sugar"], 20)["item"].to_list()
    seen.until("document.querySelectorAll('[aria-label=Recommendations] tbody tr').length === 20")
    assert [row.split("\t")[0] for row in listed.all_inner_texts()] == expected
    field.fill("beer")
    seen.page.keyboard.press("Enter")
    assert "2 items have “beer” in them" in seen.page.locator("#views").inner_text()
    field.fill("spaceship")
    seen.page.keyboard.press("Enter")
    assert "There is no item “spaceship”" in seen.page.locator("#views").inner_text()
    seen.button("Select records with these").click()
    seen.settle()
    assert seen.size() == source.count({"coffee": True, "sugar": True})


def test_models_of_hostile_labels_fit_and_can_be_read(explore):
    from browser.conftest import CONTRASTS

    width = 390
    seen = explore(hostile_table(), width=width, scheme="dark")
    for kind in ("web", "net", "itemsets", "recommend", "clusters"):
        learn(seen, kind)
        if kind == "net":
            seen.page.locator(".belief").first.click()
            seen.until("tacit.models.found.view.logEvidence < 0")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, kind
        assert faint(seen.page.evaluate(CONTRASTS, "body *")) == [], kind
        assert seen.page.evaluate("document.querySelectorAll('main img, main script').length") == 0
        unnamed = seen.page.evaluate(
            "[...document.querySelectorAll('button, input, select, [role=button]')].filter(e => "
            "!(e.getAttribute('aria-label') || e.textContent || e.closest('label'))).length"
        )
        assert unnamed == 0
    assert seen.page.title() != "owned"


def test_a_server_that_forgot_its_models_says_so(chromium):
    """A server is killed while a net is looked at, and another one started at its port."""
    context = chromium.new_context()
    server = Server(Explorer(mixed_table())).start()
    port = server._socket.getsockname()[1]
    seen = Explored(context.new_page(), server.url).open("a=1:1&view=models&model=net")
    learn(seen, "net", "1:1")
    server.stop()
    with Server(Explorer(mixed_table()), port) as again:
        seen.page.locator(".belief").first.click()
        seen.until("!document.getElementById('problem').hidden")
        assert "token" in seen.problem  # it is another server, which has to be opened anew
        state = seen.hash
        seen.page.goto(f"{again.url.partition('#')[0]}#{state}")
        seen.until("globalThis.tacit && tacit.base.length && tacit.sizes.a")
        assert seen.hash == state
        assert seen.size() == counts(Explorer(mixed_table()).table, "1:1", TOWN)[1]
        learn(seen, "net", "1:1")
        assert seen.page.locator(".belief").count() > 10
    context.close()


def test_many_beliefs_are_searched_and_stay_where_they_are(explore):
    """Of 70 columns 60 are shown; evidence in one of them leaves the list of its labels alone."""
    rng = np.random.default_rng(6)
    data = {f"c{k}": (rng.random(200) < 0.5).tolist() for k in range(69)}
    seen = explore(tacit.Table({"many": [f"v{k % 40}" for k in range(200)], **data}))
    learn(seen, "net")
    view = seen.page.locator("#views")
    assert seen.page.locator("[data-net]").count() == 60
    assert "10 columns more; search for them." in view.inner_text()  # in the order of change
    seen.button("As in the file").click()
    assert "search for them, or take “most changed first”" in view.inner_text()
    assert seen.page.locator('[data-net="68"]').count() == 0
    field = seen.page.get_by_label("Search columns", exact=True)
    field.press_sequentially("c67")
    assert field.input_value() == "c67"
    assert seen.page.locator("[data-net]").count() == 1
    seen.page.locator('[data-at="68-1"]').click()
    seen.until("tacit.models.found.view.evidence.get(68) === 1")
    field.fill("nothing")
    assert "No column has this in its name" in view.inner_text()
    field.fill("many")
    seen.page.evaluate("document.querySelector('[data-net=\"0\"] .rowsof').scrollTop = 300")
    seen.page.locator('[data-at="0-20"]').dispatch_event("click")
    seen.until("document.querySelector('[data-at=\"0-20\"]').ariaPressed === 'true'")
    top = seen.page.evaluate("document.querySelector('[data-net=\"0\"] .rowsof').scrollTop")
    assert top == 300


def test_items_whose_names_are_cut_alike_are_all_there(explore):
    names = ["x" * 100 + end for end in ("a", "b", "c")]
    rng = np.random.default_rng(7)
    seen = explore(
        tacit.Table({"item": [names[k] for k in rng.integers(0, 3, 300)], "b": [0, 1, 1] * 100})
    )
    learn(seen, "recommend")
    items = seen.page.evaluate("[...tacit.models.found.view.items.values()]")
    assert len(items) == len(seen.page.evaluate("tacit.models.found.model.items"))
    shown = seen.page.evaluate("[...tacit.models.found.view.items.keys()]")
    alike = next(name for name in shown if name.endswith("(2)"))
    seen.page.get_by_label("Item to add").fill(alike)
    seen.page.keyboard.press("Enter")
    seen.settle()
    assert seen.page.locator(".chip").first.inner_text().startswith(alike)
