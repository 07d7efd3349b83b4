"""``tacit classify``: any classifier of the package, tested on records that it has not seen."""

from __future__ import annotations

import json as texts
import warnings
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.labelled import Labelled
from tacit.cli.options import Json, Outputs, RandomState, Target, Test, TestFraction
from tacit.cli.output import echo, json_label, make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import confusion_grid, facts_grid
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from tacit.similarity import Tuning

__all__ = ["COMMAND", "classify"]

_method_option = partial(typer.Option, rich_help_panel="The method")
_grid_option = partial(
    typer.Option, rich_help_panel="Projection and grid of knn, snc, ksnc and svm"
)
_ENDINGS = (".tacit", ".html", *PICTURES, *FRAMES)
_MOST_SHOWN = 12  # classes of which the confusion matrix is printed
_CLASSIFIERS: dict[str, tuple[str, dict[str, Any]]] = {
    "knn": ("SparseKNeighborsClassifier", {}),
    "snc": ("NormalizedCutClassifier", {}),
    "ksnc": ("NormalizedCutClassifier", {"node_weights": "neighbours"}),
    "svm": ("SparseSVC", {}),
    "tree": ("DecisionTreeClassifier", {}),
    "graph": ("DecisionGraphClassifier", {}),
    "rules": ("BoostedRulesClassifier", {}),
    "covering": ("CoveringRulesClassifier", {}),
}
_SHOWN = {"knn": ("n_neighbors",), "snc": ("scale", "balance"), "svm": ("scale", "C")}
_SHOWN["ksnc"] = (*_SHOWN["snc"], "n_neighbors")

Method = Annotated[
    Literal["knn", "snc", "ksnc", "svm", "tree", "graph", "rules", "covering"],
    typer.Option(
        help="Nearest neighbours, normalised cuts (with weights by similarity, or by neighbours), "
        "support vectors, a decision tree or graph, boosted or covering rules."
    ),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Try many parameters on a quarter of the training records; for knn, snc, ksnc, svm.",
    ),
]
Scoring = Annotated[Literal["accuracy", "f1"], typer.Option(help="What --tune decides by.")]
Parameter = Annotated[
    list[str] | None,
    _method_option(
        "--parameter",
        "-p",
        metavar="NAME=VALUE",
        help="Any parameter of the classifier, such as max_depth=5; can be repeated.",
    ),
]
NNeighbors = Annotated[int | None, _method_option(min=1, help="For knn and ksnc.")]
Scale = Annotated[
    float | None,
    _method_option(help="How fast similarity falls with distance; for snc, ksnc and svm."),
]
Balance = Annotated[
    float | None, _method_option(help="What similarity within a class is worth; for snc and ksnc.")
]
Cost = Annotated[
    float | None, _method_option("--C", "-C", help="The most an object counts; for svm.")
]
Normalize = Annotated[
    bool,
    _grid_option(
        "--normalize", help="Measure distances between columns scaled to [0, 1]; --tune tries both."
    ),
]
Resolution = Annotated[
    str | None, _grid_option(metavar="N|N,N,…|auto", help="Intervals in each dimension.")
]
NDimensions = Annotated[str | None, _grid_option(metavar="N|auto", help="From 1 to 4.")]
Projection = Annotated[
    Literal["randomized_svd", "approximate_pca", "exact_pca", "randomized_pca", "gaussian", "none"]
    | None,
    _grid_option(help="How objects are projected."),
]
GroupWidth = Annotated[
    float | None,
    _grid_option(
        min=0,
        max=1,
        help="Let one stand for objects of a class within this fraction of a block's width.",
    ),
]


def classify(
    source: Source,
    target: Target,
    method: Method = "knn",
    tune: Tune = False,
    scoring: Scoring = "accuracy",
    test: Test = None,
    test_fraction: TestFraction = 0.2,
    parameter: Parameter = None,
    n_neighbors: NNeighbors = None,
    scale: Scale = None,
    balance: Balance = None,
    C: Cost = None,
    normalize: Normalize = False,
    resolution: Resolution = None,
    n_dimensions: NDimensions = None,
    projection: Projection = None,
    group_width: GroupWidth = None,
    random_state: RandomState = 0,
    output: Outputs = None,
    json: Json = False,
) -> None:
    """Fit a classifier of any kind, and say how well it predicts records that it has not seen.

    With knn, snc, ksnc and svm, objects are projected to a few dimensions and compared only with
    those in the same block of a grid or in blocks that touch it. Numbers are taken as they are; of
    other columns, each label becomes a column of 0 and 1. Test records take no part in tuning, nor
    in the model.

    Output: the model (.tacit), a page (.html), a picture (.svg, .png, .pdf), or the predictions of
    the test records (.csv, .parquet, …).

    JSON: an object with kind, target, classes, parameters (an object), training and test (numbers
    of records), accuracy, f1, confusion (a list of lists: classes by row, predicted classes by
    column), seconds (an object, by stage), for knn, snc, ksnc and svm also density (the fraction of
    pairs that are near) and fallback (test objects without near ones), and, with --tune, tuning (an
    object with combinations, scoring and best_score).

    Example: `tacit classify letter.csv --target letter --method knn --n-neighbors 3 -o page.html`
    """
    given = {
        "n_neighbors": n_neighbors, "scale": scale, "balance": balance, "C": C,
        "normalize": normalize or None, "resolution": _resolution(resolution),
        "n_dimensions": _dimensions(n_dimensions), "projection": projection,
        "group_width": group_width,
    }  # fmt: skip
    outputs = check_outputs(output, _ENDINGS, source.path, test)
    model = _classifier(method, given, parameter or [], random_state, source.n_jobs)
    if tune and method not in _SHOWN:
        raise typer.BadParameter(f"is not for --method {method}", param_hint="--tune")
    clock = _Clock()
    train, held_out = _read(source, model, target, test, test_fraction, random_state)
    clock.note("reading")
    model, tuning = _fit(model, train, scoring if tune else None, random_state, clock)
    with working(f"classifying {held_out.n_records:,} records"):
        result = _Result.of(model, train, held_out)
    clock.note("predicting")
    facts = _facts(model, method, train, result, tuning, clock)
    title = f"{target} of {source.path.name}"
    for path in outputs:
        write_model(
            model, path, frame=lambda: result.predictions(held_out, target),
            page=lambda: _page(model, title, facts, result, tuning),
        )  # fmt: skip
    if json:
        print_json(_as_json(model, target, train, result, tuning, clock))
        return
    console = make_console()
    put(console, facts_grid(facts))
    if len(result.labels) <= _MOST_SHOWN:
        console.print()
        put(console, confusion_grid(result.labels, result.confusion))
    print_written(console, outputs)


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()

    def note(self, stage: str) -> None:
        """End a stage."""
        now = perf_counter()
        self.seconds[stage] = now - self._since
        self._since = now


def _classifier(
    method: str, given: dict[str, Any], texts: list[str], random_state: int, n_jobs: int
) -> Any:
    """Return the classifier, after a look at options that are not for it."""
    name, fixed = _CLASSIFIERS[method]
    model = getattr(tacit, name)(**fixed)
    known = model.get_params()
    for option, value in given.items():
        if value is not None and (option not in known or not _used(method, option)):
            hint = f"--{option.replace('_', '-')}"
            raise typer.BadParameter(f"is not for --method {method}", param_hint=hint)
    always = {"random_state": random_state, "n_jobs": n_jobs}
    settings = {k: x for k, x in (given | always).items() if x is not None and k in known}
    return model.set_params(**settings, **_parse_parameters(texts, known, name))


def _used(method: str, option: str) -> bool:
    """Return whether a method of similarity makes use of an option that its class has."""
    return method != "snc" or option != "n_neighbors"


def _parse_parameters(given: list[str], known: dict[str, Any], name: str) -> dict[str, Any]:
    """Read texts like ``max_depth=5``; values are JSON, or plain text."""
    settings = {}
    for text in given:
        parameter, equals, value = text.partition("=")
        if not equals or parameter not in known:
            names = ", ".join(sorted(known))
            raise typer.BadParameter(
                f"{text!r} is not NAME=VALUE with a parameter of {name}: {names}",
                param_hint="--parameter",
            )
        try:
            settings[parameter] = texts.loads(value)
        except ValueError:
            settings[parameter] = value
    return settings


def _resolution(text: str | None) -> int | list[int] | str | None:
    if text is None or text == "auto":
        return text
    numbers = text.split(",")
    if not all(number.strip().isdecimal() and int(number) > 0 for number in numbers):
        raise typer.BadParameter(
            f"{text!r} is neither auto nor whole numbers of at least 1", param_hint="--resolution"
        )
    return int(text) if len(numbers) == 1 else [int(number) for number in numbers]


def _dimensions(text: str | None) -> int | str | None:
    if text is None or text == "auto":
        return text
    if text not in ("1", "2", "3", "4"):
        raise typer.BadParameter(
            f"{text!r} is neither auto nor a number from 1 to 4", param_hint="--n-dimensions"
        )
    return int(text)


def _read(
    source: Source, model: Any, target: str, test: Any, fraction: float, random_state: int
) -> tuple[Labelled, Labelled]:
    """Return training and test records."""
    records = _read_file(source, model, target)
    if test is None:
        return records.split(fraction, random_state)
    other = _read_file(replace(source, path=test), model, target)
    return records, other.with_columns_of(records, test)


def _read_file(source: Source, model: Any, target: str) -> Labelled:
    if "weights" in source.options:
        raise InputError("--weights: records are compared one by one; weights are not for them")
    records = Labelled.of(source, [target])
    missing = records.y.is_null()
    if missing.any():
        row = int(missing.arg_max() or 0)
        raise InputError(f"--target {target!r}: the class of record {row} is missing")
    _refuse_missing(model, records.X)
    return records


def _fit(
    model: Any, train: Labelled, scoring: Any, random_state: int, clock: _Clock
) -> tuple[Any, Tuning | None]:
    """Fit or tune; warnings go to stderr, a line each."""
    X, y, tuning = train.X, train.y.to_numpy(), None
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        if scoring is None:
            with working(f"learning from {train.n_records:,} records"):
                model.fit(X, y)
            clock.note("fitting")
        else:
            tuning = tacit.tune(
                model, X, y, scoring=scoring, sizes=(0.75, 0.25, 0.0), random_state=random_state,
                verbose=int(make_console().is_terminal),
            )  # fmt: skip
            model = tuning.best_estimator
            clock.note("fitting")
            clock.seconds["tuning"] = tuning.seconds["combinations"]
            clock.seconds["fitting"] -= clock.seconds["tuning"]
    for text in dict.fromkeys(str(note.message) for note in noted):
        echo(f"warning: {text}", err=True)
    return model, tuning


def _refuse_missing(model: Any, X: Any) -> None:
    """Refuse missing numbers where distances are measured."""
    if not hasattr(model, "projection") or not hasattr(X, "iter_columns"):
        return
    for series in X.iter_columns():
        if not series.dtype.is_numeric():
            continue
        missing = series.is_null() | (series.is_nan() if series.dtype.is_float() else False)
        if missing.any():
            raise InputError(
                f"column {series.name!r}: the number of record {int(missing.arg_max() or 0)} is "
                "missing, and distances need all of them; fill them in, remove such records, or "
                "cut numbers into bins with --discretise: what is missing is a bin of its own"
            )


@dataclass(frozen=True)
class _Result:
    """How well test records were classified."""

    predicted: Any
    scores: dict[str, Any]
    labels: list[Any]
    confusion: Any

    @classmethod
    def of(cls, model: Any, train: Labelled, test: Labelled) -> _Result:
        from tacit.metrics import classification_scores, confusion_matrix

        predicted = model.predict(test.X)
        y = test.y.to_numpy()
        labels, confusion = confusion_matrix(y, predicted, model.classes_.tolist())
        common = max(model.classes_.tolist(), key=train.y.to_list().count)
        scores = classification_scores(y, predicted, classes=labels, baseline=common)
        return cls(predicted, scores, labels, confusion)

    def predictions(self, test: Labelled, target: str) -> pl.DataFrame:
        """Return a row for each test record."""
        import polars as pl

        name = "prediction" if target != "prediction" else "predicted"
        columns = {"record": test.rows, target: test.y, name: self.predicted.tolist()}
        return pl.DataFrame(columns, strict=False)


def _page(model: Any, title: str, facts: Any, result: _Result, tuning: Tuning | None) -> str:
    if not hasattr(model, "computation_"):
        page: str = model.to_html()
        return page
    from tacit.similarity.report.page import page as report

    return report(title, facts, model, (result.labels, result.confusion), tuning)


def _shown_parameters(model: Any, method: str) -> Iterator[str]:
    """Yield the parameters that make a difference."""
    for name in (*_SHOWN.get(method, ()), *(("normalize",) if method in _SHOWN else ())):
        found = getattr(model, f"{name}_", None)  # what "auto" has come to
        yield f"{name} {getattr(model, name) if found is None else format(found, '.4g')}"


def _facts(
    model: Any, method: str, train: Labelled, result: _Result, tuning: Tuning | None, clock: _Clock
) -> list[tuple[str, str]]:
    scores, chosen = result.scores, ", ".join(_shown_parameters(model, method))
    rows = [
        ("method", f"{type(model).__name__}{': ' * bool(chosen)}{chosen}"),
        ("records", f"{train.n_records:,} to learn from, {len(result.predicted):,} to test on"),
    ]
    if hasattr(model, "computation_"):
        near = model.computation_
        sides = " x ".join(map(str, near.grid_.resolution))
        pairs = f"{near.n_pairs_:,} near pairs, {100 * near.density_:.3g}% of all"
        rows.append(("grid", f"{sides}; {pairs}"))
    if tuning is not None:
        best = f"{tuning.scoring} of the best {tuning.best_score:.2%}"
        rows.append(("tuning", f"{tuning.frame.height:,} combinations; {best}"))
    common = f"(most common class: {scores['majority']:.2%})"
    rows += [("accuracy", f"{scores['accuracy']:.2%} {common}"), ("F1", f"{scores['f1']:.2%}")]
    if hasattr(model, "n_fallback_"):
        rows.append(("without near objects", f"{model.n_fallback_:,}"))
    times = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in clock.seconds.items())
    return [*rows, ("time", times)]


def _as_json(
    model: Any, target: str, train: Labelled, result: _Result, tuning: Tuning | None, clock: _Clock
) -> dict[str, Any]:
    named = ("n_neighbors", "scale", "balance", "C", "normalize", "node_weights")
    parameters = model.get_params()
    printed: dict[str, Any] = {
        "kind": type(model).__name__,
        "target": target,
        "classes": [json_label(label) for label in result.labels],
        "parameters": {name: parameters[name] for name in named if name in parameters},
        "training": train.n_records,
        "test": len(result.predicted),
        "accuracy": result.scores["accuracy"],
        "f1": result.scores["f1"],
        "confusion": result.confusion.tolist(),
        "seconds": clock.seconds,
    }
    if hasattr(model, "computation_"):
        printed["parameters"]["resolution"] = list(model.computation_.grid_.resolution)
        printed["density"] = float(model.computation_.density_)
        printed["fallback"] = int(model.n_fallback_)
    if tuning is not None:
        printed["tuning"] = {
            "combinations": tuning.frame.height,
            "scoring": tuning.scoring,
            "best_score": tuning.best_score,
        }
    return printed


COMMAND = reads_file(classify)
