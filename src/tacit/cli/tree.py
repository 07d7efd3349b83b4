"""``tacit tree``: a column told from the others by a few questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

from tacit.cli.growth_options import (
    GROWTH,
    Kappa,
    MaxDepth,
    MaxLeaves,
    MinLeaf,
    Prior,
    PriorWeight,
    Splits,
)
from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid, number
from tacit.cli.tree_files import ENDINGS, write_tree
from tacit.cli.writing import check_target
from tacit.errors import InputError
from tacit.metrics import evaluate
from tacit.tree import DecisionGraphClassifier, DecisionTreeClassifier, DecisionTreeRegressor
from tacit.tree.drawing.scene import readable_depth

if TYPE_CHECKING:
    from tacit.tree.drawing.text import LeafRule

__all__ = ["COMMAND", "tree"]

_SHOWN = "What is shown and written"
_MOST_WAYS = 3  # to a leaf of a graph that are printed
_MOST_SHOWN = 60  # leaves; of a larger tree only the upper levels are printed


def tree(
    source: Source,
    target: Annotated[
        str, typer.Option(help="The column to predict; mdl cuts tell it apart, too.")
    ],
    graph: Annotated[
        bool,
        typer.Option("--graph", help="Let leaves merge: a decision graph.", rich_help_panel=GROWTH),
    ] = False,
    regress: Annotated[
        bool,
        typer.Option(
            "--regress", help="The target is a number, not a label.", rich_help_panel=GROWTH
        ),
    ] = False,
    criterion: Annotated[
        Literal["bayes_factor", "bic", "entropy", "gini", "squared_error"] | None,
        typer.Option(
            help="What makes a split good; by default bayes_factor, or squared_error with "
            "--regress.",
            rich_help_panel=GROWTH,
        ),
    ] = None,
    splits: Splits = "binary",
    prior: Prior = "k2",
    prior_weight: PriorWeight = 1.0,
    kappa: Kappa = 0.1,
    max_leaves: MaxLeaves = None,
    max_depth: MaxDepth = None,
    min_leaf: MinLeaf = 1,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE2", help="Other records to try the tree on, read as FILE is."),
    ] = None,
    rules: Annotated[
        bool,
        typer.Option("--rules", help="Print a rule for each leaf.", rich_help_panel=_SHOWN),
    ] = False,
    levels: Annotated[
        int | None,
        typer.Option(
            min=1, help="Levels to print or draw; what is below is cut.", rich_help_panel=_SHOWN
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write the model (.tacit), a picture (.svg, .png, .pdf, .dot) or the rules (.csv, "
            ".parquet); can be repeated.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Grow a decision tree for a column, and say how well it predicts.

    Numbers of CSV, Parquet and Arrow files are split where it serves the tree, unless --discretise
    cuts them before or files are read in partitions, where every number is a label. Growth stops by
    itself where a split no longer pays (bayes_factor and bic).

    JSON: an object with kind, target, leaves, depth, gain (an object of the columns that are asked
    about, with their fractions of what all splits gain), train and, with --test, test (objects with
    records and accuracy, log_likelihood and majority, or for a regression r2 and rmse), and rules,
    a list of objects with leaf (a number), conditions (a list of ways to the leaf, each a list of
    texts), target, prediction, probability and records.
    """
    kind = _kind(graph, regress)
    if source.partitioned and kind is not DecisionTreeClassifier:
        raise typer.BadParameter(
            "needs all records at once, and FILE is read in partitions",
            param_hint="--graph" if graph else "--regress",
        )
    asked = _settings(
        kind, criterion, splits=splits, prior=prior, prior_weight=prior_weight, kappa=kappa,
        max_leaf_nodes=max_leaves, max_depth=max_depth, min_samples_leaf=min_leaf,
    )  # fmt: skip
    inputs = [source.path] + ([] if test is None else [test])
    for path in output or []:
        check_target(path, "--output", ENDINGS, *inputs)
    records = _Records.of(source, target)
    start = perf_counter()
    with working(f"growing a tree for {target} from {records.n_records:,} records"):
        model = _fit(kind(**asked, n_jobs=source.n_jobs), records)
    seconds = perf_counter() - start
    scores = {"train": _scores(model, records)}
    if test is not None:
        others = _Records.of(replace(source, path=test), target, tables=source.partitioned)
        scores["test"] = _scores(model, others)
    for path in output or []:
        with working(f"writing {path}"):
            write_tree(model, path, levels)
    if json:
        print_json(_as_json(model, target, scores))
        return
    console = make_console()
    put(console, facts_grid([*_facts(model, scores), ("time", f"{seconds:.2f} s")]))
    console.print()
    if rules:
        console.print("\n".join(map(_rule_text, model.rules())), soft_wrap=True)
    else:
        shown = levels or readable_depth(model.nodes_, _MOST_SHOWN)
        console.print(model.to_text(max_depth=shown), soft_wrap=True)
    if output:
        console.print(f"\nwritten: {', '.join(map(str, output))}", soft_wrap=True)


@dataclass(frozen=True)
class _Records:
    """What a tree is grown or tried on: a table, or a frame with numbers as they are."""

    X: Any
    target: str
    weights: Any

    @classmethod
    def of(cls, source: Source, target: str, *, tables: bool = False) -> _Records:
        """Read records; as a table if they are in partitions or if that is asked for."""
        numbers = None if tables or source.partitioned else source.read_numbers()
        if numbers is None:
            table = source.without_idle_target().read_table()
            table.schema.position(target, "--target")
            return cls(table, target, None)
        if target not in numbers.frame.columns:
            raise InputError(f"--target: {source.path} has no column {target!r}")
        return cls(numbers.frame, target, numbers.weights)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.X.shape[0])


def _kind(graph: bool, regress: bool) -> Any:
    if graph and regress:
        raise typer.BadParameter("graphs are for labels, not with --regress", param_hint="--graph")
    return (
        DecisionGraphClassifier
        if graph
        else DecisionTreeRegressor
        if regress
        else DecisionTreeClassifier
    )


_CRITERIA = {
    DecisionTreeClassifier: ("bayes_factor", "bic", "entropy", "gini"),
    DecisionTreeRegressor: ("squared_error", "bayes_factor"),
    DecisionGraphClassifier: ("bayes_factor", "bic"),
}


def _settings(kind: Any, criterion: str | None, **asked: Any) -> dict[str, Any]:
    """Return the estimator's settings, after a look at those that depend on each other."""
    known = _CRITERIA[kind]
    if criterion is not None and criterion not in known:
        what = {DecisionTreeRegressor: "--regress", DecisionGraphClassifier: "--graph"}
        listed = " or ".join(known)
        raise typer.BadParameter(
            f"{criterion} does not go with {what.get(kind, 'a tree of labels')}; take {listed}",
            param_hint="--criterion",
        )
    if not 0 < asked["kappa"] <= 1:
        raise typer.BadParameter("must be above 0 and at most 1", param_hint="--kappa")
    if kind is DecisionTreeRegressor and asked.pop("prior") != "k2":
        raise typer.BadParameter("is for labels, not with --regress", param_hint="--prior")
    return {**asked, "criterion": criterion or known[0]}


def _fit(model: Any, records: _Records) -> Any:
    """Fit; what is wrong is said of options, not of arguments."""
    options = {
        "y": f"--target {records.target!r}",
        "sample_weight": "--weights",
        "prior_weight": "--prior-weight",
    }
    try:
        return model.fit(records.X, records.target, records.weights)
    except InputError as error:
        text = str(error).removeprefix("Unknown label type: ")
        for argument, option in options.items():
            if text.startswith((f"{argument} ", f"{argument}:")):
                text = option + text.removeprefix(argument)
                break
        if "cut it into classes" in text:
            text += ", with --discretise, or --regress"
        raise InputError(text) from None


def _scores(model: Any, records: _Records) -> dict[str, Any]:
    """Return how well a model predicts records."""
    common = None
    if hasattr(model, "classes_"):
        common = model.classes_[np.argmax(model.nodes_.counts[0])]
    X, y = records.X, records.target
    if not hasattr(X, "get_column"):
        return evaluate(model, X, y, baseline=common)
    missing = [name for name in model.feature_names_in_ if name not in X.columns]
    if missing:
        raise InputError(f"--test: there is no column {missing[0]!r}")
    features = X.select(list(model.feature_names_in_))
    return evaluate(model, features, X.get_column(y), records.weights, baseline=common)


def _facts(model: Any, scores: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    n = model.n_leaves_
    rows = [
        ("leaves", f"{n:,}, at most {model.depth_:,} question{'s' * (model.depth_ != 1)} deep"),
        ("columns asked about", f"{np.count_nonzero(model.feature_importances_):,}"),
    ]
    for name, found in scores.items():
        what = {"train": "records", "test": "records of --test"}[name]
        rows.append((what, f"{number(found['records'])}"))
        if "accuracy" in found:
            rows.append(
                (
                    "  accuracy",
                    f"{found['accuracy']:.2%} (most common class: {found['majority']:.2%})",
                )
            )
            rows.append(("  log-likelihood", f"{found['log_likelihood']:.4f} a record"))
        else:
            r2 = "–" if found["r2"] is None else f"{found['r2']:.4f}"
            rows.append(("  R²", r2))
            rows.append(("  root mean squared error", f"{found['rmse']:,.4g}"))
    return rows


def _as_json(model: Any, target: str, scores: dict[str, Any]) -> dict[str, Any]:
    gains = zip(model.feature_names_in_, model.feature_importances_.tolist(), strict=True)
    return {
        "kind": type(model).__name__,
        "target": target,
        "leaves": model.n_leaves_,
        "depth": model.depth_,
        "gain": dict(sorted(((k, x) for k, x in gains if x > 0), key=lambda kx: -kx[1])),
        **scores,
        "rules": [_rule_json(rule) for rule in model.rules()],
    }


def _rule_text(rule: LeafRule) -> str:
    """Return a rule; of the many ways to a leaf of a graph only some."""
    more = len(rule.conditions) - _MOST_WAYS
    if more <= 0:
        return str(rule)
    some = str(replace(rule, conditions=rule.conditions[:_MOST_WAYS]))
    return some.replace(" then ", f" or {more} other way{'s' * (more > 1)} then ", 1)


def _rule_json(rule: LeafRule) -> dict[str, Any]:
    return {**vars(rule), "prediction": json_label(rule.prediction)}


COMMAND = reads_file(tree, partitions=True)
