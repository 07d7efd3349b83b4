"""``tacit dependency-network``: which columns depend on which, and what goes with a basket."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.growth_options import (
    GROWTH,
    Kappa,
    MaxDepth,
    MaxLeaves,
    MinLeaf,
    Prior,
    PriorWeight,
    Splits,
)
from tacit.cli.options import Json
from tacit.cli.output import make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import arcs_grid, facts_grid, items_grid
from tacit.cli.tree_files import save_figure
from tacit.cli.writing import FRAMES, check_target, write_frame
from tacit.errors import InputError
from tacit.tree import DependencyNetwork

if TYPE_CHECKING:
    import polars as pl

    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["COMMAND", "dependency_network"]

_SHOWN = "What is shown and written"
_ENDINGS = (".html", ".htm", ".tacit", ".png", ".svg", ".pdf", *FRAMES)


def dependency_network(
    source: Source,
    recommend: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEM,ITEM",
            help="A basket: list what goes with it. Items with commas in their names can be given "
            "one by one, repeating the option.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="Print the tree of this column.", rich_help_panel=_SHOWN),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE2",
            help="Other records, read as FILE is: how probable they are.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option(min=1, help="How many arcs or items to list.", rich_help_panel=_SHOWN),
    ] = 20,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write a page to explore (.html), the model (.tacit), a picture of the strongest "
            "arcs (.svg, .png, .pdf) or all arcs (.csv, .parquet); can be repeated.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    criterion: Annotated[
        Literal["bayes_factor", "bic", "entropy", "gini"],
        typer.Option(help="What makes a split good.", rich_help_panel=GROWTH),
    ] = "bayes_factor",
    splits: Splits = "binary",
    prior: Prior = "k2",
    prior_weight: PriorWeight = 1.0,
    kappa: Kappa = 0.1,
    max_leaves: MaxLeaves = None,
    max_depth: MaxDepth = None,
    min_leaf: MinLeaf = 1,
    json: Json = False,
) -> None:
    """Grow a tree for every column given all others, and list what depends on what.

    An arc goes from a predictor to a target if the target's tree asks about the predictor. Its gain
    is what these questions add to the score of the tree.

    JSON: an object with records, columns, leaves (of all trees), arcs (a list of objects with
    predictor, target, gain and rank, the strongest first), log_likelihood (an object: train and,
    with --test, test; the mean over the records of the sum over the columns of log P(own value |
    all others)) and, with --recommend, items: a list of objects with item and probability.
    """
    if not 0 < kappa <= 1:
        raise typer.BadParameter("must be above 0 and at most 1", param_hint="--kappa")
    inputs = [source.path] + ([] if test is None else [test])
    for path in output or []:
        check_target(path, "--output", _ENDINGS, *inputs)
    table = source.read_table()
    basket = _basket(table.schema, recommend) if recommend else None
    if column is not None:
        table.schema.position(column, "--column")
    network = DependencyNetwork(
        criterion, splits=splits, prior=prior, prior_weight=prior_weight, kappa=kappa,
        max_leaf_nodes=max_leaves, max_depth=max_depth, min_samples_leaf=min_leaf,
        n_jobs=source.n_jobs, verbose=int(sys.stderr.isatty()),
    )  # fmt: skip
    start = perf_counter()
    _fit(network, table)
    seconds = perf_counter() - start
    scores = {"train": network.score(table)}
    if test is not None:
        scores["test"] = network.score(replace(source, path=test).read_table())
    for path in output or []:
        _write(network, path, source.path.name)
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
    if output:
        console.print(f"\nwritten: {', '.join(map(str, output))}", soft_wrap=True)


def _basket(schema: Schema, given: list[str]) -> list[str]:
    """Return items: names of columns as they are, other texts cut at their commas."""
    known = set(schema.names)
    return [
        item.strip() if item not in known else item
        for text in given
        for item in ([text] if text in known else text.split(","))
        if item.strip()
    ]


def _fit(network: DependencyNetwork, table: Table | PartitionedTable) -> None:
    try:
        network.fit(table)
    except InputError as error:
        raise InputError(str(error).replace("prior_weight", "--prior-weight")) from None


def _recommend(network: DependencyNetwork, basket: list[str], top: int) -> pl.DataFrame:
    try:
        return network.recommend(basket, top)
    except InputError as error:
        raise InputError(f"--recommend{str(error).removeprefix('basket')}") from None


def _write(network: DependencyNetwork, path: Path, name: str) -> None:
    """Write what the end of the name asks for."""
    with working(f"writing {path}"):
        match path.suffix.lower():
            case ".html" | ".htm":
                page = network.to_html(f"What depends on what in {name}")
                path.write_text(page, encoding="utf-8")
            case ".tacit":
                network.save(path)
            case ".png" | ".svg" | ".pdf":
                save_figure(network.plot(), path)
            case _:
                write_frame(network.to_frame(), path)


def _facts(
    network: DependencyNetwork,
    table: Table | PartitionedTable,
    scores: dict[str, float],
    seconds: float,
) -> list[tuple[str, str]]:
    n_arcs = network.to_frame().height
    rows = [
        *table.summary().rows()[:3],
        ("trees", f"{table.n_columns:,}, with {int(network.n_leaves_.sum()):,} leaves in all"),
        ("arcs", f"{n_arcs:,}"),
        ("log-likelihood", f"{scores['train']:,.4f} a record"),
    ]
    if "test" in scores:
        rows.append(("  of --test", f"{scores['test']:,.4f} a record"))
    return [*rows, ("time", f"{seconds:.2f} s")]


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
