"""``tacit dependency-tree``: the tree that joins the columns which tell most of each other."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.options import Json, Outputs, RandomState, Test, Top, written_option
from tacit.cli.output import make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import edges_grid, facts_grid, likelihood_rows
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.network import DependencyTree

__all__ = ["COMMAND", "dependency_tree"]

_tree_option = partial(typer.Option, rich_help_panel="How the tree is found")
_ENDINGS = (".tacit", ".html", *PICTURES, ".dot", *FRAMES)
_ON_DISK = (".parquet", ".pq", ".arrow", ".ipc", ".feather")
_LARGE = 256_000_000  # bytes of a file from which on it is read in parts
_SETTINGS = {"missing='ignore'": "--ignore-missing", "algorithm='exact'": "--algorithm exact"}


Text = Annotated[bool, written_option("--text", help="Print all of the tree, indented.")]
Algorithm = Annotated[
    Literal["auto", "exact", "mist"],
    _tree_option(
        help="Read all records for all pairs (exact), or as many as decisions take (mist)."
    ),
]
Delta = Annotated[
    float, _tree_option(help="With mist: the probability of another tree than the exact one.")
]
Epsilon = Annotated[
    float,
    _tree_option(
        help="With mist: edges that would improve the tree by less may be passed over (nats)."
    ),
]
InitialSample = Annotated[int, _tree_option(help="With mist: records that are read first.")]
Interval = Annotated[
    Literal["clt", "hoeffding"],
    _tree_option(
        help="With mist: intervals by the central limit theorem or Hoeffding's inequality."
    ),
]
IgnoreMissing = Annotated[
    bool,
    _tree_option(
        "--ignore-missing",
        help="Leave missing values out, pair by pair, instead of a label of their own.",
    ),
]
Smoothing = Annotated[
    float, _tree_option(help="Pseudo-records, spread over the cells of each pair.")
]


def dependency_tree(
    source: Source,
    test: Test = None,
    top: Top = 20,
    text: Text = False,
    output: Outputs = None,
    algorithm: Algorithm = "auto",
    delta: Delta = 1e-3,
    epsilon: Epsilon = 0.0,
    initial_sample: InitialSample = 5000,
    interval: Interval = "clt",
    ignore_missing: IgnoreMissing = False,
    smoothing: Smoothing = 1.0,
    random_state: RandomState = 0,
    json: Json = False,
) -> None:
    """Find the tree over the columns whose neighbours tell most of each other.

    Of all trees, the records are most probable under this one. The weight of an edge is the mutual
    information of its two columns in nats.

    Output: the model (.tacit), a page (.html), a picture (.svg, .png, .pdf, .dot), or the edges
    (.csv, .parquet, …).

    JSON: an object with columns, records_read, edge_usage (fraction of record-pairs that was read),
    edges (a list of objects with from, to, weight, low and high, the heaviest first; null is
    infinite), parameters (how many there are) and log_likelihood (an object: train and, with
    --test, test; the mean over the records; no train where the file was read in parts).

    Example: `tacit dependency-tree visits.csv --top 10 -o tree.svg`
    """
    outputs = check_outputs(output, _ENDINGS, source.path, test)
    tree = tacit.DependencyTree(
        algorithm, delta=delta, epsilon=epsilon, initial_sample=initial_sample, interval=interval,
        missing="ignore" if ignore_missing else "state",
        smoothing=smoothing, random_state=random_state, n_jobs=source.n_jobs,
    )  # fmt: skip
    records, weights = _records(source, algorithm)
    start = perf_counter()
    _fit(tree, records, weights)
    seconds = perf_counter() - start
    scores = _scores(tree, source, records, weights, test)
    for path in outputs:
        write_model(tree, path)
    if json:
        print_json(_as_json(tree, top, scores))
        return
    console = make_console()
    put(console, facts_grid(_facts(tree, scores, seconds)))
    console.print()
    if text:
        console.print(tree.to_text(), soft_wrap=True)
    else:
        put(console, edges_grid(tree.to_frame().head(top)))
    print_written(console, outputs)


def _records(source: Source, algorithm: str) -> tuple[Any, Any]:
    """Return what to fit: the file itself if it is to be read in parts, a frame, or a Table."""
    if source.partitioned:
        return source.read_table(), None
    plain = not set(source.options) - {"n_jobs"}
    on_disk = plain and source.path.suffix.lower() in _ON_DISK and source.path.is_file()
    if on_disk and (algorithm == "mist" or source.path.stat().st_size > _LARGE):
        return source.path, None
    numbers = source.read_numbers()
    if numbers is None:
        return source.read(), None
    return numbers.frame, numbers.weights


def _fit(tree: DependencyTree, records: Any, weights: Any) -> None:
    with working("finding the tree"):
        try:
            tree.fit(records, sample_weight=weights)
        except InputError as error:
            text = str(error)
            for argument, option in _SETTINGS.items():
                text = text.replace(argument, option)
            raise InputError(text) from None


def _scores(
    tree: DependencyTree, source: Source, records: Any, weights: Any, test: Path | None
) -> dict[str, float]:
    """Return the mean log-likelihood of the records, unless they are read in parts."""
    scores = {}
    with working("scoring"):
        if not isinstance(records, type(source.path)):
            scores["train"] = _mean(tree, records, weights)
        if test is not None:
            scores["test"] = _mean(tree, *_records(replace(source, path=test), "exact"))
    return scores


def _mean(tree: DependencyTree, records: Any, weights: Any) -> float:
    if weights is None:
        return tree.score(records)
    return float((tree.score_samples(records) * weights).sum() / weights.sum())


def _facts(tree: DependencyTree, scores: dict[str, float], seconds: float) -> list[tuple[str, str]]:
    numbers = tree.n_features_in_ - len(tree.schema_ or ())
    rows = [
        ("columns", f"{tree.n_features_in_:,}" + (f", {numbers:,} of numbers" if numbers else "")),
        ("records read", f"{tree.n_read_:,}, {tree.edge_usage_:.2%} of all pairs"),
        ("weight", f"{float(tree.weights_.sum()):,.4f} nats"),
        ("parameters", f"{tree.n_parameters_:,}"),
    ]
    return [*rows, *likelihood_rows(scores), ("time", f"{seconds:.2f} s")]


def _as_json(tree: DependencyTree, top: int, scores: dict[str, float]) -> dict[str, Any]:
    edges = [
        {name: _finite(x) if isinstance(x, float) else x for name, x in row.items()}
        for row in tree.to_frame().head(top).to_dicts()
    ]
    return {
        "columns": tree.n_features_in_,
        "records_read": tree.n_read_,
        "edge_usage": tree.edge_usage_,
        "edges": edges,
        "parameters": tree.n_parameters_,
        "log_likelihood": {name: _finite(x) for name, x in scores.items()},
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


COMMAND = reads_file(dependency_tree, partitions=True)
