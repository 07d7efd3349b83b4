"""Itemsets on the command line: options that say which, items as people type them, the search."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tacit
from tacit.cli.bayes_net_texts import join_names
from tacit.cli.conditions import parse_given
from tacit.cli.output import echo, working
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.baskets import FrequentItemsets
    from tacit.cli.reading import Source
    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["ItemsetOptions", "fit_itemsets", "itemset_option", "parse_items", "read_items"]

itemset_option = partial(typer.Option, rich_help_panel="Which itemsets are looked for")


def read_support(given: Any) -> int | float:
    """Read a fraction (0.01, 1%) or a number of records.

    >>> read_support("0.02"), read_support("2%"), read_support("30")
    (0.02, 0.02, 30)
    """
    text = str(given).strip()
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a fraction nor a number") from None


@dataclass(frozen=True)
class ItemsetOptions:
    """Which itemsets are looked for, as FrequentItemsets names it: an option for each field."""

    min_support: Annotated[
        Any,
        itemset_option(
            parser=read_support,
            metavar="FRACTION|NUMBER",
            help="The fraction of records that hold a set (0.01 or 1%), or their number.",
        ),
    ] = "0.01"
    n_itemsets: Annotated[
        int | None,
        itemset_option(min=1, help="Only so many, the most frequent, and those level with them."),
    ] = None
    max_size: Annotated[
        int | None, itemset_option(min=1, help="The most items of a set; as many as there are.")
    ] = None
    must_not_hold: Annotated[
        list[str] | None,
        itemset_option(
            metavar="ITEM,ITEM",
            help="Items that are as if they were not there. An item is a column such as milk, or "
            "sex=Female. Can be repeated.",
        ),
    ] = None
    defaults: Annotated[
        bool, itemset_option("--defaults", help="Default values are items, too.")
    ] = False
    itemsets_memory: Annotated[
        str | None,
        itemset_option(
            metavar="SIZE",
            help="What the list of sets may take, such as 2GB; half of what is free if not said.",
        ),
    ] = None

    def finder(self, schema: Schema, n_jobs: int, **others: Any) -> FrequentItemsets:
        """Return what looks for such itemsets in records of a schema."""
        return tacit.FrequentItemsets(
            min_support=self.min_support,
            n_itemsets=self.n_itemsets,
            max_size=self.max_size,
            must_not_hold=parse_items(schema, self.must_not_hold, "--must-not-hold"),
            defaults=self.defaults,
            memory=self.itemsets_memory,
            n_jobs=n_jobs,
            **others,
        )


def read_items(source: Source) -> Table | PartitionedTable:
    """Read the records, or open them, with numbers cut: bins are items."""
    table: Table | PartitionedTable = source.read_table()
    return table.cut("auto")


def parse_items(
    schema: Schema, texts: Sequence[str] | None, option: str
) -> list[str | tuple[str, Any]] | None:
    """Read items with commas between them: columns, or COLUMN=LABEL.

    >>> import tacit
    >>> schema = tacit.Table({"milk": [True, False], "size": ["s", "m, l"]}).schema
    >>> parse_items(schema, ["milk, size=m, l"], "--must-hold")
    ['milk', ('size', 'm, l')]
    """
    if texts is None:
        return None
    return [item for text in texts for item in _read_text(schema, text, option)]


def _read_text(schema: Schema, text: str, option: str) -> Iterator[str | tuple[str, Any]]:
    for part in join_names(text, lambda part: _is_item(schema, part)):
        if "=" in part and part not in schema.names:
            yield _read_pair(schema, part, option)
            continue
        labels = schema.labels[schema.position(part, option)]
        if tuple(labels) not in ((False, True), (0, 1)):
            raise InputError(
                f"{option}: {part!r} is no item by itself; name a label, as in {part}={labels[0]}"
            )
        yield part


def _is_item(schema: Schema, text: str) -> bool:
    if text in schema.names or "=" not in text:
        return text in schema.names
    try:
        _read_pair(schema, text, "")
    except InputError:
        return False
    return True


def _read_pair(schema: Schema, text: str, option: str) -> tuple[str, Any]:
    """Return the column and the label of COLUMN=LABEL."""
    name, _, label = text.partition("=")
    try:
        [pair] = parse_given(schema, [f"{name.strip()}={label.strip()}"]).items()
    except InputError as error:
        raise InputError(f"{option}: {str(error).removeprefix('--given: ')}") from None
    return pair


def fit_itemsets(finder: FrequentItemsets, table: Table | PartitionedTable) -> None:
    """Search, showing that this goes on; warnings go to stderr, a line each."""
    with warnings.catch_warnings(record=True) as noted, working("searching for itemsets"):
        warnings.simplefilter("always")
        try:
            finder.fit(table)
        except InputError as error:
            raise InputError(_as_options(str(error))) from None
    for text in dict.fromkeys(str(note.message) for note in noted):
        echo(f"warning: {text}", err=True)


def _as_options(problem: str) -> str:
    """Name options where a message has parameters and their values."""
    for python, option in (
        ('kind="closed" or "maximal"', "--kind closed or maximal"),
        ("with memory (forecast(X) counts them)", "with --itemsets-memory"),
        ("defaults=True", "--defaults"),
    ):
        problem = problem.replace(python, option)
    return re.sub("^memory(?=[ :])", "--itemsets-memory", problem)
