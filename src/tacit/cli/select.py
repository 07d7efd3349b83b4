"""``tacit select``: the columns that together say most about a target."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import tacit
from tacit.cli.options import Json, Outputs, Top
from tacit.cli.output import make_console, print_json, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import number, subsets_grid
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COMMAND", "select"]

_ENDINGS = (".tacit", ".html", *PICTURES, *FRAMES)


def select(
    source: Source,
    target: Annotated[
        str, typer.Option(help="The column to say something about; mdl cuts tell it apart, too.")
    ],
    n_features: Annotated[
        int, typer.Option("--n-features", "-n", min=1, help="How many columns to choose.")
    ] = 3,
    criterion: Annotated[
        Literal["information_gain", "corrected", "penalized"],
        typer.Option(help="The information about the target, or that less what chance or BIC ask."),
    ] = "information_gain",
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that is known anyway; can be repeated."),
    ] = None,
    top: Top = 10,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Find the columns that together say most about a target, of all sets of so many.

    JSON: an object with target, criterion, given (names), records (their number, or the sum
    of their weights), subsets (how many sets there are), scored (how many had to be counted) and
    best, a list of objects with columns, score_nats, gain_nats and combinations (of labels that
    occur); the best first.

    Output: the selection (.tacit), with which `tacit predict` picks the chosen columns of other
    files, a page (.html), a picture (.svg, .png, .pdf) or the best sets (.parquet, .csv, .arrow).

    Example: `tacit select visits.csv --target buys --n-features 2 --top 5`
    """
    outputs = check_outputs(output, _ENDINGS, source.path)
    table = source.without_idle_target().read()
    table.schema.position(target, "--target")
    selector = tacit.BestSubset(
        n_features,
        criterion,
        given=given,
        n_best=top,
        n_jobs=source.n_jobs,
        verbose=int(sys.stderr.isatty()),
    )
    selector.fit(table, target)
    for path in outputs:
        write_model(selector, path, frame=lambda: _flat(selector.to_frame(top)))
    total = table.n_records if table.weights is None else float(table.weights.sum())
    if json:
        print_json(
            {
                "target": target,
                "criterion": criterion,
                "given": given or [],
                "records": total,
                "subsets": selector.n_subsets_,
                "scored": selector.n_scored_,
                "best": selector.to_frame(top).to_dicts(),
            }
        )
        return
    console = make_console()
    what = "columns" if n_features == 1 else f"sets of {n_features} columns"
    console.print(f"The best {what} for {target} by {criterion}, {number(total)} records")
    put(console, subsets_grid(selector.ranking_))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the sets as text, which every format can hold."""
    import polars as pl

    return frame.with_columns(pl.col("columns").list.join(", "))


COMMAND = reads_file(select)
