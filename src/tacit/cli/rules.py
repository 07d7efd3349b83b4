"""``tacit rules``: rules that predict a column, labels or numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

import tacit
from tacit.cli.labelled import Labelled
from tacit.cli.options import Json, Outputs, RandomState, Test, TestFraction, Top
from tacit.cli.output import echo, json_label, make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid, score_rows
from tacit.cli.rule_options import RuleOptions
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model

__all__ = ["COMMAND", "rules"]

_ENDINGS = (".tacit", ".html", *PICTURES, *FRAMES)
_MANY_CLASSES = 20  # numbers beyond so many are hardly classes

Targets = Annotated[
    list[str] | None,
    typer.Option(
        help="The column to predict; several for labels that are 0 or 1, or for numbers with "
        "--regress."
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="LABELS.xml",
        help="The file that says which columns of a multi-label ARFF file are labels.",
    ),
]
NRules = Annotated[
    int | None,
    typer.Option(
        "--n-rules",
        "-n",
        min=1,
        help="How many rules: 500 boosted ones, 1,000 for numbers; covering ones as needed.",
    ),
]


def rules(
    source: Source,
    target: Targets = None,
    labels: LabelsFile = None,
    n_rules: NRules = None,
    *,
    how: RuleOptions,
    test: Test = None,
    test_fraction: TestFraction = 0.2,
    random_state: RandomState = 0,
    top: Top = 20,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Learn rules for a column, for several labels or for numbers, and say how well they predict.

    Scores of boosted rules add up; of covering rules, the first that holds decides. Numbers of CSV,
    Parquet and Arrow files are compared with thresholds, texts with one value. Rules are tested on
    FILE2, or on a fraction of the records with rules of the others; the rules that are printed and
    written are learnt of all records.

    Output: the model (.tacit), a page (.html), a picture (.svg, .png, .pdf), or all rules (.csv,
    .parquet, …).

    JSON: an object with kind, targets (a list), rules (their number), test (an object with records
    and, of classes, accuracy, f1, majority, log_likelihood and for two classes auc; of labels,
    hamming, subset and label_fraction; of numbers, r2 and rmse), and best, a list of objects with
    conditions (a text), support and, of boosted rules, head (an object), of covering rules, class
    and precision.

    Example: `tacit rules adult.csv --target income --n-rules 200 --top 10 -o rules.csv`
    """
    model = how.estimator(n_rules=n_rules, random_state=random_state, n_jobs=source.n_jobs)
    if bool(target) == (labels is not None):
        raise typer.BadParameter("say --target, or --labels for an ARFF file")
    outputs = check_outputs(output, _ENDINGS, source.path, test, labels)
    records = Labelled.of(source, target or [], labels)
    if not how.regress:
        _hint_at_numbers(records)
    how.settle(model, records)
    scores = None
    if test is None and test_fraction > 0:
        known, other = records.split(test_fraction, random_state)
        scores = _score(_fit(_afresh(model), known), other)
    start = perf_counter()
    _fit(model, records)
    seconds = perf_counter() - start
    if test is not None:
        scores = _score(model, Labelled.of(replace(source, path=test), target or [], labels))
    if how.warm_start is not None:
        model.set_params(warm_start=False)  # the next fit is another matter
    for path in outputs:
        write_model(model, path)
    if json:
        print_json(_as_json(model, records, scores, top))
        return
    console = make_console()
    facts = [("records", f"{records.n_records:,}"), ("rules", f"{model.n_rules_:,}")]
    if scores is not None:
        facts += score_rows(scores, f"records {'held out' if test is None else '--test'}")
    put(console, facts_grid([*facts, ("time", f"{seconds:.2f} s")]))
    console.print(f"\n{model.to_text(top=top)}", soft_wrap=True)
    print_written(console, outputs)


def _afresh(model: Any) -> Any:
    """Return an estimator that learns the same way, and goes on with nothing."""
    from sklearn.base import clone

    fresh = clone(model)
    return fresh.set_params(warm_start=False) if hasattr(fresh, "warm_start") else fresh


def _hint_at_numbers(records: Labelled) -> None:
    """Say on stderr that a target looks like a number, if it does."""
    if records.several or not records.y.dtype.is_numeric():
        return
    n_classes = records.y.n_unique()
    if n_classes > _MANY_CLASSES:
        echo(
            f"{records.y.name} has {n_classes:,} classes, all numbers; --regress predicts numbers",
            err=True,
        )


def _fit(model: Any, records: Labelled) -> Any:
    with working(f"learning rules from {records.n_records:,} records"):
        return model.fit(records.X, records.y, records.weights)


def _score(model: Any, records: Labelled) -> dict[str, Any]:
    from tacit.metrics import evaluate

    return evaluate(model, records.X, records.y, records.weights)


def _as_json(model: Any, records: Labelled, scores: Any, top: int) -> dict[str, Any]:
    targets = list(records.y.columns) if records.several else [records.y.name]
    best: list[dict[str, Any]]
    if isinstance(model, tacit.CoveringRulesClassifier):
        best = [
            {
                "conditions": rule.condition,
                "class": json_label(rule.label),
                "support": rule.support,
                "precision": rule.precision,
            }
            for rule in model.rules_[:top]
        ]
    else:
        merged = model.rules_.merged()
        best = [
            {
                "conditions": merged[number].condition,
                "head": {str(label): score for label, score in merged[number].head.items()},
                "support": merged[number].support,
            }
            for number in merged.ranked()[:top]
        ]
    result = {"kind": type(model).__name__, "targets": targets, "rules": model.n_rules_}
    return result | ({} if scores is None else {"test": scores}) | {"best": best}


COMMAND = reads_file(rules)
