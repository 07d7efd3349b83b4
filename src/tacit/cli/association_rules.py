"""``tacit association-rules``: who holds some items holds another, too."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.itemset_options import (
    ItemsetOptions,
    fit_itemsets,
    itemset_option,
    parse_items,
    read_items,
)
from tacit.cli.options import Json, Outputs, Top, written_option
from tacit.cli.output import json_rows, make_console, print_json, print_written, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import listing_grid
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model

if TYPE_CHECKING:
    from tacit.baskets import AssociationRules

__all__ = ["COMMAND", "association_rules"]

_ENDINGS = (".tacit", ".html", *PICTURES, ".json", *FRAMES)
_rule_option = partial(typer.Option, rich_help_panel="Which rules are made of them")

Kind = Annotated[
    Literal["closed", "all"],
    itemset_option(
        help="Rules are made of all frequent sets, or only of closed ones, which are fewer."
    ),
]
MinConfidence = Annotated[
    float,
    _rule_option(help="The least fraction of the antecedent's records that hold the consequent."),
]
Antecedent = Annotated[
    list[str] | None,
    _rule_option(metavar="ITEM,ITEM", help="Only rules from one of these items, and others."),
]
Consequent = Annotated[
    list[str] | None, _rule_option(metavar="ITEM,ITEM", help="Only rules to one of these items.")
]
MinLift = Annotated[float, _rule_option(help="The least lift.")]
Redundant = Annotated[
    bool,
    _rule_option(
        "--redundant", help="Also rules that are no more confident than with an item less."
    ),
]
MinImprovement = Annotated[
    float, _rule_option(help="By how much a rule must be more confident than with an item less.")
]
Level = Annotated[float, _rule_option(help="The confidence level of intervals.")]
Measures = Annotated[
    str,
    written_option(
        metavar="NAME,NAME",
        help="What is shown besides support and confidence: lift, leverage, conviction, zhang, "
        "jaccard, cosine, kulczynski, chi2, p_value.",
    ),
]
By = Annotated[
    Literal[
        "confidence", "support", "lift", "leverage", "conviction", "zhang", "jaccard", "cosine",
        "kulczynski", "chi2", "p_value",
    ],
    written_option(help="What ranks the rules, whether it is shown or not."),
]  # fmt: skip


def association_rules(
    source: Source,
    which: ItemsetOptions,
    kind: Kind = "all",
    *,
    min_confidence: MinConfidence = 0.5,
    antecedent: Antecedent = None,
    consequent: Consequent = None,
    min_lift: MinLift = 0.0,
    redundant: Redundant = False,
    min_improvement: MinImprovement = 0.0,
    level: Level = 0.95,
    measures: Measures = "lift,leverage,conviction,zhang",
    by: By = "confidence",
    top: Top = 20,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Find rules: who holds these items holds that one, too.

    Frequent itemsets are found first; each gives a rule for each of its items. Rules that are no
    more confident than with an item less are left out.

    Output: a page (.html), a picture (.svg, .png, .pdf), all rules (.json, .csv, .parquet, …), or
    the itemsets that they are made of (.tacit).

    JSON: an object with records (their number, or the sum of their weights), n_rules, complete
    (false after Ctrl-C), and rules, a list of objects with antecedent (a list), consequent, count,
    support, confidence and its bounds, and the measures; null is infinite.

    Example: `tacit association-rules baskets.dat --min-support 0.5% --min-confidence 0.4 --by lift`
    """
    outputs = check_outputs(output, _ENDINGS, source.path)
    table = read_items(source)
    left = parse_items(table.schema, antecedent, "--antecedent")
    right = parse_items(table.schema, consequent, "--consequent")
    finder = which.finder(table.schema, source.n_jobs, kind=kind)
    fit_itemsets(finder, table)
    rules = finder.rules(
        min_confidence,
        measures=[name.strip() for name in measures.split(",") if name.strip()],
        antecedent=left,
        consequent=right,
        min_lift=min_lift,
        redundant=redundant,
        min_improvement=min_improvement,
        level=level,
    )
    if by != "confidence":  # the order that they come in
        rules = rules.strongest(max(len(rules), 1), by=by)
    for path in outputs:
        made: Any = finder if path.suffix.lower() == ".tacit" else rules
        data = partial(_as_json, rules, finder.complete_, None)
        write_model(made, path, data=data, shown={"top": top})
    if json:
        print_json(_as_json(rules, finder.complete_, top))
        return
    console = make_console()
    listing = rules._listing(top)
    console.print(f"{listing.title}, by {by}", soft_wrap=True)
    put(console, listing_grid(listing, 2))
    print_written(console, outputs)


def _as_json(rules: AssociationRules, complete: bool, top: int | None) -> dict[str, Any]:
    return {
        "records": rules.total,
        "n_rules": len(rules),
        "complete": complete,
        "rules": json_rows(rules.to_frame(top)),
    }


COMMAND = reads_file(association_rules, partitions=True)
