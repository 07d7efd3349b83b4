"""``tacit cluster``: groups of records that are alike, and who they are."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from sklearn.exceptions import ConvergenceWarning

from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put, working
from tacit.cli.predict import prediction_frame
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid
from tacit.cli.writing import FRAMES, check_target, write_frame
from tacit.mixture import KMeans, NaiveBayesMixture, Profile
from tacit.table import Table

if TYPE_CHECKING:
    from tacit.mixture import ClusterTraits, Trait
    from tacit.scale import PartitionedTable

__all__ = ["COMMAND", "cluster", "traits_json"]

_CRITERIA = {"cheeseman_stutz": "Cheeseman–Stutz", "bic": "BIC", "icl": "ICL"}
_SEARCH = "The number of clusters"
_WRITE = "What is written"


def cluster(
    source: Source,
    clusters: Annotated[
        str, typer.Option("--clusters", "-k", metavar="N|auto", help="How many clusters.")
    ] = "auto",
    max_clusters: Annotated[
        int,
        typer.Option(min=1, help="The most that -k auto tries.", rich_help_panel=_SEARCH),
    ] = 60,
    criterion: Annotated[
        Literal["cheeseman_stutz", "bic", "icl"],
        typer.Option(help="What -k auto decides by.", rich_help_panel=_SEARCH),
    ] = "cheeseman_stutz",
    method: Annotated[
        Literal["mixture", "kmeans"],
        typer.Option(help="A naive-Bayes mixture by EM, or k-means."),
    ] = "mixture",
    init: Annotated[
        str | None, typer.Option(help="How clusters begin; as the method names its ways.")
    ] = None,
    n_init: Annotated[int, typer.Option(min=1, help="Starts; the best is kept.")] = 5,
    prior: Annotated[
        float,
        typer.Option(
            min=0, help="How many records' worth of overall shares a cluster begins with."
        ),
    ] = 1.0,
    ignore_missing: Annotated[
        bool,
        typer.Option("--ignore-missing", help="Missing values say nothing; they are no label."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of random numbers.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT.tacit",
            help="Save the model, for `tacit predict` and `tacit show`.",
            rich_help_panel=_WRITE,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.parquet",
            help="Write the cluster of each record; .csv, .tsv and .arrow work, too.",
            rich_help_panel=_WRITE,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.html", help="Write a page about the clusters.", rich_help_panel=_WRITE
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many values to list of each cluster.")] = 5,
    json: Json = False,
) -> None:
    """Find groups of records that are alike, and say what sets each apart.

    For each cluster the values are listed that it has more often, and less often, than all records:
    the share of the cluster that has the value, the share of all records, the first by the second
    (the lift) and an interval that holds the lift with a probability of 95%.

    JSON: an object with method, records, columns, stored, facts (an object: for a mixture
    log_likelihood, iterations and converged, for k-means inertia and iterations), selection (for
    -k auto a list of objects: clusters and their scores) and clusters, a list of objects with name,
    size, fraction, over and under: lists of objects with column, label, probability, overall,
    lift, lower and upper.
    """
    wanted = _wanted(clusters, method)
    if ignore_missing and method != "mixture":
        raise typer.BadParameter("is for --method mixture", param_hint="--ignore-missing")
    check_target(output, "--output", (".tacit",), source.path)
    check_target(labels, "--labels", FRAMES, source.path)
    check_target(report, "--report", (".html", ".htm"), source.path)
    table = source.read_table()
    settings: dict[str, Any] = {"n_init": n_init, "random_state": seed, "n_jobs": source.n_jobs}
    if init is not None:
        settings["init"] = init
    if method == "mixture":
        settings |= {
            "max_clusters": max_clusters,
            "criterion": criterion,
            "prior": prior,
            "missing": "ignore" if ignore_missing else "state",
        }
    start = perf_counter()
    model = _fit(table, method, wanted, settings)
    seconds = perf_counter() - start
    profile = model.profile() if method == "mixture" else _kmeans_profile(model, table, prior)
    facts = _facts(model)
    selection = model.selection_.to_dicts() if wanted == "auto" else []
    rows = [
        *table.summary().rows()[:3],
        ("clusters", _count(profile.n_clusters, wanted, criterion, max_clusters)),
        *_fact_rows(facts),
        ("time", f"{seconds:.2f} s"),
    ]
    if output is not None:
        with working(f"writing {output}"):
            model.save(output)
    if labels is not None:
        found = model.labels_ if isinstance(table, Table) else model.predict(table)
        write_frame(prediction_frame(model, found), labels)
    if report is not None:
        title, curve = f"Clusters of {source.path.name}", _curve(selection, criterion)
        page = profile.to_html(title, rows, curve=curve, criterion=_CRITERIA[criterion])
        report.write_text(page, "utf-8")
    if json:
        print_json(
            {
                "method": method,
                "records": table.n_records,
                "columns": table.n_columns,
                "stored": table.n_stored,
                "facts": facts,
                "selection": selection,
                "clusters": [traits_json(traits) for traits in profile.traits(top)],
            }
        )
        return
    console = make_console()
    put(console, facts_grid(rows))
    console.print()
    console.print(profile.to_text(top), soft_wrap=True)
    if written := [str(path) for path in (output, labels, report) if path is not None]:
        console.print(f"\nwritten: {', '.join(written)}", soft_wrap=True)


def _fit(
    table: Table | PartitionedTable,
    method: str,
    wanted: int | Literal["auto"],
    settings: dict[str, Any],
) -> Any:
    """Fit a model, and show that this goes on."""
    number = "the number of" if wanted == "auto" else f"{wanted:,}"
    with working(f"looking for {number} clusters of {table.n_records:,} records"):
        if wanted == "auto" or method == "mixture":
            return NaiveBayesMixture(wanted, **settings).fit(table)
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", ConvergenceWarning)
            model = KMeans(wanted, **settings).fit(table)
    for note in noted:
        typer.echo(f"warning: {note.message}", err=True)
    return model


def _kmeans_profile(model: KMeans, table: Table | PartitionedTable, prior: float) -> Profile:
    """Return who the clusters of k-means are."""
    if isinstance(table, Table):
        return Profile.from_labels(table, model.labels_, prior=prior)
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


def _count(found: int, wanted: int | Literal["auto"], criterion: str, most: int) -> str:
    """Return how many clusters there are, and who says so."""
    if wanted != "auto":
        return str(found)
    limit = "; no more were tried, see --max-clusters" if found == most else ""
    return f"{found}, chosen by {_CRITERIA[criterion]}{limit}"


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
    found = {name: getattr(model, attribute, None) for name, attribute in names.items()}
    return {name: _plain(value) for name, value in found.items() if value is not None}


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
