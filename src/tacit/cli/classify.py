"""``tacit classify``: classes of objects told by the objects that are near."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import polars as pl
import typer
from rich.table import Table as Grid

from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid
from tacit.cli.writing import FRAMES, check_target, write_frame
from tacit.errors import InputError
from tacit.metrics import classification_scores, confusion_matrix
from tacit.similarity import (
    NormalizedCutClassifier,
    SparseKNeighborsClassifier,
    SparseSVC,
    Tuning,
    tune,
)
from tacit.similarity.report.page import Confusion, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["COMMAND", "classify"]

_METHOD = "The method"
_GRID = "Projection and grid"
_WRITE = "What is written"
_MOST_SHOWN = 12  # classes of which a table says what was taken for what


def classify(
    source: Source,
    target: Annotated[str, typer.Option(help="The column that holds the classes.")],
    method: Annotated[
        Literal["knn", "snc", "ksnc", "svm"],
        typer.Option(
            help="Nearest neighbours, normalised cuts (with weights by similarity, or by "
            "neighbours), or support vectors."
        ),
    ] = "knn",
    tuned: Annotated[
        bool,
        typer.Option("--tune", help="Try many parameters on a quarter of the training objects."),
    ] = False,
    score: Annotated[
        Literal["accuracy", "f1"], typer.Option(help="What --tune decides by.")
    ] = "accuracy",
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE2", help="Other objects to test on, read as FILE is."),
    ] = None,
    test_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of objects to test on, drawn at random."),
    ] = 0.2,
    neighbours: Annotated[
        int | None, typer.Option(min=1, help="For knn and ksnc.", rich_help_panel=_METHOD)
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            help="How fast similarity falls with distance; for snc, ksnc and svm.",
            rich_help_panel=_METHOD,
        ),
    ] = None,
    balance: Annotated[
        float | None,
        typer.Option(
            help="What similarity within a class is worth; for snc and ksnc.",
            rich_help_panel=_METHOD,
        ),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(
            "--cost", "-C", help="The most an object counts; for svm.", rich_help_panel=_METHOD
        ),
    ] = None,
    normalise: Annotated[
        bool,
        typer.Option(
            "--normalise",
            help="Measure distances between columns scaled to [0, 1]; --tune tries both.",
            rich_help_panel=_METHOD,
        ),
    ] = False,
    resolution: Annotated[
        str,
        typer.Option(
            metavar="N|N,N,…|auto", help="Intervals in each dimension.", rich_help_panel=_GRID
        ),
    ] = "auto",
    dimensions: Annotated[
        str, typer.Option(metavar="N|auto", help="From 1 to 4.", rich_help_panel=_GRID)
    ] = "auto",
    projection: Annotated[
        Literal[
            "randomized_svd", "approximate_pca", "exact_pca", "randomized_pca", "gaussian", "none"
        ],
        typer.Option(help="How objects are projected.", rich_help_panel=_GRID),
    ] = "randomized_svd",
    delta: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Let one stand for objects of a class within this share of a block's width.",
            rich_help_panel=_GRID,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of random numbers.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT.csv",
            help="Write what was predicted for each test object; .parquet, .tsv and .arrow work, "
            "too.",
            rich_help_panel=_WRITE,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.html", help="Write a page about the classifier.", rich_help_panel=_WRITE
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.tacit",
            help="Save the model, for `tacit predict` and `tacit show`.",
            rich_help_panel=_WRITE,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Classify objects by those that are near, and say how well that works.

    Objects are projected to a few dimensions and compared only with those in the same block of a
    grid or in blocks that touch it. Numbers are taken as they are; of other columns, each label
    becomes a column of 0 and 1. Test objects take no part in tuning, nor in the model.

    JSON: an object with kind, target, classes, parameters (an object), training and test (numbers
    of objects), density (the share of pairs that are near), accuracy, f1, fallback (test objects
    without near ones), confusion (a list of lists: true classes by row, predicted ones by column),
    seconds (an object, by stage) and, with --tune, tuning (an object with combinations, score and
    best_score).
    """
    inputs = [source.path] + ([] if test is None else [test])
    check_target(output, "--output", FRAMES, *inputs)
    check_target(report, "--report", (".html", ".htm"), *inputs)
    check_target(save, "--save", (".tacit",), *inputs)
    clock = _Clock()
    given = {"n_neighbors": neighbours, "scale": scale, "balance": balance, "C": cost}
    model = _make(
        method, given, resolution=_resolution(resolution), n_dimensions=_dimensions(dimensions),
        projection=projection, normalize=normalise, group_width=delta, random_state=seed,
        n_jobs=source.n_jobs,
    )  # fmt: skip
    train, held_out = _read(source, target, test, test_share, seed)
    clock.note("reading")
    found, tuning = _fit(model, train, score if tuned else None, seed, clock)
    with working(f"classifying {len(held_out.y):,} objects"):
        predicted = found.predict(held_out.X)
    clock.note("predicting")
    outcome = _Outcome.of(found, train, held_out, predicted)
    facts = _facts(found, method, train, outcome, tuning, clock)
    if output is not None:
        write_frame(_predictions(held_out, predicted, target), output)
    if save is not None:
        with working(f"writing {save}"):
            found.save(save)
    if report is not None:
        title = f"{target} of {source.path.name}"
        confusion = Confusion(outcome.labels, outcome.confusion)
        report.write_text(page(title, facts, found, confusion, tuning), "utf-8")
    if json:
        print_json(_as_json(found, target, train, outcome, tuning, clock))
        return
    console = make_console()
    put(console, facts_grid(facts))
    if len(outcome.names) <= _MOST_SHOWN:
        console.print()
        put(console, _confusion_grid(outcome))
    if written := [str(path) for path in (output, report, save) if path is not None]:
        console.print(f"\nwritten: {', '.join(written)}", soft_wrap=True)


@dataclass(frozen=True)
class _Part:
    """Objects and their classes; `rows` are their numbers in the file."""

    X: Any
    y: NDArray[Any]
    rows: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> _Part:
        X = self.X[rows] if isinstance(self.X, pl.DataFrame) else self.X.take(rows)
        return _Part(X, self.y[rows], self.rows[rows])


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


def _make(method: str, given: dict[str, Any], **shared: Any) -> Any:
    """Return the classifier, after a look at options that are not for it."""
    uses: dict[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
        "knn": (SparseKNeighborsClassifier, ("n_neighbors",), {}),
        "snc": (NormalizedCutClassifier, ("scale", "balance"), {}),
        "ksnc": (
            NormalizedCutClassifier,
            ("scale", "balance", "n_neighbors"),
            {"node_weights": "neighbours"},
        ),
        "svm": (SparseSVC, ("scale", "C"), {}),
    }
    kind, names, fixed = uses[method]
    options = {"n_neighbors": "--neighbours", "C": "--cost"}
    own = {}
    for name, value in given.items():
        if value is None:
            continue
        if name not in names:
            option = options.get(name, f"--{name}")
            raise typer.BadParameter(f"is not for --method {method}", param_hint=option)
        own[name] = value
    return kind(**own, **fixed, **shared)


def _resolution(text: str) -> int | list[int] | Literal["auto"]:
    if text == "auto":
        return "auto"
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise typer.BadParameter(
            f"{text!r} is neither auto nor whole numbers of at least 1", param_hint="--resolution"
        )
    numbers = [int(part) for part in parts]
    return numbers[0] if len(numbers) == 1 else numbers


def _dimensions(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if text not in ("1", "2", "3", "4"):
        raise typer.BadParameter(
            f"{text!r} is neither auto nor a number from 1 to 4", param_hint="--dimensions"
        )
    return int(text)


def _read(
    source: Source, target: str, test: Path | None, share: float, seed: int
) -> tuple[_Part, _Part]:
    """Return training and test objects."""
    part = _read_part(source, target)
    if test is not None:
        other = _read_part(replace(source, path=test), target)
        if isinstance(part.X, pl.DataFrame):
            lost = [name for name in part.X.columns if name not in other.X.columns]
            if lost:
                raise InputError(f"--test: {test} has no column {lost[0]!r}")
            other = _Part(other.X.select(part.X.columns), other.y, other.rows)
        return part, other
    n = len(part.y)
    n_test = round(share * n)
    if not 0 < n_test < n:
        raise InputError(
            f"--test-share: {share:g} of {n:,} objects leaves none to learn from or test"
        )
    drawn = np.random.default_rng(seed).permutation(n)
    return part.take(np.sort(drawn[n_test:])), part.take(np.sort(drawn[:n_test]))


def _read_part(source: Source, target: str) -> _Part:
    if "weights" in source.options:
        raise InputError("--weights: objects are compared one by one; weights are not for them")
    numbers = source.read_numbers()
    if numbers is None:
        table = source.without_idle_target().read()
        place = table.schema.position(target, "--target")
        others = [name for k, name in enumerate(table.schema.names) if k != place]
        items = np.array([*table.schema[target].labels, None], object)[:-1]
        labels = items[table.codes(target)]
        X: Any = table.select(others)
    else:
        if target not in numbers.frame.columns:
            raise InputError(
                f"--target: {source.path} has no column {target!r}{_separator_hint(numbers.frame)}"
            )
        labels = numbers.frame.get_column(target).to_numpy()
        X = numbers.frame.drop(target)
        _refuse_missing(X)
    lost = pl.Series(labels.tolist(), strict=False).is_null()
    if lost.any():
        row = int(lost.arg_max() or 0)
        raise InputError(f"--target {target!r}: the class of record {row} is missing")
    return _Part(X, labels, np.arange(len(labels)))


def _separator_hint(frame: pl.DataFrame) -> str:
    """Return what to try where a whole line was taken for one value."""
    held = [mark for mark in (";", "\t", "|") if mark in frame.columns[0]]
    if frame.width > 1 or not held:
        return ""
    name = "tab" if held[0] == "\t" else held[0]
    return f"; it has one column only: try --separator '{name}'"


def _refuse_missing(frame: pl.DataFrame) -> None:
    for series in frame.iter_columns():
        if not series.dtype.is_numeric():
            continue
        lost = series.is_null() | (series.is_nan() if series.dtype.is_float() else False)
        if lost.any():
            raise InputError(
                f"column {series.name!r}: the number of record {int(lost.arg_max() or 0)} is "
                "missing, and distances need all of them; fill them in, remove such records, or "
                "cut numbers into bins with --discretise: what is missing is a bin of its own"
            )


def _fit(
    model: Any, train: _Part, score: str | None, seed: int, clock: _Clock
) -> tuple[Any, Tuning | None]:
    """Fit or tune; warnings go to stderr, a line each."""
    n = len(train.y)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        if score is None:
            with working(f"learning from {n:,} objects"):
                found, tuning = model.fit(train.X, train.y), None
            clock.note("fitting")
        else:
            shown = make_console().is_terminal
            tuning = tune(
                model, train.X, train.y, scoring=score, sizes=(0.75, 0.25, 0.0),  # type: ignore[arg-type]
                random_state=seed, verbose=shown,
            )  # fmt: skip
            found = tuning.best_estimator
            clock.note("tuning and fitting")
            clock.seconds["tuning"] = tuning.seconds["combinations"]
            clock.seconds["fitting"] = clock.seconds.pop("tuning and fitting")
            clock.seconds["fitting"] -= clock.seconds["tuning"]
    for text in dict.fromkeys(str(note.message) for note in noted):
        typer.echo(f"warning: {text}", err=True)
    return found, tuning


@dataclass(frozen=True)
class _Outcome:
    """How well test objects were classified."""

    n: int
    accuracy: float
    f1: float
    majority: float
    names: list[str]
    labels: list[Any]
    confusion: NDArray[np.int64]

    @classmethod
    def of(cls, model: Any, train: _Part, test: _Part, predicted: NDArray[Any]) -> _Outcome:
        labels, confusion = confusion_matrix(test.y, predicted, model.classes_.tolist())
        common = max(model.classes_.tolist(), key=train.y.tolist().count)
        scores = classification_scores(test.y, predicted, classes=labels, baseline=common)
        return cls(
            len(test.y),
            scores["accuracy"],
            scores["f1"],
            scores["majority"],
            [str(label) for label in labels],
            labels,
            confusion,
        )


def _parameters(model: Any, method: str) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that make a difference."""
    names = {
        "knn": ("n_neighbors",),
        "snc": ("scale", "balance"),
        "ksnc": ("scale", "balance", "n_neighbors"),
        "svm": ("scale", "C"),
    }
    for name in (*names[method], "normalize"):
        yield name, getattr(model, name)


def _facts(
    model: Any, method: str, train: _Part, outcome: _Outcome, tuning: Tuning | None, clock: _Clock
) -> list[tuple[str, str]]:
    sc = model.computation_
    sides = " x ".join(map(str, sc.grid_.resolution))
    chosen = ", ".join(f"{name} {value}" for name, value in _parameters(model, method))
    rows = [
        ("method", f"{type(model).__name__}: {chosen}"),
        ("objects", f"{len(train.y):,} to learn from, {outcome.n:,} to test on"),
        ("grid", f"{sides}; {sc.n_pairs_:,} near pairs, {100 * sc.density_:.3g}% of all"),
    ]
    if tuning is not None:
        rows.append(
            (
                "tuning",
                f"{tuning.frame.height:,} combinations; {tuning.scoring} of the best "
                f"{tuning.best_score:.2%}",
            )
        )
    times = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in clock.seconds.items())
    return [
        *rows,
        (
            "accuracy",
            f"{outcome.accuracy:.2%} (the commonest class: {outcome.majority:.2%})",
        ),
        ("F1", f"{outcome.f1:.2%}"),
        ("without near objects", f"{model.n_fallback_:,}"),
        ("time", times),
    ]


def _confusion_grid(outcome: _Outcome) -> Grid:
    grid = Grid(box=None, pad_edge=False, title=None)
    grid.add_column("is \\ taken for")
    for name in outcome.names:
        grid.add_column(name, justify="right")
    for name, row in zip(outcome.names, outcome.confusion.tolist(), strict=True):
        grid.add_row(name, *(f"{count:,}" for count in row))
    return grid


def _predictions(test: _Part, predicted: NDArray[Any], target: str) -> pl.DataFrame:
    name = "prediction" if target != "prediction" else "predicted"
    return pl.DataFrame(
        {"record": test.rows, target: test.y.tolist(), name: predicted.tolist()}, strict=False
    )


def _as_json(
    model: Any,
    target: str,
    train: _Part,
    outcome: _Outcome,
    tuning: Tuning | None,
    clock: _Clock,
) -> dict[str, Any]:
    known = ("n_neighbors", "scale", "balance", "C", "normalize", "node_weights")
    parameters = model.get_params()
    found = {
        "kind": type(model).__name__,
        "target": target,
        "classes": [json_label(label) for label in outcome.labels],
        "parameters": {name: parameters[name] for name in known if name in parameters}
        | {"resolution": list(model.computation_.grid_.resolution)},
        "training": len(train.y),
        "test": outcome.n,
        "density": float(model.computation_.density_),
        "accuracy": outcome.accuracy,
        "f1": outcome.f1,
        "fallback": int(model.n_fallback_),
        "confusion": outcome.confusion.tolist(),
        "seconds": clock.seconds,
    }
    if tuning is not None:
        found["tuning"] = {
            "combinations": tuning.frame.height,
            "score": tuning.scoring,
            "best_score": tuning.best_score,
        }
    return found


COMMAND = reads_file(classify)
