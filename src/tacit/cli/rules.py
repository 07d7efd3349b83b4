"""``tacit rules``: rules that predict a column, labels or numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import typer

import tacit
from tacit.cli.labelled import Labelled
from tacit.cli.options import Json, Outputs, RandomState, Test, TestFraction, Top
from tacit.cli.output import json_label, make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid, score_rows
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model

__all__ = ["COMMAND", "rules"]

_rules_option = partial(typer.Option, rich_help_panel="How rules are learnt")
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
Covering = Annotated[
    bool,
    _rules_option(
        "--covering",
        help="A list of which the first rule that holds decides, not scores that add up.",
    ),
]
Regress = Annotated[bool, _rules_option("--regress", help="The target is a number.")]
NRules = Annotated[
    int | None,
    typer.Option(
        "--n-rules",
        "-n",
        min=1,
        help="How many rules: 500 boosted ones, 1,000 for numbers; covering ones as needed.",
    ),
]
MaxConditions = Annotated[
    int | None,
    _rules_option(min=1, max=255, help="The most of a rule: 4, or 10 of covering rules."),
]
MinSupport = Annotated[float, _rules_option(help="Records that a rule covers at least.")]
Criterion = Annotated[
    Literal["f_measure", "precision", "laplace", "m_estimate", "kulczynski", "foil_gain"] | None,
    _rules_option(help="What makes a covering rule good."),
]
NOptimisations = Annotated[
    int | None,
    _rules_option(min=0, help="How often covering rules of a class are gone over again: 2."),
]
Heads = Annotated[
    Literal["single", "partial", "complete"] | None,
    _rules_option(help="A rule adds to the score of one class or label, of some, or of all."),
]
Loss = Annotated[
    Literal["auto", "logistic", "squared", "squared_hinge", "example_logistic", "softmax"] | None,
    _rules_option(help="What boosted rules minimise."),
]
LearningRate = Annotated[float | None, _rules_option(help="The factor of each rule's score.")]
L2 = Annotated[float | None, _rules_option("--l2", help="Ridge penalty of scores.")]
Algorithm = Annotated[
    Literal["exact", "histogram"] | None,
    _rules_option(help="Try all thresholds, or those of bins."),
]
FeatureFraction = Annotated[
    str | None,
    _rules_option(
        metavar="N|FRACTION|sqrt|log2",
        help="How many columns each condition is sought among; all unless given.",
    ),
]
Sample = Annotated[
    Literal["none", "bagging", "subsample"] | None,
    _rules_option(help="Learn each rule of all records, or of some drawn."),
]
Prediction = Annotated[
    Literal["hamming", "subset", "example_f1"] | None,
    _rules_option(help="What labels of a record are chosen to get right."),
]


def rules(
    source: Source,
    target: Targets = None,
    labels: LabelsFile = None,
    n_rules: NRules = None,
    covering: Covering = False,
    regress: Regress = False,
    max_conditions: MaxConditions = None,
    min_support: MinSupport = 1,
    criterion: Criterion = None,
    n_optimisations: NOptimisations = None,
    heads: Heads = None,
    loss: Loss = None,
    learning_rate: LearningRate = None,
    l2: L2 = None,
    algorithm: Algorithm = None,
    feature_fraction: FeatureFraction = None,
    sample: Sample = None,
    prediction: Prediction = None,
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
    given = {
        "criterion": criterion, "n_optimisations": n_optimisations, "heads": heads, "loss": loss,
        "learning_rate": learning_rate, "l2": l2, "algorithm": algorithm,
        "feature_fraction": _fraction(feature_fraction), "sample": sample,
        "prediction": prediction, "max_conditions": max_conditions, "n_rules": n_rules,
        "min_support": min_support, "random_state": random_state, "n_jobs": source.n_jobs,
    }  # fmt: skip
    model = _estimator(covering, regress, given)
    if bool(target) == (labels is not None):
        raise typer.BadParameter("say --target, or --labels for an ARFF file")
    outputs = check_outputs(output, _ENDINGS, source.path, test, labels)
    records = Labelled.of(source, target or [], labels)
    if not regress:
        _hint_at_numbers(records)
    scores = None
    if test is None and test_fraction > 0:
        known, other = records.split(test_fraction, random_state)
        scores = _score(_fit(model, known), other)
    start = perf_counter()
    _fit(model, records)
    seconds = perf_counter() - start
    if test is not None:
        scores = _score(model, Labelled.of(replace(source, path=test), target or [], labels))
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


def _estimator(covering: bool, regress: bool, given: dict[str, Any]) -> Any:
    """Return the estimator that is asked for, after a look at options that it does not have."""
    if covering and regress:
        raise typer.BadParameter("is for classes, not with --regress", param_hint="--covering")
    if regress and given["loss"] in ("auto", "squared"):
        given = {**given, "loss": None}
    model: Any
    if covering:
        model, given = tacit.CoveringRulesClassifier(), {**given, "max_rules": given["n_rules"]}
        del given["n_rules"]
    else:
        model = tacit.BoostedRulesRegressor() if regress else tacit.BoostedRulesClassifier()
    known, which = model.get_params(), "--regress" if regress else "--covering"
    for name, value in given.items():
        if value is not None and name not in known:
            text = f"does not go with {which}" if covering or regress else "is for --covering"
            raise typer.BadParameter(text, param_hint=f"--{name.replace('_', '-')}")
    return model.set_params(**{name: x for name, x in given.items() if x is not None})


def _hint_at_numbers(records: Labelled) -> None:
    """Say on stderr that a target looks like a number, if it does."""
    if records.several or not records.y.dtype.is_numeric():
        return
    n_classes = records.y.n_unique()
    if n_classes > _MANY_CLASSES:
        typer.echo(
            f"{records.y.name} has {n_classes:,} classes, all numbers; --regress predicts numbers",
            err=True,
        )


def _fraction(text: str | None) -> Any:
    if text is None or text in ("sqrt", "log2"):
        return text
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is none of a number, a fraction such as 0.5, sqrt and log2",
            param_hint="--feature-fraction",
        ) from None


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
