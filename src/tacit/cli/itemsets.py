"""``tacit itemsets``: sets of items that many records hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from tacit.cli.itemset_options import (
    ItemsetOptions,
    fit_itemsets,
    itemset_option,
    parse_items,
    read_items,
)
from tacit.cli.options import Json, Outputs, Top, written_option
from tacit.cli.output import echo, json_rows, make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import listing_grid
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model

if TYPE_CHECKING:
    from tacit.baskets import FrequentItemsets

__all__ = ["COMMAND", "itemsets"]

_ENDINGS = (".tacit", ".html", *PICTURES, ".json", *FRAMES)

Kind = Annotated[
    Literal["closed", "all", "maximal"],
    itemset_option(
        help="Closed: none with one more item is in as many records. Maximal: none with one more "
        "item is frequent."
    ),
]
MinSize = Annotated[int, itemset_option(min=1, help="The fewest items of a set.")]
MustHold = Annotated[
    list[str] | None,
    itemset_option(metavar="ITEM,ITEM", help="Items that every set holds; can be repeated."),
]
OneOf = Annotated[
    list[str] | None,
    itemset_option(
        metavar="ITEM,ITEM",
        help="Every set holds one of these items, at least; repeated, one of each list.",
    ),
]
Forecast = Annotated[
    bool,
    written_option(
        "--forecast",
        help="Only count the sets, and say what they would take in memory; --n-itemsets, "
        "--must-hold and --one-of are not looked at.",
    ),
]


def itemsets(
    source: Source,
    which: ItemsetOptions,
    kind: Kind = "closed",
    min_size: MinSize = 1,
    must_hold: MustHold = None,
    one_of: OneOf = None,
    *,
    top: Top = 20,
    forecast: Forecast = False,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Find the sets of items that stand together in many records.

    All that are frequent enough are found; the most frequent are shown. An item is a value that
    differs from its column's default, such as what is in a basket.

    Output: the sets with all options (.tacit), a page (.html), a picture (.svg, .png, .pdf), or
    all sets (.json, .csv, .parquet, …).

    JSON: an object with records (their number, or the sum of their weights), kind, n_itemsets,
    complete (false after Ctrl-C), and itemsets, a list of objects with items, size, support and
    count, the most frequent first; with --forecast n_itemsets and n_bytes.

    Example: `tacit itemsets baskets.dat --min-support 0.1% --kind maximal --min-size 2`
    """
    outputs = check_outputs(output, _ENDINGS, source.path)
    table = read_items(source)
    finder = which.finder(
        table.schema,
        source.n_jobs,
        kind=kind,
        min_size=min_size,
        must_hold=parse_items(table.schema, must_hold, "--must-hold"),
        one_of=[parse_items(table.schema, [text], "--one-of") for text in one_of or ()],
    )
    if forecast:
        _forecast(finder, table, json)
        return
    fit_itemsets(finder, table)
    for path in outputs:
        write_model(finder, path, data=lambda: _as_json(finder, None), shown={"top": top})
    if json:
        print_json(_as_json(finder, top))
        return
    console = make_console()
    listing = finder._listing(top)
    console.print(listing.title, soft_wrap=True)
    put(console, listing_grid(listing))
    print_written(console, outputs)


def _forecast(finder: FrequentItemsets, table: Any, json: bool) -> None:
    from tacit.machine import human_bytes

    with working("counting itemsets"):
        told = finder.forecast(table)
    if json:
        print_json(told._asdict())
    else:
        echo(f"{told.n_itemsets:,} itemsets, {human_bytes(told.n_bytes)}")


def _as_json(finder: FrequentItemsets, top: int | None) -> dict[str, Any]:
    sets = finder.itemsets_
    return {
        "records": sets.total,
        "kind": sets.kind,
        "n_itemsets": len(sets),
        "complete": finder.complete_,
        "itemsets": json_rows(sets.to_frame(top)),
    }


COMMAND = reads_file(itemsets, partitions=True)
