"""``tacit table``: the contingency table of some columns, to look at, to keep or to draw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.conditions import Given, check_given, parse_conditions
from tacit.cli.count import counts_json, print_counts
from tacit.cli.options import Json, output_option
from tacit.cli.output import make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import contingency_title, measures_grid
from tacit.cli.writing import check_ending, save_figure, write_frame
from tacit.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from tacit.counts import ContingencyTable

__all__ = ["COMMAND", "table"]

_FRAMES = (".csv", ".parquet")
_PICTURES = (".png", ".svg", ".pdf")


def table(
    source: Source,
    columns: Annotated[
        list[str], typer.Argument(metavar="COLUMN", help="The columns to count, one or more.")
    ],
    given: Given = None,
    layout: Annotated[
        Literal["auto", "dense", "sparse"],
        typer.Option(help="Hold all cells, or only those that occur; auto decides by size."),
    ] = "auto",
    measures: Annotated[
        bool,
        typer.Option(
            "--measures",
            help="Add entropies in nats and, for two columns, their mutual information, "
            "Pearson's chi-squared test of independence and Cramér's V.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        output_option(
            metavar="OUT.csv|OUT.parquet",
            help="Write the counts to a file instead: a row for each combination that occurs.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.png",
            help="Draw one column as bars or two as a heat map instead; .svg and .pdf work, too.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print, save or draw the contingency table of some columns.

    FILE can also be a tree that `tacit adtree` saved.

    JSON: as for `tacit count`; with --measures also measures, an object with entropy (an object of
    nats by column) and for two columns or more joint_entropy, for two also mutual_information, chi2
    (an object with statistic, dof and p_value) and cramers_v.

    Example: `tacit table visits.csv region news --measures`
    """
    check_given(given)
    check_ending(output, "--output", _FRAMES)
    check_ending(plot, "--plot", _PICTURES)
    if plot and len(columns) > 2:
        raise typer.BadParameter(
            f"one column or two can be drawn, got {len(columns)}", param_hint="--plot"
        )
    counter = source.counter()
    query = parse_conditions(counter.schema, given or ())
    counts = counter.table(columns, query, layout=layout)
    measured = _measure(counts) if measures else {}
    if output:
        write_frame(_frame(counts), output)
    if plot:
        _draw(counts, plot)
    if json:
        print_json(counts_json(counts, query) | ({"measures": measured} if measures else {}))
        return
    console = make_console()
    for written in filter(None, (output, plot)):
        console.print(f"{written}: {contingency_title(counts)}", soft_wrap=True)
    if not (output or plot):
        print_counts(console, counts)
    if measures:
        console.print()
        put(console, measures_grid(measured))


def _measure(counts: ContingencyTable) -> dict[str, Any]:
    """Return what the columns tell of each other, ready for JSON."""
    measures: dict[str, Any] = {"entropy": {name: counts.entropy(name) for name in counts.names}}
    if len(counts.columns) > 1:
        measures["joint_entropy"] = counts.entropy()
    if len(counts.columns) == 2:
        test = counts.chi2()
        measures["mutual_information"] = counts.mutual_information()
        measures["chi2"] = {name: getattr(test, name) for name in ("statistic", "dof", "p_value")}
        measures["cramers_v"] = counts.cramers_v()
    return measures


def _frame(counts: ContingencyTable) -> pl.DataFrame:
    """Return a row for each combination that occurs or, for all a tree knows, may occur."""
    if counts.exact:
        return counts.to_frame()
    frame = counts.to_frame(zeros=True)
    return frame.filter(frame.to_series(-1) > 0)


def _draw(counts: ContingencyTable, path: Path) -> None:
    try:
        import matplotlib as mpl
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install tacit[plot]") from None
    mpl.use("agg")  # files only: no window, and no display to open one on
    with working(f"drawing {path}"):
        save_figure(counts.plot(), path)


COMMAND = reads_file(table, partitions=True)
