"""``tacit find-rules``: under which conditions a column has a value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.conditions import parse_label
from tacit.cli.options import Json, Top, output_option
from tacit.cli.output import echo, json_label, make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import number, rules_grid
from tacit.cli.writing import check_target, write_frame

if TYPE_CHECKING:
    from tacit.rules import Rule, RuleFinder

__all__ = ["COMMAND", "find_rules"]


TargetColumn = Annotated[
    str, typer.Option(help="The column that rules are about; mdl cuts tell it apart, too.")
]
Value = Annotated[
    str, typer.Option(help="Its label that rules lead to; an empty text means missing.")
]
Conditions = Annotated[
    str, typer.Option("--n-conditions", "-n", help="Number of conditions; 1-4 for one to four.")
]
MinSupport = Annotated[
    float, typer.Option(help="Records (or their weight) that must match the conditions.")
]
Criterion = Annotated[
    Literal["confidence", "lift", "leverage", "wilson"],
    typer.Option(help="What makes a rule good; see the guide."),
]
Level = Annotated[
    float, typer.Option(help="The confidence level of the interval for --criterion wilson.")
]
NoDefaults = Annotated[
    bool, typer.Option("--no-defaults", help="No conditions on a column's default.")
]
Redundant = Annotated[
    bool,
    typer.Option(
        "--redundant", help="Also rules with spare conditions, or the records of another."
    ),
]
RulesFile = Annotated[
    Path | None,
    output_option(metavar="RULES", help="Write the rules to a .csv or .parquet file."),
]


def find_rules(
    source: Source,
    target: TargetColumn,
    value: Value,
    n_conditions: Conditions = "1-2",
    min_support: MinSupport = 30,
    criterion: Criterion = "confidence",
    level: Level = 0.95,
    top: Top = 20,
    no_defaults: NoDefaults = False,
    redundant: Redundant = False,
    json: Json = False,
    output: RulesFile = None,
) -> None:
    """Find the conditions under which a column has a value.

    Tries all conjunctions of so many conditions that enough records match and lists the best. Rules
    that are no better with all of their conditions than with some, and rules about the same records
    as one before them, are left out.

    JSON: an object with target, value, records (their number, or the sum of their weights), hits
    (how many of them have the value), criterion, and rules, a list of objects with conditions (an
    object of labels by column), support, hits, confidence, lift, leverage and score; the best
    first.

    Example: `tacit find-rules visits.csv --target buys --value True --n-conditions 1-3`
    """
    lengths = _lengths(n_conditions)
    check_target(output, "--output", (".csv", ".parquet"))
    table = source.without_idle_target().read()
    finder = tacit.RuleFinder(
        target,
        parse_label(table.schema.column(table.schema.position(target, "--target")), value),
        n_conditions=lengths,
        min_support=min_support,
        n_rules=top,
        criterion=criterion,
        level=level,
        default_conditions=not no_defaults,
        redundant=redundant,
        n_jobs=source.n_jobs,
    )
    with working(
        f"searching {table.n_columns - 1:,} columns for rules of {n_conditions} conditions"
    ):
        finder.fit(table)
    if output is not None:
        write_frame(finder.to_frame(), output)
    if json:
        print_json(_as_json(finder))
    elif output is None:
        fraction = finder.n_hits_ / finder.n_records_
        console = make_console()
        console.print(
            f"{target} = {value or '(missing)'} in {number(finder.n_hits_)} of "
            f"{number(finder.n_records_)} records ({fraction:.1%}); the best rules by {criterion}"
        )
        put(console, rules_grid(finder.rules_))
    else:
        echo(f"{output}: {len(finder.rules_)} rules")


def _lengths(text: str) -> tuple[int, int]:
    """Read a number of conditions, or the least and the greatest.

    >>> _lengths("3"), _lengths("1-4")
    ((3, 3), (1, 4))
    """
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a number nor two, as in 1-4", param_hint="--n-conditions"
        ) from None


def _as_json(finder: RuleFinder) -> dict[str, Any]:
    def rule_json(rule: Rule) -> dict[str, Any]:
        conditions = {name: json_label(label) for name, label in rule.conditions.items()}
        return {**vars(rule), "conditions": conditions}

    return {
        "target": finder.target,
        "value": json_label(finder.value),
        "records": finder.n_records_,
        "hits": finder.n_hits_,
        "criterion": finder.criterion,
        "rules": [rule_json(rule) for rule in finder.rules_],
    }


COMMAND = reads_file(find_rules)
