"""``tacit rules``: classes, labels or numbers told by rules that people can read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import typer

from tacit.cli.labelled import Labelled
from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid
from tacit.cli.rule_quality import quality_facts
from tacit.cli.writing import FRAMES, check_target, write_frame
from tacit.errors import InputError
from tacit.metrics import evaluate
from tacit.rules import BoostedRulesClassifier, BoostedRulesRegressor, CoveringRulesClassifier

__all__ = ["COMMAND", "rules"]

_GROWTH = "How rules are learnt"
_SHOWN = "What is shown and written"
_MANY_CLASSES = 20  # numbers beyond so many are hardly classes
_BOOSTED = {  # options that only boosted rules have, and what they are for them
    "heads": "single", "loss": "auto", "learning_rate": 0.3, "l2": 1.0, "search": "exact",
    "columns": None, "sample": "none",
}  # fmt: skip


def rules(
    source: Source,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="The column to predict; several for labels that are 0 or 1, or numbers with "
            "--regress."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="LABELS.xml",
            help="The file that says which columns of a multi-label ARFF file are labels.",
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n", min=1, help="How many rules: 500 boosted ones; covering ones as are needed."
        ),
    ] = None,
    covering: Annotated[
        bool,
        typer.Option(
            "--covering",
            help="A list of which the first rule that holds decides, not scores that add up.",
            rich_help_panel=_GROWTH,
        ),
    ] = False,
    regress: Annotated[
        bool,
        typer.Option(
            "--regress", help="The target is a number, not a label.", rich_help_panel=_GROWTH
        ),
    ] = False,
    conditions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=255,
            help="The most of a rule: 4, or 5 of covering rules.",
            rich_help_panel=_GROWTH,
        ),
    ] = None,
    min_support: Annotated[
        float, typer.Option(help="Records that a rule covers at least.", rich_help_panel=_GROWTH)
    ] = 1,
    heuristic: Annotated[
        Literal["f_measure", "precision", "laplace", "m_estimate", "kulczynski"] | None,
        typer.Option(help="What makes a covering rule good.", rich_help_panel=_GROWTH),
    ] = None,
    heads: Annotated[
        Literal["single", "partial", "complete"],
        typer.Option(
            help="A rule speaks of one class or label, of some, or of all.",
            rich_help_panel=_GROWTH,
        ),
    ] = "single",
    loss: Annotated[
        Literal["auto", "logistic", "squared", "squared_hinge", "example_logistic", "softmax"],
        typer.Option(help="What boosted rules lower.", rich_help_panel=_GROWTH),
    ] = "auto",
    learning_rate: Annotated[
        float,
        typer.Option(help="What is left of a rule's best score.", rich_help_panel=_GROWTH),
    ] = 0.3,
    l2: Annotated[
        float, typer.Option(help="How much large scores cost.", rich_help_panel=_GROWTH)
    ] = 1.0,
    search: Annotated[
        Literal["exact", "histogram"],
        typer.Option(help="Try all thresholds, or those of bins.", rich_help_panel=_GROWTH),
    ] = "exact",
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="N|SHARE|sqrt|log2",
            help="How many columns each condition is sought among; all unless given.",
            rich_help_panel=_GROWTH,
        ),
    ] = None,
    sample: Annotated[
        Literal["none", "bagging", "subsample"],
        typer.Option(
            help="Learn each rule of all records, or of some drawn.", rich_help_panel=_GROWTH
        ),
    ] = "none",
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE2", help="Other records to try the rules on, read as FILE is."),
    ] = None,
    test_share: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Share of records to try rules of the others on; 0 for no try."
        ),
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Of random numbers.")] = 0,
    top: Annotated[
        int, typer.Option(min=0, help="How many rules to print.", rich_help_panel=_SHOWN)
    ] = 20,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write the model (.tacit) or all rules (.csv, .parquet, …); can be repeated.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Learn rules for a column, for several labels or for numbers, and say how well they predict.

    Scores of boosted rules add up; of covering rules, the first that holds decides. Numbers of CSV,
    Parquet and Arrow files are compared with thresholds, texts with one value. How well rules
    predict is tried on FILE2, or on a share of the records with rules of the others; the rules that
    are printed and written are learnt of all records.

    JSON: an object with kind, targets (a list), rules (their number), test (an object with records
    and, of classes, accuracy, f1, majority, log_likelihood and for two classes auc; of labels,
    hamming, subset and label_fraction; of numbers, r2 and rmse), and best, a list of objects with
    conditions (a text), support and, of boosted rules, head (an object), of covering rules, class
    and precision.
    """
    given = {name: value for name, value in locals().items() if name in _BOOSTED}
    model = _model(source, covering, regress, heuristic, given)
    _set(model, n, conditions, min_support, seed)
    if bool(target) == (labels is not None):
        raise typer.BadParameter("say --target, or --labels for an ARFF file")
    inputs = [source.path, *(path for path in (test, labels) if path is not None)]
    for path in output or []:
        check_target(path, "--output", (".tacit", *FRAMES), *inputs)
    records = Labelled.of(source, target or [], labels)
    if not regress:
        _hint_at_numbers(records)
    found = None
    if test is None and test_share > 0:
        known, other = records.split(test_share, seed)
        found = evaluate(_fit(model, known), other.X, other.y, other.weights)
    start = perf_counter()
    _fit(model, records)
    seconds = perf_counter() - start
    if test is not None:
        other = Labelled.of(replace(source, path=test), target or [], labels)
        found = evaluate(model, other.X, other.y, other.weights)
    for path in output or []:
        if path.suffix.lower() == ".tacit":
            model.save(path)
        else:
            write_frame(model.rules_.to_frame(), path)
    if json:
        print_json(_as_json(model, records, found, top))
        return
    console = make_console()
    facts = [("records", f"{records.n_records:,}"), ("rules", f"{model.n_rules_:,}")]
    if found is not None:
        facts += quality_facts(found, "--test" if test is not None else "held out")
    put(console, facts_grid([*facts, ("time", f"{seconds:.2f} s")]))
    console.print()
    console.print(model.to_text(top=top), soft_wrap=True)
    if output:
        console.print(f"\nwritten: {', '.join(map(str, output))}", soft_wrap=True)


def _model(
    source: Source, covering: bool, regress: bool, heuristic: str | None, given: dict[str, Any]
) -> Any:
    """Return the estimator that is asked for, after a look at options that it does not have."""
    if covering and regress:
        raise typer.BadParameter("is for classes, not with --regress", param_hint="--covering")
    if heuristic is not None and not covering:
        raise typer.BadParameter("is for --covering", param_hint="--heuristic")
    if covering:
        for name, usual in _BOOSTED.items():
            if given[name] != usual:
                option = f"--{name.replace('_', '-')}"
                raise typer.BadParameter("does not go with --covering", param_hint=option)
        return CoveringRulesClassifier(heuristic or "f_measure", n_jobs=source.n_jobs)
    if regress and given["loss"] not in ("auto", "squared"):
        raise typer.BadParameter("is squared with --regress", param_hint="--loss")
    settings = {
        **given,
        "algorithm": given["search"],
        "feature_fraction": _share(given["columns"]),
        "n_jobs": source.n_jobs,
    }
    del settings["columns"], settings["search"]
    if regress:
        del settings["loss"]
        return BoostedRulesRegressor(**settings)
    return BoostedRulesClassifier(**settings)


def _set(model: Any, n: int | None, conditions: int | None, support: float, seed: int) -> None:
    """Set what all estimators have, unless their own defaults are to hold."""
    if n is not None:
        model.set_params(**{"max_rules" if hasattr(model, "max_rules") else "n_rules": n})
    if conditions is not None:
        model.set_params(max_conditions=conditions)
    model.set_params(min_support=support, random_state=seed)


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


def _share(text: str | None) -> Any:
    if text is None or text in ("sqrt", "log2"):
        return text
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is none of a number, a share such as 0.5, sqrt and log2",
            param_hint="--columns",
        ) from None


def _fit(model: Any, records: Labelled) -> Any:
    """Fit; what is wrong is said of options, not of arguments."""
    options = {
        "y": "--target", "sample_weight": "--weights", "learning_rate": "--learning-rate",
        "min_support": "--min-support", "feature_fraction": "--columns", "l2": "--l2",
    }  # fmt: skip
    try:
        with working(f"learning rules from {records.n_records:,} records"):
            return model.fit(records.X, records.y, records.weights)
    except InputError as error:
        text = str(error)
        for argument, option in options.items():
            if text.startswith((f"{argument} ", f"{argument}:")):
                text = option + text.removeprefix(argument)
                break
        raise InputError(text) from None


def _as_json(model: Any, records: Labelled, found: Any, top: int) -> dict[str, Any]:
    targets = list(records.y.columns) if records.several else [records.y.name]
    best: list[dict[str, Any]]
    if isinstance(model, CoveringRulesClassifier):
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
    return result | ({} if found is None else {"test": found}) | {"best": best}


COMMAND = reads_file(rules)
