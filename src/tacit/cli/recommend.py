"""``tacit recommend``: what goes with a basket, and how good such recommendations are."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.options import Json, Outputs, RandomState, written_option
from tacit.cli.output import make_console, print_json, print_written, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid, figures_grid, scores_grid
from tacit.cli.writing import FRAMES, check_outputs, write_model
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.baskets import Recommender
    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["COMMAND", "recommend"]

_ENDINGS = (".tacit", *FRAMES)

Basket = Annotated[
    list[str] | None,
    written_option(
        metavar="ITEM,ITEM",
        help="A basket: list what goes with it. Items with commas in their names can be given "
        "one by one, repeating the option.",
    ),
]
Similar = Annotated[
    str | None, written_option(metavar="ITEM", help="List what is most like this item.")
]
Evaluate = Annotated[
    bool,
    written_option(
        "--evaluate",
        help="Hide an item of each record, and say how often it is found: this recommender, item "
        "cosines and popularity, learnt from other records.",
    ),
]
Number = Annotated[
    int, typer.Option("--number", "-n", min=1, help="How many items are recommended.")
]
Algorithm = Annotated[
    Literal["auto", "blend", "linear", "neighbors", "popularity"],
    typer.Option(help="What recommends: see the guide."),
]
Penalty = Annotated[
    float | None,
    typer.Option(help="The penalty of the linear model; found with records held out, if not said."),
]


def recommend(
    source: Source,
    *,
    basket: Basket = None,
    similar: Similar = None,
    evaluate: Evaluate = False,
    number: Number = 10,
    algorithm: Algorithm = "auto",
    l2: Penalty = None,
    random_state: RandomState = 0,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Learn which items go together, recommend what a basket lacks, and say how good that is.

    Output: the model (.tacit), or all items with their nearest ones (.csv, .parquet, …).

    JSON: an object with records, items, algorithm, l2 and, where they are asked for, basket and
    similar (lists of objects: item and score or similarity) and evaluation (a list of objects:
    recommender, records, hit@n, recall@n, ndcg@n, mrr@n, each with its bounds, and coverage@n).

    Example: `tacit recommend baskets.dat --basket milk,bread -n 5 --evaluate -o model.tacit`
    """
    outputs = check_outputs(output, _ENDINGS, source.path)
    table = source.read_table()
    items = _items(table.schema, basket) if basket else None
    model = tacit.Recommender(
        algorithm, l2="auto" if l2 is None else l2, random_state=random_state,
        n_jobs=source.n_jobs, verbose=int(sys.stderr.isatty()),
    )  # fmt: skip
    start = perf_counter()
    model.fit(table)
    seconds = perf_counter() - start
    for path in outputs:
        write_model(model, path)
    shown: dict[str, Any] = {}
    if items is not None:
        shown["basket"] = _asked(lambda: model.recommend(items, number), "basket")
    if similar is not None:
        shown["similar"] = _asked(lambda: model.similar(similar, number), "similar")
    if evaluate:
        shown["evaluation"] = _evaluate(model, table, number, random_state)
    if json:
        print_json(_as_json(model, table, shown))
        return
    console = make_console()
    put(console, facts_grid(_facts(model, table, seconds)))
    for name, frame in shown.items():
        console.print()
        put(console, figures_grid(frame) if name == "evaluation" else scores_grid(frame))
    if not shown:
        console.print()
        console.print("\n".join(model.to_text(number).splitlines()[-number:]), soft_wrap=True)
    print_written(console, outputs)


def _items(schema: Schema, given: list[str]) -> list[str]:
    """Return items: names of columns as they are, other texts cut at their commas."""
    known = set(schema.names)
    return [
        item.strip() if item not in known else item
        for text in given
        for item in ([text] if text in known else text.split(","))
        if item.strip()
    ]


def _asked(ask: Any, option: str) -> Any:
    try:
        return ask()
    except InputError as error:
        _, _, problem = str(error).partition(": ")
        raise InputError(f"--{option}: {problem}") from None


def _evaluate(
    model: Recommender, table: Table | PartitionedTable, number: int, random_state: int
) -> Any:
    if not isinstance(table, tacit.Table):
        raise InputError("--evaluate needs all records in memory")
    peers = {
        f"{model.algorithm_} (this)": model,
        "item cosines": tacit.Recommender("neighbors"),
        "popularity": tacit.Recommender("popularity"),
    }
    found = tacit.evaluate_recommender(
        peers, table, n=number, random_state=random_state, verbose=int(sys.stderr.isatty())
    )
    return found.to_frame()


def _facts(
    model: Recommender, table: Table | PartitionedTable, seconds: float
) -> list[tuple[str, str]]:
    rows = [*table.summary().rows()[:3], ("recommender", model.algorithm_)]
    if model.l2_ is not None:
        rows.append(("penalty", f"{model.l2_:g}"))
    return [*rows, ("time", f"{seconds:.2f} s")]


def _as_json(
    model: Recommender, table: Table | PartitionedTable, shown: dict[str, Any]
) -> dict[str, Any]:
    return {
        "records": table.n_records,
        "items": len(model.counts_),
        "algorithm": model.algorithm_,
        "l2": model.l2_,
        **{name: frame.to_dicts() for name, frame in shown.items()},
    }


COMMAND = reads_file(recommend, partitions=True)
