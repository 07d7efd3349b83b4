"""``tacit cluster``: groups of records that are alike, and who they are."""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.options import Json, Outputs, RandomState, Top
from tacit.cli.output import json_label, make_console, print_json, print_written, put, working
from tacit.cli.predict import Prediction, prediction_frame
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model

if TYPE_CHECKING:
    import polars as pl

    from tacit.mixture import ClusterTraits, KMeans, Profile, Trait
    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["COMMAND", "cluster", "traits_json"]

_CRITERIA = {"cheeseman_stutz": "Cheeseman–Stutz", "bic": "BIC", "icl": "ICL"}
_AXES = _CRITERIA | {"cheeseman_stutz": "Cheeseman–Stutz score (nats)"}
_search_option = partial(typer.Option, rich_help_panel="The number of clusters")
_ENDINGS = (".tacit", ".html", *PICTURES, *FRAMES)


NClusters = Annotated[
    str, typer.Option("--n-clusters", "-k", metavar="N|auto", help="How many clusters.")
]
MaxClusters = Annotated[
    int | None,
    _search_option(
        min=1,
        help="The most that -k auto tries; 60 unless told, or twice the square root of the number "
        "of records if that is more.",
    ),
]
Criterion = Annotated[
    Literal["cheeseman_stutz", "bic", "icl"], _search_option(help="What -k auto decides by.")
]
Method = Annotated[
    Literal["mixture", "kmeans"], typer.Option(help="A naive-Bayes mixture by EM, or k-means.")
]
Init = Annotated[str | None, typer.Option(help="How clusters begin; as the method names its ways.")]
NInit = Annotated[int, typer.Option(min=1, help="Starts; the best is kept.")]
Prior = Annotated[
    str,
    typer.Option(
        metavar="X|auto",
        help="How many records of all the data a cluster begins with, in weight; auto finds the "
        "number under which the records are most probable.",
    ),
]
IgnoreMissing = Annotated[
    bool, typer.Option("--ignore-missing", help="Missing values say nothing; they are no label.")
]


def cluster(
    source: Source,
    n_clusters: NClusters = "auto",
    max_clusters: MaxClusters = None,
    criterion: Criterion = "cheeseman_stutz",
    method: Method = "mixture",
    init: Init = None,
    n_init: NInit = 5,
    prior: Prior = "auto",
    ignore_missing: IgnoreMissing = False,
    random_state: RandomState = 0,
    output: Outputs = None,
    top: Top = 5,
    json: Json = False,
) -> None:
    """Find groups of records that are alike, and say what sets each apart.

    For each cluster the values are listed that it has more often, and less often, than all records:
    the fraction of the cluster that has the value, that of all records, the first by the second
    (the lift) and an interval that holds the lift with a probability of 95%.

    Output: the model (.tacit), a page (.html), a picture (.svg, .png, .pdf), or the cluster of each
    record (.csv, .parquet, …).

    JSON: an object with method, records, columns, stored, facts (an object: for a mixture
    log_likelihood, iterations and converged, for k-means inertia and iterations), selection (for
    -k auto a list of objects: clusters and their scores) and clusters, a list of objects with name,
    size, fraction, over and under: lists of objects with column, label, probability, overall,
    lift, lower and upper.

    Example: `tacit cluster visits.csv --n-clusters 6 --top 3 -o clusters.html`
    """
    wanted = _wanted(n_clusters, method)
    if ignore_missing and method != "mixture":
        raise typer.BadParameter("is for --method mixture", param_hint="--ignore-missing")
    strength = _strength(prior)
    outputs = check_outputs(output, _ENDINGS, source.path)
    table = source.read_table()
    settings: dict[str, Any] = {
        "n_init": n_init,
        "random_state": random_state,
        "n_jobs": source.n_jobs,
    }
    settings |= {} if init is None else {"init": init}
    if method == "mixture":
        settings |= {
            "max_clusters": max_clusters,
            "criterion": criterion,
            "prior": strength,
            "missing": "ignore" if ignore_missing else "state",
        }
    start = perf_counter()
    model = _fit(table, method, wanted, settings)
    seconds = perf_counter() - start
    profile = model.profile() if method == "mixture" else _kmeans_profile(model, table, strength)
    selection = model.selection_.to_dicts() if wanted == "auto" else []
    facts = _facts(model)
    rows = [
        *table.summary().rows()[:3],
        ("clusters", _count(profile.n_clusters, wanted, criterion, max_clusters, table.n_records)),
        *_fact_rows(facts),
        ("time", f"{seconds:.2f} s"),
    ]
    page = partial(
        profile.to_html, f"Clusters of {source.path.name}", rows,
        curve=_curve(selection, criterion), criterion=_AXES[criterion],
    )  # fmt: skip
    for path in outputs:
        shown = profile if path.suffix.lower() in PICTURES else model
        write_model(shown, path, page=page, frame=partial(_labels, model, table))
    if json:
        print_json(_as_json(method, table, facts, selection, profile, top))
        return
    console = make_console()
    put(console, facts_grid(rows))
    console.print(f"\n{profile.to_text(top)}", soft_wrap=True)
    print_written(console, outputs)


def _labels(model: Any, table: Table | PartitionedTable) -> pl.DataFrame:
    """Return the cluster of each record."""
    import polars as pl

    from tacit.table.index import put_index

    if isinstance(table, tacit.Table):
        labels = prediction_frame(model, model.labels_)
        frame: pl.DataFrame = put_index(labels, table.index, "polars")
        return frame
    return pl.concat(table.map(Prediction(model)))


def _as_json(
    method: str, table: Any, facts: dict[str, Any], selection: Any, profile: Profile, top: int
) -> dict[str, Any]:
    return {
        "method": method,
        "records": table.n_records,
        "columns": table.n_columns,
        "stored": table.n_stored,
        "facts": facts,
        "selection": selection,
        "clusters": [traits_json(traits) for traits in profile.traits(top)],
    }


def _fit(
    table: Table | PartitionedTable,
    method: str,
    wanted: int | Literal["auto"],
    settings: dict[str, Any],
) -> Any:
    """Fit a model, and show that this goes on."""
    from sklearn.exceptions import ConvergenceWarning

    number = "the number of" if wanted == "auto" else f"{wanted:,}"
    with working(f"looking for {number} clusters of {table.n_records:,} records"):
        if wanted == "auto" or method == "mixture":
            return tacit.NaiveBayesMixture(wanted, **settings).fit(table)
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", ConvergenceWarning)
            model = tacit.KMeans(wanted, **settings).fit(table)
    for note in noted:
        typer.echo(f"warning: {note.message}", err=True)
    return model


def _strength(text: str) -> float | Literal["auto"]:
    """Read how strong the prior is."""
    if text == "auto":
        return "auto"
    try:
        strength = float(text)
    except ValueError:
        strength = -1.0
    if 0 <= strength < float("inf"):
        return strength
    raise typer.BadParameter(
        f"{text!r} is neither auto nor a finite number of at least 0", param_hint="--prior"
    )


def _kmeans_profile(
    model: KMeans, table: Table | PartitionedTable, strength: float | Literal["auto"]
) -> Profile:
    """Return who the clusters of k-means are."""
    prior = 1.0 if strength == "auto" else strength
    if isinstance(table, tacit.Table):
        return tacit.mixture.Profile.from_labels(table, model.labels_, prior=prior)
    return model.profile(table, prior=prior)


def _wanted(text: str, method: str) -> int | Literal["auto"]:
    """Read the number of clusters."""
    if text == "auto":
        if method == "mixture":
            return "auto"
        raise typer.BadParameter("auto is for --method mixture; say how many", param_hint="-k")
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise typer.BadParameter(
        f"{text!r} is neither auto nor a whole number of at least 1", param_hint="-k"
    )


def _count(
    chosen: int, wanted: int | Literal["auto"], criterion: str, most: int | None, n_records: int
) -> str:
    """Return how many clusters there are, and who says so."""
    from tacit.mixture.em.choose_clusters import limit_clusters

    if wanted != "auto":
        return str(chosen)
    reached = chosen == (limit_clusters(n_records) if most is None else most)
    limit = "; no more were tried, see --max-clusters" if reached else ""
    return f"{chosen}, chosen by {_CRITERIA[criterion]}{limit}"


def _curve(selection: list[dict[str, Any]], criterion: str) -> list[tuple[int, float]]:
    """Return the best score of each number of clusters that was tried."""
    better = max if criterion == "cheeseman_stutz" else min
    scores: dict[int, float] = {}
    for row in selection:
        k, score = row["clusters"], row[criterion]
        scores[k] = better(score, scores.get(k, score))
    return sorted(scores.items())


def _facts(model: Any) -> dict[str, Any]:
    """Return the numbers that a fitted model has to say of itself."""
    names = {
        "log_likelihood": "log_likelihood_",
        "inertia": "inertia_",
        "iterations": "n_iter_",
        "converged": "converged_",
    }
    values = {name: getattr(model, attribute, None) for name, attribute in names.items()}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _fact_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        (name.replace("_", "-"), f"{facts[name]:,.1f}")
        for name in ("log_likelihood", "inertia")
        if name in facts
    ]
    if "iterations" in facts:
        ended = "" if facts.get("converged", True) else ", not converged"
        rows.append(("iterations", f"{facts['iterations']:,}{ended}"))
    return rows


def traits_json(cluster: ClusterTraits) -> dict[str, Any]:
    """Return a cluster and its traits, ready for JSON."""

    def trait_json(trait: Trait) -> dict[str, Any]:
        return trait._asdict() | {"label": json_label(trait.label)}

    return {
        "name": cluster.name,
        "size": cluster.size,
        "fraction": cluster.fraction,
        "over": [trait_json(trait) for trait in cluster.over],
        "under": [trait_json(trait) for trait in cluster.under],
    }


COMMAND = reads_file(cluster, partitions=True)
