"""``tacit dependency-network``: which columns depend on which, and what goes with a basket."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tacit
from tacit.cli.growth_options import GrowthOptions, growth_option
from tacit.cli.options import Json, Outputs, Test, Top, written_option
from tacit.cli.output import make_console, print_json, print_written, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import arcs_grid, facts_grid, items_grid, likelihood_rows
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model
from tacit.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table
    from tacit.tree import DependencyNetwork

__all__ = ["COMMAND", "dependency_network"]

_ENDINGS = (".tacit", ".html", ".htm", *PICTURES, ".dot", *FRAMES)


Recommend = Annotated[
    list[str] | None,
    written_option(
        metavar="ITEM,ITEM",
        help="A basket: list what goes with it. Items with commas in their names can be given "
        "one by one, repeating the option.",
    ),
]
Column = Annotated[str | None, written_option(help="Print the tree of this column.")]
Criterion = Annotated[
    Literal["bayes_factor", "bic", "entropy", "gini"],
    growth_option(help="What makes a split good."),
]


def dependency_network(
    source: Source,
    *,
    recommend: Recommend = None,
    column: Column = None,
    test: Test = None,
    top: Top = 20,
    output: Outputs = None,
    criterion: Criterion = "bayes_factor",
    growth: GrowthOptions,
    json: Json = False,
) -> None:
    """Grow a tree for every column given all others, and list what depends on what.

    An arc goes from a predictor to a target if the target's tree asks about the predictor. Its gain
    is what these questions add to the score of the tree in nats (for gini, in records). It raises
    or lowers the probability that the target is not its default, or varies: where the predictor is
    not its default, that probability differs by the change.

    Output: a page to explore (.html), the model (.tacit), a picture of the strongest arcs (.svg,
    .png, .pdf, .dot), or all arcs (.csv, .parquet, …).

    JSON: an object with records, columns, leaves (of all trees), arcs (a list of objects with
    predictor, target, gain, influence, change and rank, the strongest first), log_likelihood (an
    object: train and, with --test, test; the mean over the records of the sum over the columns of
    log P(own value | all others)) and, with --recommend, items: a list of objects with item and
    probability.

    Example: `tacit dependency-network baskets.dat --recommend milk,bread --top 5 -o network.html`
    """
    outputs = check_outputs(output, _ENDINGS, source.path, test)
    table = source.read_table()
    basket = _basket(table.schema, recommend) if recommend else None
    if column is not None:
        table.schema.position(column, "--column")
    network = tacit.DependencyNetwork(
        criterion, **asdict(growth), n_jobs=source.n_jobs, verbose=int(sys.stderr.isatty())
    )
    start = perf_counter()
    network.fit(table)
    seconds = perf_counter() - start
    scores = {"train": network.score(table)}
    if test is not None:
        scores["test"] = network.score(replace(source, path=test).read_table())
    title = f"What depends on what in {source.path.name}"
    for path in outputs:
        write_model(network, path, page=lambda: network.to_html(title))
    items = None if basket is None else _recommend(network, basket, top)
    if json:
        print_json(_as_json(network, table, top, scores, items))
        return
    console = make_console()
    put(console, facts_grid(_facts(network, table, scores, seconds)))
    console.print()
    if column is not None:
        console.print(network.tree(column).to_text(), soft_wrap=True)
    elif items is None:
        put(console, arcs_grid(network.strongest(top)))
    else:
        put(console, items_grid(items))
    print_written(console, outputs)


def _basket(schema: Schema, given: list[str]) -> list[str]:
    """Return items: names of columns as they are, other texts cut at their commas."""
    known = set(schema.names)
    return [
        item.strip() if item not in known else item
        for text in given
        for item in ([text] if text in known else text.split(","))
        if item.strip()
    ]


def _recommend(network: DependencyNetwork, basket: list[str], top: int) -> pl.DataFrame:
    try:
        return network.recommend(basket, top)
    except InputError as error:
        raise InputError(f"--recommend{str(error).removeprefix('basket')}") from None


def _facts(
    network: DependencyNetwork,
    table: Table | PartitionedTable,
    scores: dict[str, float],
    seconds: float,
) -> list[tuple[str, str]]:
    return [
        *table.summary().rows()[:3],
        ("trees", f"{table.n_columns:,}, with {int(network.n_leaves_.sum()):,} leaves in all"),
        ("arcs", f"{network.to_frame().height:,}"),
        *likelihood_rows(scores),
        ("time", f"{seconds:.2f} s"),
    ]


def _as_json(
    network: DependencyNetwork,
    table: Table | PartitionedTable,
    top: int,
    scores: dict[str, float],
    items: pl.DataFrame | None,
) -> dict[str, Any]:
    found = {
        "records": table.n_records,
        "columns": table.n_columns,
        "leaves": int(network.n_leaves_.sum()),
        "arcs": network.strongest(top).to_dicts(),
        "log_likelihood": scores,
    }
    return found if items is None else {**found, "items": items.to_dicts()}


COMMAND = reads_file(dependency_network, partitions=True)
