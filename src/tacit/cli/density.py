"""``tacit density``: a mixture of dependency trees, shown, asked and tested."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.answers import Query, answer_json, print_answers
from tacit.cli.bayes_net_texts import parse_query
from tacit.cli.options import Json, Outputs, RandomState, Test, Top, written_option
from tacit.cli.output import make_console, print_json, print_written, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import edges_grid, facts_grid, likelihood_rows
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_frame, write_model
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.density import TreeMixture
    from tacit.network import Distribution

__all__ = ["COMMAND", "density"]

_mixture_option = partial(typer.Option, rich_help_panel="How the mixture is found")
_ENDINGS = (".tacit", ".html", *PICTURES, ".dot", *FRAMES)

Clusters = Annotated[
    int | None,
    _mixture_option(
        "--n-clusters", "-k", min=1, help="How many clusters; without it, as many as help."
    ),
]
Trees = Annotated[
    Literal["shared", "separate"],
    _mixture_option(help="One tree for all clusters, or one for each."),
]
Members = Annotated[
    int,
    _mixture_option(
        "--n-estimators",
        min=1,
        help="How many mixtures to average: better on new records, but harder to read.",
    ),
]
Validation = Annotated[
    str,
    _mixture_option(
        metavar="FRACTION|FILE2",
        help="Records that choose clusters and smoothing: a fraction of FILE, or another file, "
        "read as FILE is; none for the approximate marginal likelihood.",
    ),
]
Smoothing = Annotated[
    float | None,
    _mixture_option(min=0, help="Records that the prior is worth; without it, several are tried."),
]
NoPrune = Annotated[
    bool, _mixture_option("--no-prune", help="Keep edges that do not pay for their parameters.")
]
JointLabels = Annotated[
    int | None,
    _mixture_option(
        "--max-joint-labels",
        min=1,
        help="Labels of columns that are taken together, at most: 1 takes none together; without "
        "it, several are tried.",
    ),
]
Splits = Annotated[
    int | None,
    _mixture_option(
        min=0,
        help="How often clusters are divided in two on the way to their number; without it, "
        "several are tried.",
    ),
]
InverseTemperature = Annotated[
    float | None,
    _mixture_option(
        "--inverse-temperature",
        min=0,
        max=1,
        help="Below 1, EM divides records among clusters more evenly than the model says; without "
        "it, several are tried.",
    ),
]
MaxClusters = Annotated[int, _mixture_option(min=1, help="Clusters to try, at most.")]
MaxIter = Annotated[int, _mixture_option(min=1, help="Passes of EM, at most.")]
IgnoreMissing = Annotated[
    bool,
    _mixture_option(
        "--ignore-missing",
        help="Missing values are no label of their own: what they could be is summed over.",
    ),
]
Draw = Annotated[
    int | None,
    written_option(min=1, help="Draw so many records, for a file such as -o drawn.csv."),
]


def density(
    source: Source,
    query: Query = None,
    test: Test = None,
    top: Top = 20,
    draw: Draw = None,
    output: Outputs = None,
    n_clusters: Clusters = None,
    trees: Trees = "shared",
    n_estimators: Members = 1,
    validation: Validation = "0.1",
    smoothing: Smoothing = None,
    no_prune: NoPrune = False,
    max_joint_labels: JointLabels = None,
    splits: Splits = None,
    inverse_temperature: InverseTemperature = None,
    max_clusters: MaxClusters = 1024,
    max_iter: MaxIter = 200,
    ignore_missing: IgnoreMissing = False,
    random_state: RandomState = 0,
    json: Json = False,
) -> None:
    """Learn how probable records are: a mixture of dependency trees.

    Clusters say which records are alike, trees which columns go together within them. Listed are
    the edges, by the mutual information of their columns given the cluster, and how large the
    clusters are whose tree has them.

    Output: the model (.tacit), a page (.html), a picture (.svg, .png, .pdf, .dot), the edges or,
    with --draw, records that were drawn (.csv, .parquet, …).

    JSON: an object with columns, clusters, trees, smoothing, parameters, edges (a list of objects
    with from, to, weight and clusters, the heaviest first), selection (what was tried),
    log_likelihood (an object: train and, with --test, test; the mean over records) and answers, as
    `tacit bayes-net` prints them.

    Example: `tacit density visits.csv --test new.csv --query 'scores | sports=yes' -o trees.svg`
    """
    outputs = check_outputs(output, _ENDINGS, source.path, test)
    if draw is not None and not any(path.suffix.lower() in FRAMES for path in outputs):
        raise InputError("--draw: say where records go, as in -o drawn.csv")
    records = source.read_table()
    mix = tacit.TreeMixture(
        n_clusters or "auto", trees=trees, n_estimators=n_estimators,
        validation=_validation(validation, source),
        smoothing="auto" if smoothing is None else smoothing, prune=not no_prune,
        max_joint_labels=max_joint_labels or "auto", splits="auto" if splits is None else splits,
        inverse_temperature="auto" if inverse_temperature is None else inverse_temperature,
        max_clusters=max_clusters, max_iter=max_iter,
        missing="ignore" if ignore_missing else "state", random_state=random_state,
        n_jobs=source.n_jobs, verbose=int(sys.stderr.isatty()),
    )  # fmt: skip
    start = perf_counter()
    mix.fit(records)
    seconds = perf_counter() - start
    with working("scoring"):
        scores = {"train": mix.score(records)}
        if test is not None:
            scores["test"] = mix.score(replace(source, path=test).read_table())
    answers = [mix.query(*parse_query(mix.schema_, text)) for text in query or []]
    for path in outputs:
        if draw is not None and path.suffix.lower() in FRAMES:
            write_frame(mix.sample(draw, random_state=random_state).to_frame(), path)
        else:
            write_model(mix, path)
    if json:
        print_json(_as_json(mix, top, scores, answers))
        return
    console = make_console()
    put(console, facts_grid([*_facts(mix), *likelihood_rows(scores), ("time", f"{seconds:.2f} s")]))
    print_answers(console, answers)
    if not answers:
        console.print()
        put(console, edges_grid(mix.to_frame().head(top)))
    print_written(console, outputs)


def _validation(text: str, source: Source) -> Any:
    """Return what --validation names: a fraction, the records of a file, or nothing."""
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        return replace(source, path=Path(text)).read()


def _n_trees(mix: TreeMixture) -> int:
    return len(mix._groups)


def _facts(mix: TreeMixture) -> list[tuple[str, str]]:
    return [
        ("columns", f"{len(mix.column_names_):,}"),
        ("clusters", f"{mix.n_clusters_:,}"),
        ("trees", f"{_n_trees(mix):,}"),
        ("edges", f"{len(mix.edges_):,}"),
        ("smoothing", f"{mix.smoothing_:g}"),
        ("parameters", f"{mix.n_parameters_:,}"),
    ]


def _as_json(
    mix: TreeMixture, top: int, scores: dict[str, float], answers: list[Distribution]
) -> dict[str, Any]:
    return {
        "columns": len(mix.column_names_),
        "clusters": mix.n_clusters_,
        "trees": _n_trees(mix),
        "smoothing": mix.smoothing_,
        "parameters": mix.n_parameters_,
        "edges": mix.to_frame().head(top).to_dicts(),
        "selection": mix.selection_.to_dicts(),
        "log_likelihood": scores,
        "answers": [answer_json(answer) for answer in answers],
    }


COMMAND = reads_file(density, partitions=True)
