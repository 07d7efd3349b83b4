"""``tacit significant-rules``: the conditions that a target depends on, the search paid for."""

from __future__ import annotations

import sys
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.conditions import parse_label
from tacit.cli.options import Json, Outputs, RandomState, Top
from tacit.cli.output import json_label, make_console, print_json, print_written, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import listing_grid
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model

if TYPE_CHECKING:
    from tacit.baskets import SignificantRule, SignificantRules

__all__ = ["COMMAND", "significant_rules"]

_ENDINGS = (".tacit", ".html", *PICTURES, ".json", *FRAMES)
_DEFAULTS: dict[str, Any] = {"auto": "auto", "always": True, "never": False}
_error_option = partial(typer.Option, rich_help_panel="Which error rate is kept, and how")
_search_option = partial(typer.Option, rich_help_panel="What is searched")

TargetColumn = Annotated[str, typer.Option(help="The column that rules are about.")]
Value = Annotated[
    str | None,
    typer.Option(help="Its label that is positive; of two, the second if not said."),
]
Alpha = Annotated[float, _error_option(help="The error rate.")]
Control = Annotated[
    Literal["fwer", "fdr"],
    _error_option(
        help="The probability of reporting anything that is not there, or the expected fraction of "
        "what is reported."
    ),
]
Correction = Annotated[
    Literal["permutation", "tarone", "yekutieli", "hochberg"] | None,
    _error_option(
        help="For fwer permutation, or tarone; for fdr yekutieli, or hochberg. The first if not "
        "said."
    ),
]
StatisticalTest = Annotated[
    Literal["fisher", "chi2"], _error_option(help="Fisher's exact test, or Pearson's χ².")
]
Alternative = Annotated[
    Literal["two-sided", "greater", "less"],
    _error_option(help="Positives are more or less frequent, only more, or only less."),
]
Permutations = Annotated[int, _error_option(min=1, help="Permutations of the target.")]
MinSupport = Annotated[int, _search_option(min=1, help="Records that must match.")]
MaxSize = Annotated[
    int | None, _search_option(min=1, help="The most conditions of a rule; any number.")
]
Redundant = Annotated[
    bool,
    _search_option(
        "--redundant", help="Also rules whose records are those of a better rule, or some of them."
    ),
]
DefaultConditions = Annotated[
    Literal["auto", "always", "never"],
    _search_option(help="Conditions on a column's default: auto has none on what is not there."),
]
IgnoreMissing = Annotated[
    bool, _search_option("--ignore-missing", help="No condition asks for a missing value.")
]
Level = Annotated[float, _search_option(help="The confidence level of odds ratios' intervals.")]


def significant_rules(
    source: Source,
    target: TargetColumn,
    value: Value = None,
    alpha: Alpha = 0.05,
    control: Control = "fwer",
    correction: Correction = None,
    test: StatisticalTest = "fisher",
    alternative: Alternative = "two-sided",
    n_permutations: Permutations = 1000,
    min_support: MinSupport = 1,
    max_size: MaxSize = None,
    redundant: Redundant = False,
    default_conditions: DefaultConditions = "auto",
    ignore_missing: IgnoreMissing = False,
    level: Level = 0.95,
    random_state: RandomState = 0,
    top: Top = 20,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Find all conditions that a target depends on, with an error rate over the whole search.

    Every conjunction of conditions is a hypothesis; those are reported that stay significant
    although so many were tried.

    Output: the rules with all options (.tacit), a page (.html), a picture (.svg, .png, .pdf), or
    all rules (.json, .csv, .parquet, …).

    JSON: an object with target, value, records, positives, threshold (of p-values), n_testable,
    n_significant, least_support and rules, a list of objects with conditions and implied (objects
    of labels by column), support, positives, confidence, p_value, log_p_value, adjusted_p_value,
    odds_ratio, odds_ratio_interval (null is infinite) and risk_difference, the least p-value first.

    Example: `tacit significant-rules patients.csv --target ill --max-size 3 -o rules.html`
    """
    outputs = check_outputs(output, _ENDINGS, source.path)
    table = source.without_idle_target().read()
    column = table.schema.column(table.schema.position(target, "--target"))
    finder = tacit.SignificantRules(
        alpha, control=control, correction=correction, test=test, alternative=alternative,
        value=None if value is None else parse_label(column, value),
        n_permutations=n_permutations, min_support=min_support, max_size=max_size,
        redundant=redundant, default_conditions=_DEFAULTS[default_conditions],
        missing="ignore" if ignore_missing else "state", level=level, random_state=random_state,
        n_jobs=source.n_jobs, verbose=int(sys.stderr.isatty()),
    )  # fmt: skip
    finder.fit(table, target)
    for path in outputs:
        write_model(finder, path, data=partial(_as_json, finder, None), shown={"top": top})
    if json:
        print_json(_as_json(finder, top))
        return
    console = make_console()
    listing = finder._listing(top)
    console.print(_headline(finder), soft_wrap=True)
    put(console, listing_grid(listing))
    print_written(console, outputs)


def _headline(finder: SignificantRules) -> str:
    """Return what was found, and in how many hypotheses."""
    listed = f"{len(finder.rules_):,} rules"
    if finder.n_significant_ > len(finder.rules_):
        listed += f" (of {finder.n_significant_:,} that are significant)"
    return (
        f"{listed} among {finder.n_testable_:,} testable hypotheses, "
        f"threshold of p-values {finder.threshold_:.3g}\n{finder._title()}"
    )


def _as_json(finder: SignificantRules, top: int | None) -> dict[str, Any]:
    return {
        "target": finder.target_,
        "value": json_label(finder.value_),
        "records": finder.n_records_,
        "positives": finder.n_positives_,
        "threshold": finder.threshold_,
        "n_testable": finder.n_testable_,
        "n_significant": finder.n_significant_,
        "least_support": finder.least_support_,
        "rules": [_rule_json(rule) for rule in finder.rules_[:top]],
    }


def _rule_json(rule: SignificantRule) -> dict[str, Any]:
    def finite(x: float) -> float | None:
        return x if isfinite(x) else None

    return {
        **vars(rule),
        "conditions": {name: json_label(label) for name, label in rule.conditions.items()},
        "implied": {name: json_label(label) for name, label in rule.implied.items()},
        "odds_ratio": finite(rule.odds_ratio),
        "odds_ratio_interval": [finite(end) for end in rule.odds_ratio_interval],
    }


COMMAND = reads_file(significant_rules)
