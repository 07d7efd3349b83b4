"""``tacit demo``: what tacit does, on built-in data, in a few seconds.

The demonstration is a list of acts; a new capability adds one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from rich.padding import Padding

import tacit
from tacit.cli.output import make_console, put, working
from tacit.cli.render import contingency_grid, facts_grid, number, pairs_grid

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tacit.table import Table

__all__ = ["COMMAND", "ACTS", "Act", "Stage", "demo"]

_WIDTH = 80
_LARGE_RECORDS = 100_000
_TARGET = "scores"
_BASKET = ["sports", "home"]


@dataclass(frozen=True)
class Stage:
    """What the acts share: where they print, and the data they begin with."""

    console: Console

    @cached_property
    def visits(self) -> Table:
        """Visitors of an invented web site."""
        return tacit.datasets.load_visits()

    def head(self, title: str, code: str = "") -> None:
        """Print the title of an act, and how to do the same in Python."""
        self.console.rule(title, align="left", style="dim")
        if code:
            self.console.print(f">>> {code}", style="dim")
        self.console.print()

    def say(self, text: str) -> None:
        """Print a paragraph."""
        put(self.console, text)
        self.console.print()

    def show(self, grid: RenderableType) -> None:
        """Print something laid out in rows and columns."""
        put(self.console, Padding(grid, (0, 0, 1, 2), expand=False))


Act: TypeAlias = Callable[[Stage], None]


def summarise(stage: Stage) -> None:
    """Show what is stored of a table and what is not."""
    stage.head(
        "A table says only what is not the default",
        "visits = tacit.datasets.load_visits(); visits.summary()",
    )
    stage.show(facts_grid(stage.visits.summary().rows()))
    stage.say(
        "Each record is a visitor of a web site; each column is an area of the site, visited or "
        "not, or something about the visitor. Most people do not go to most areas, so that goes "
        "without saying."
    )


def cross(stage: Stage) -> None:
    """Show one two-way table."""
    stage.head("How two columns go together", 'visits.two_way("region")["weather"]')
    counts = stage.visits.two_way("region")["weather"]
    stage.show(contingency_grid(counts))
    array = counts.to_array()
    fractions = array[:, 1] / array.sum(axis=1)
    top = int(fractions.argmax())
    region = counts.columns[0]
    everywhere = array[:, 1].sum() / counts.total
    stage.say(
        f"In the {region.labels[top]}, {fractions[top]:.0%} look at the weather; of all visitors, "
        f"{everywhere:.0%} do. Only what is stored was counted: the row of the "
        f"{region.default_label} and the column of those who do not look follow by subtraction."
    )


def pair(stage: Stage) -> None:
    """Show the strongest pairs."""
    stage.head("Which values go together most", "visits.pairs().strongest(top=8)")
    stage.show(pairs_grid(stage.visits.pairs().strongest(top=8)))


def cache(stage: Stage) -> None:
    """Take a table of every three columns out of a tree, and show one that is worth a look."""
    stage.head("Any table, from counts that are cached", "tree = tacit.ADTree(visits).build()")
    from tacit.machine import human_bytes

    start = perf_counter()
    tree = tacit.ADTree(stage.visits).build()
    built = perf_counter() - start
    triples = list(combinations(stage.visits.schema.names, 3))
    start = perf_counter()
    tables = tree.tables(triples)
    seconds = perf_counter() - start
    stage.show(
        facts_grid(
            [
                ("the tree", f"{tree.n_nodes:,} counts, {human_bytes(tree.nbytes)}"),
                ("time to build it", f"{1e3 * built:.1f} ms"),
                ("tables of three columns", f"{len(tables):,}, all that there are"),
                ("time for all of them", f"{1e3 * seconds:.1f} ms"),
                ("time for one", f"{1e6 * seconds / len(tables):.1f} µs"),
            ]
        )
    )
    asked = [table for table in tables if _TARGET in table.names]
    pairs = [[name for name in table.names if name != _TARGET] for table in asked]
    told = [table.mutual_information(x, _TARGET) for table, x in zip(asked, pairs, strict=True)]
    best = told.index(max(told))
    stage.say(
        f"Which two columns tell most about {_TARGET}? {' and '.join(pairs[best])}: "
        f"{told[best]:.2f} of its {asked[best].entropy(_TARGET):.2f} nats. The tree keeps counts "
        "of combinations, but none of a column's most common value: those follow by subtraction."
    )


def group(stage: Stage) -> None:
    """Find kinds of visitors, and show who they are."""
    stage.head(
        "Who the visitors are",
        "tacit.NaiveBayesMixture(6, random_state=0).fit(visits).profile()",
    )
    start = perf_counter()
    mixture = tacit.NaiveBayesMixture(6, random_state=0, n_jobs=-1).fit(stage.visits)
    seconds = perf_counter() - start
    rows = []
    for cluster in mixture.profile().traits(top=3):
        told = (
            f"{trait.text} {trait.probability:.0%} ({trait.overall:.0%})" for trait in cluster.over
        )
        rows.append((f"{cluster.fraction:.0%} of all", ", ".join(told)))
    stage.show(facts_grid(rows))
    stage.say(
        "Clusters of visitors who are alike, the largest first, with what sets each apart: the "
        "fraction of the cluster that visits an area, and in brackets that of all visitors. Found "
        f"by EM from {mixture.n_init} starts in {seconds:.2f} s, reading only what is stored. "
        "`tacit cluster FILE -o clusters.html` makes a page of it."
    )


def ask(stage: Stage) -> None:
    """Grow a small tree, and one for every column; show what goes with a basket."""
    stage.head(
        "What depends on what",
        f'tacit.DecisionTreeClassifier(max_leaf_nodes=5).fit(visits, "{_TARGET}")',
    )
    tree = tacit.DecisionTreeClassifier(max_leaf_nodes=5).fit(stage.visits, _TARGET)
    stage.show(tree.to_text())
    start = perf_counter()
    network = tacit.DependencyNetwork(n_jobs=-1).fit(stage.visits)
    seconds = perf_counter() - start
    arcs = network.strongest(4).select("predictor", "target").iter_rows()
    items = network.recommend(_BASKET, 3).iter_rows()
    stage.show(
        facts_grid(
            [
                ("a tree for every column", f"{len(network.n_leaves_)} trees in {seconds:.2f} s"),
                ("the strongest arcs", ", ".join(f"{a} → {b}" for a, b in arcs)),
                (
                    f"goes with {' and '.join(_BASKET)}",
                    ", ".join(f"{item} ({chance:.0%})" for item, chance in items),
                ),
            ]
        )
    )
    stage.say(
        "Questions are chosen by how much more probable they make the data, and end where they no "
        "longer pay. The trees of all columns together are a dependency network. `tacit tree FILE "
        "--target COLUMN -o tree.svg` draws one, `tacit dependency-network FILE -o web.html` makes "
        "a page to explore."
    )


def leave_out(stage: Stage) -> None:
    """Count all pairs of a large sparse table, and show how much of it was never looked at."""
    stage.head("How much was never looked at", 'stories.pairs(method="outer")')
    from tacit.datasets.paper_sizes import MSNBC
    from tacit.machine import count_jobs

    records, n, stored = MSNBC
    with working("drawing visitors of a news site"):
        table = tacit.datasets.make_mixture(
            _LARGE_RECORDS, n, round(stored * _LARGE_RECORDS / records), noun="story"
        )
    with working("counting all pairs of stories"):
        start = perf_counter()
        table.pairs(method="outer", n_jobs=-1)
        seconds = perf_counter() - start
    m, l = table.n_records, table.n_stored  # noqa: E741
    lengths = table.indptr[1:] - table.indptr[:-1]
    together = int((lengths * (lengths - 1)).sum()) // 2
    tables = n * (n - 1) // 2
    stage.show(
        facts_grid(
            [
                ("records × columns (m·n)", f"{m:,} × {n:,} = {m * n:,} cells"),
                ("stored values (l)", f"{l:,}"),
                ("never visited", f"{1 - l / (m * n):.2%} of the cells"),
                ("two-way tables counted", f"{tables:,}"),
                ("pairs of values looked at", f"{together:,}"),
                ("pairs of cells in the data", f"{tables * m:,}"),
                ("time", f"{seconds:.2f} s on {count_jobs(-1)} threads"),
            ]
        )
    )
    stage.say(
        f"The data are drawn at random, with as many columns and as sparse as the {records:,} "
        "visitors of a news site in the paper that this way of counting comes from (Chickering and "
        f"Heckerman). Every one of the {number(tables)} tables is exact: what was not looked at "
        "follows by subtraction."
    )


ACTS: list[Act] = [summarise, cross, pair, cache, group, ask, leave_out]


def demo() -> None:
    """Show what tacit does, on built-in data, in a few seconds.

    Example: `tacit demo`
    """
    console = make_console(piped_width=_WIDTH)
    console.width = min(console.width, _WIDTH)
    stage = Stage(console)
    for act in ACTS:
        act(stage)


COMMAND = demo
