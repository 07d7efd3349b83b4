"""Association rules and frequent itemsets as pages: pictures, and a table to sort and search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.baskets.rule_network import network_scene
from tacit.baskets.rule_scatter import Scatter
from tacit.plot.scene import scene_svg
from tacit.plot.sorted_table import ItemColumn, NumberColumn, SortedTable

if TYPE_CHECKING:
    from tacit.baskets.association_rules import AssociationRules
    from tacit.baskets.itemset_list import Itemsets

__all__ = ["itemsets_page", "rules_page"]

_INTERVALS = ("lift",)  # measures that have one, besides confidence


def rules_page(rules: AssociationRules, title: str | None, top: int | None) -> str:
    """Return the page of the first rules, with pictures of support × confidence and of items."""
    shown = rules if top is None else rules.take(slice(top))
    numbers = [
        NumberColumn("support", shown.measure("support"), "percent", 2),
        NumberColumn("confidence", shown.measure("confidence"), "percent", 1,
                     shown.interval("confidence")),
    ]  # fmt: skip
    for name in shown.measures:
        interval = shown.interval(name) if name in _INTERVALS else None
        numbers.append(
            NumberColumn(
                name, shown.measure(name), interval=interval, least_first=name == "p_value"
            )
        )
    numbers.append(NumberColumn("records", shown.counts[:, 0], "count"))
    scatter = Scatter(shown) if len(shown) else None
    table = SortedTable(
        columns=[
            ItemColumn("antecedent", shown.indptr, shown.antecedents),
            ItemColumn("consequent", np.arange(len(shown) + 1), shown.consequents),
            *numbers,
        ],
        names=shown.items.names,
        what="rules",
        sorted_by="confidence",
        hint="Parts of items’ names, with commas between them; → milk finds rules to milk, "
        "milk → those from it.",
        level=shown.level,
        dots=None if scatter is None else (scatter.x, scatter.y, scatter.classes),
    )
    pictures = []
    if scatter is not None:
        pictures = [scene_svg(scatter.scene), scene_svg(network_scene(shown))]
    facts = [("records", f"{rules.total:,.12g}"), ("rules", _many(len(rules), len(shown),
              "most confident"))]  # fmt: skip
    return table.page(title or f"{len(rules):,} association rules", facts, pictures)


def itemsets_page(sets: Itemsets, title: str | None, top: int | None) -> str:
    """Return the page of the most frequent itemsets."""
    n = len(sets) if top is None else min(top, len(sets))
    table = SortedTable(
        columns=[
            ItemColumn("items", sets.indptr[: n + 1], sets.cells[: int(sets.indptr[n])]),
            NumberColumn("size", sets.sizes[:n], "count"),
            NumberColumn("support", sets.supports[:n], "percent", 2),
            NumberColumn("records", sets.counts[:n], "count"),
        ],
        names=sets.items.names,
        what="itemsets",
        sorted_by="support",
        hint="Parts of items’ names, with commas between them: sets that hold them all.",
    )
    facts = [("records", f"{sets.total:,.12g}"), ("itemsets", _many(len(sets), n,
              "most frequent"))]  # fmt: skip
    kind = "frequent" if sets.kind == "all" else f"{sets.kind} frequent"
    return table.page(title or f"{len(sets):,} {kind} itemsets", facts)


def _many(total: int, shown: int, which: str) -> str:
    return f"{total:,}" if shown == total else f"the {shown:,} {which} of {total:,}"
