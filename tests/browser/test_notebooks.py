"""What notebooks show: pictures and tables, escaped, within their cell, light and dark."""

import numpy as np
import pytest

import tacit
from support.pages import EVIL, LONG, faint, long_table

# Bodies of notebooks that say whether they are light or dark, and text in their colours.
LIGHT, DARK = "color:#000;background:#fff", "color:#e8e8e8;background:#111"
HOSTS = {
    "light browser": ("", "light", False),
    "dark browser": ("", "dark", True),
    "dark JupyterLab": (f'data-jp-theme-light="false" style="{DARK}"', "light", True),
    "light JupyterLab": (f'data-jp-theme-light="true" style="{LIGHT}"', "dark", False),
    "dark VS Code": (f'class="vscode-dark" style="{DARK}"', "light", True),
}


@pytest.fixture(scope="module")
def outputs():
    """The HTML of tables, models and results, by what they are."""
    table = long_table(600, 8)
    numbers = np.random.default_rng(0).normal(size=(120, 3))
    signs = np.where(numbers[:, 0] > 0, EVIL, "b")
    boosted = tacit.BoostedRulesClassifier(n_rules=10).fit(table, "c1")
    tree = tacit.DecisionTreeClassifier(max_leaf_nodes=5).fit(table, EVIL)
    net = tacit.BayesNet(max_parents=1).fit(table)
    counter = tacit.counter(table)
    sets = tacit.FrequentItemsets(min_support=0.1, defaults=True).fit(table)
    covering = tacit.CoveringRulesClassifier(random_state=0).fit(table, EVIL)
    shown = [
        table, long_table(50, 60), table.summary(), table.one_way(), table.two_way(EVIL),
        table.pairs(), table.contingency([LONG, EVIL]), table.contingency([EVIL, "c1", "c2"]),
        table.contingency([EVIL, "c1"]).chi2(), counter, counter.plan([EVIL]),
        tacit.ADTree(table).stats(), tree, tree.rules()[0],
        tacit.DecisionTreeRegressor(max_leaf_nodes=4).fit(numbers, numbers[:, 0]),
        tacit.DecisionGraphClassifier(max_leaf_nodes=4).fit(table, EVIL),
        tacit.DependencyNetwork(max_leaf_nodes=3).fit(table), tacit.DependencyTree().fit(table),
        net, net.query([EVIL], {"c1": True}), tacit.Branching().fit(table),
        tacit.NaiveBayesMixture(3, random_state=0).fit(table),
        tacit.KMeans(2, random_state=0).fit(numbers), boosted, boosted.rules_, boosted.rules_[0],
        boosted.explain(table.take([0])), covering, covering.rules_,
        tacit.RuleFinder(EVIL, EVIL, min_support=5).fit(table),
        tacit.SignificantRules(random_state=0).fit(table, "c1"), sets, sets.itemsets_, sets.rules(),
        tacit.BestSubset(2).fit(table, EVIL),
        tacit.SparseKNeighborsClassifier().fit(numbers, signs),
        tacit.SparseComputation(random_state=0).fit(numbers),
        tacit.tune(tacit.SparseKNeighborsClassifier(), numbers, signs, random_state=0),
        tacit.DecisionTreeClassifier(),
    ]  # fmt: skip
    return [f"<h4>{type(x).__name__}</h4>{x._repr_html_()}" for x in shown]


@pytest.mark.parametrize("host", HOSTS)
def test_outputs_can_be_read_in_any_notebook(see, outputs, host):
    body, scheme, _ = HOSTS[host]
    own = "" if "style" in body else "<style>:root { color-scheme: light dark; }</style>"
    page = f'<!DOCTYPE html><meta charset="utf-8">{own}<body {body}>{"".join(outputs)}</body>'
    seen = see(page, 390, scheme)
    assert seen.errors == []
    assert seen.width <= 390
    assert seen.page.title() != "owned"
    ours = ".tacit-result > :not(details) *, .tacit-clusters *"
    contrasts = seen.contrasts(ours)
    assert len(contrasts) > 300
    assert faint(contrasts) == []


@pytest.mark.parametrize("host", HOSTS)
def test_pictures_follow_the_theme_of_the_notebook(see, outputs, host):
    body, scheme, dark = HOSTS[host]
    seen = see(f"<!DOCTYPE html><body {body}>{''.join(outputs)}</body>", 1280, scheme)
    papers = seen.run(
        "[...document.querySelectorAll('svg.tacit-picture > rect[width=\"100%\"]')]"
        ".map(rect => getComputedStyle(rect).fill)"
    )
    assert len(papers) >= 7
    assert set(papers) == {"rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)"}


def test_parameters_are_one_click_away(see):
    tree = tacit.DecisionTreeClassifier(max_leaf_nodes=3)
    tree.fit({"sky": ["blue", "grey"] * 30}, ["no", "yes"] * 30)
    seen = see(f"<!DOCTYPE html><body>{tree._repr_html_()}</body>", 1280)
    box = seen.page.locator(".tacit-result > details").locator("[id^=sk-container]")
    assert not box.is_visible()
    seen.page.get_by_text("DecisionTreeClassifier: parameters").click()
    assert box.is_visible()
    assert seen.errors == []
