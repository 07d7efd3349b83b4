"""``tacit tree``: a column told from the others by a few questions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.growth_options import GrowthOptions, growth_option
from tacit.cli.options import Json, Outputs, Target, Test, written_option
from tacit.cli.output import json_label, make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid, score_rows
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model
from tacit.errors import InputError, did_you_mean, no_column

if TYPE_CHECKING:
    from tacit.tree.drawing.text import LeafRule

__all__ = ["COMMAND", "tree"]

_ENDINGS = (".tacit", ".html", *PICTURES, ".dot", *FRAMES)
_MOST_WAYS = 3  # to a leaf of a graph that are printed
_MOST_SHOWN = 60  # leaves; of a larger tree only the upper levels are printed
_KINDS = {  # by --graph and --regress: the estimator, and its criteria
    (False, False): ("DecisionTreeClassifier", ("bayes_factor", "bic", "entropy", "gini")),
    (True, False): ("DecisionGraphClassifier", ("bayes_factor", "bic")),
    (False, True): ("DecisionTreeRegressor", ("squared_error", "bayes_factor")),
}


def tree(
    source: Source,
    *,
    target: Target,
    graph: Annotated[
        bool, growth_option("--graph", help="Let leaves merge: a decision graph.")
    ] = False,
    regress: Annotated[bool, growth_option("--regress", help="The target is a number.")] = False,
    criterion: Annotated[
        Literal["bayes_factor", "bic", "entropy", "gini", "squared_error"] | None,
        growth_option(
            help="What makes a split good: bayes_factor, or squared_error with --regress."
        ),
    ] = None,
    growth: GrowthOptions,
    test: Test = None,
    rules: Annotated[bool, written_option("--rules", help="Print a rule for each leaf.")] = False,
    levels: Annotated[int | None, written_option(min=1, help="Levels to print or draw.")] = None,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Grow a decision tree for a column, and say how well it predicts.

    Numbers of CSV, Parquet and Arrow files are split where it serves the tree, unless --discretise
    cuts them before or files are read in partitions, where every number is a label. Growth stops by
    itself where a split no longer pays (bayes_factor and bic).

    Output: the model (.tacit), a page (.html), a picture (.svg, .png, .pdf, .dot), or the rules
    (.csv, .parquet, …).

    JSON: an object with kind, target, leaves, depth, gain (an object of the columns that are asked
    about, with their fractions of what all splits gain), train and, with --test, test (objects with
    records and accuracy, log_likelihood and majority, or for a regression r2 and rmse), and rules,
    a list of objects with leaf, conditions (a list of ways to the leaf, each a list of texts),
    target, prediction, probability and records.

    Example: `tacit tree adult.csv --target income --test adult-test.csv -o tree.svg`
    """
    outputs = check_outputs(output, _ENDINGS, source.path, test)
    model = _estimator(graph, regress, criterion, growth, source)
    records = _Records.of(source, target)
    start = perf_counter()
    with working(f"growing a tree for {target} from {records.n_records:,} records"):
        _fit(model, records)
    seconds = perf_counter() - start
    scores = {"train": _scores(model, records)}
    if test is not None:
        others = _Records.of(replace(source, path=test), target, tables=source.partitioned)
        scores["test"] = _scores(model, others)
    for path in outputs:
        write_model(model, path, shown={} if levels is None else {"max_depth": levels})
    if json:
        print_json(_as_json(model, target, scores))
        return
    _print(model, scores, seconds, rules, levels)
    print_written(make_console(), outputs)


def _estimator(
    graph: bool, regress: bool, criterion: str | None, growth: GrowthOptions, source: Source
) -> Any:
    """Return the estimator, after a look at options that depend on each other."""
    if graph and regress:
        raise typer.BadParameter("graphs are for labels, not with --regress", param_hint="--graph")
    kind, criteria = _KINDS[graph, regress]
    flag = "--graph" if graph else "--regress" if regress else "a tree of labels"
    if source.partitioned and (graph or regress):
        raise typer.BadParameter(
            "needs all records at once, and FILE is read in partitions", param_hint=flag
        )
    criterion = criterion or criteria[0]
    if criterion not in criteria:
        raise typer.BadParameter(
            f"{criterion} does not go with {flag}; take {' or '.join(criteria)}",
            param_hint="--criterion",
        )
    settings = asdict(growth)
    if regress and settings.pop("prior") != "k2":
        raise typer.BadParameter("is for labels, not with --regress", param_hint="--prior")
    return getattr(tacit, kind)(criterion, **settings, n_jobs=source.n_jobs)


@dataclass(frozen=True)
class _Records:
    """What a tree is grown or tested on: a table, or a frame with numbers as they are."""

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
            hint = did_you_mean(target, numbers.frame.columns)
            raise InputError(f"--target: {source.path} has no column {target!r}{hint}")
        return cls(numbers.frame, target, numbers.weights)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.X.shape[0])


def _fit(model: Any, records: _Records) -> None:
    try:
        model.fit(records.X, records.target, records.weights)
    except InputError as error:
        text = str(error).removeprefix("Unknown label type: ")
        if text.startswith(("y ", "y:")):
            text = f"--target {records.target!r}{text[1:]}"
        hint = ", with --discretise, or --regress" if "cut it into classes" in text else ""
        raise InputError(text + hint) from None


def _scores(model: Any, records: _Records) -> dict[str, Any]:
    """Return how well a model predicts records."""
    from tacit.metrics import evaluate

    common = None
    if hasattr(model, "classes_"):
        common = model.classes_[model.nodes_.counts[0].argmax()]
    X, y = records.X, records.target
    if not hasattr(X, "get_column"):
        return evaluate(model, X, y, baseline=common)
    missing = [name for name in model.feature_names_in_ if name not in X.columns]
    if missing:
        raise no_column("--test", missing[0], X.columns)
    features = X.select(list(model.feature_names_in_))
    return evaluate(model, features, X.get_column(y), records.weights, baseline=common)


def _print(
    model: Any, scores: dict[str, Any], seconds: float, rules: bool, levels: int | None
) -> None:
    console, depth = make_console(), model.depth_
    rows = [
        ("leaves", f"{model.n_leaves_:,}, at most {depth:,} question{'s' * (depth != 1)} deep"),
        ("columns asked about", f"{int((model.feature_importances_ != 0).sum()):,}"),
        *score_rows(scores["train"], "records"),
    ]
    if "test" in scores:
        rows += score_rows(scores["test"], "records of --test")
    put(console, facts_grid([*rows, ("time", f"{seconds:.2f} s")]))
    console.print()
    if rules:
        text = "\n".join(map(_rule_text, model.rules()))
    else:
        text = model.to_text(max_depth=levels or model.nodes_.readable_depth(_MOST_SHOWN))
    console.print(text, soft_wrap=True)


def _as_json(model: Any, target: str, scores: dict[str, Any]) -> dict[str, Any]:
    gains = zip(model.feature_names_in_, model.feature_importances_.tolist(), strict=True)
    return {
        "kind": type(model).__name__,
        "target": target,
        "leaves": model.n_leaves_,
        "depth": model.depth_,
        "gain": dict(sorted(((k, x) for k, x in gains if x > 0), key=lambda kx: -kx[1])),
        **scores,
        "rules": [
            {**vars(rule), "prediction": json_label(rule.prediction)} for rule in model.rules()
        ],
    }


def _rule_text(rule: LeafRule) -> str:
    """Return a rule; of the many ways to a leaf of a graph only some."""
    more = len(rule.conditions) - _MOST_WAYS
    if more <= 0:
        return str(rule)
    some = str(replace(rule, conditions=rule.conditions[:_MOST_WAYS]))
    return some.replace(" then ", f" or {more} other way{'s' * (more > 1)} then ", 1)


COMMAND = reads_file(tree, partitions=True)
