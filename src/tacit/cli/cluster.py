"""``tacit cluster``: groups of records that are alike, and who they are."""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.options import Json, Outputs, RandomState, Top
from tacit.cli.output import echo, json_label, make_console, print_json, print_written, put, working
from tacit.cli.predict import Prediction, prediction_frame
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid
from tacit.cli.writing import FRAMES, PICTURES, check_outputs, write_model
from tacit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from tacit.mixture import ClusterTraits, Profile, Trait
    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["COMMAND", "cluster", "traits_json"]

_CRITERIA = {"cheeseman_stutz": "Cheeseman–Stutz", "bic": "BIC", "icl": "ICL"}
_AXES = _CRITERIA | {"cheeseman_stutz": "Cheeseman–Stutz score (nats)"}
_search_option = partial(typer.Option, rich_help_panel="The number of clusters")
_near_option = partial(typer.Option, rich_help_panel="Clusters of near records")
# What each method takes of what is told.
_STARTS = ("n_init", "init", "random_state")
_TAKEN = {
    "mixture": ("n_clusters", "max_clusters", "criterion", "prior", "missing", *_STARTS),
    "kmeans": ("n_clusters", *_STARTS),
    "hdbscan": ("min_cluster_size", "min_samples", "normalize"),
    "agglomerative": ("n_clusters", "linkage", "n_neighbors", "normalize"),
    "spectral": ("n_clusters", "n_neighbors", "normalize", "random_state"),
    "components": ("radius", "min_cluster_size", "n_neighbors", "normalize"),
    "density-peaks": ("n_clusters", "n_neighbors", "normalize"),
}
_NEAR = tuple(_TAKEN)[2:]  # of near records
_FOR_ALL = ("n_clusters", "prior", "random_state")  # see `_wanted`; `_profile`; any seed does
_UNLESS_TOLD: dict[str, Any] = {"criterion": "cheeseman_stutz", "n_init": 5, "missing": "state"}
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
    Literal["cheeseman_stutz", "bic", "icl"] | None,
    _search_option(help="What -k auto decides by; cheeseman_stutz unless told."),
]
Method = Annotated[
    Literal[
        "mixture", "kmeans", "hdbscan", "agglomerative", "spectral", "components", "density-peaks"
    ],
    typer.Option(
        help="A naive-Bayes mixture by EM, k-means, or clusters of near records: dense regions, "
        "the nearest merged, eigenvectors, what hangs together, or peaks of density."
    ),
]
MinClusterSize = Annotated[
    int | None,
    _near_option(
        min=1, help="hdbscan, components: the fewest records of a cluster; 5 and 1 unless told."
    ),
]
MinSamples = Annotated[
    int | None,
    _near_option(
        min=1,
        help="hdbscan: which nearest record says how dense it is around one, itself the first; the "
        "more, the more noise. As --min-cluster-size unless told.",
    ),
]
Linkage = Annotated[
    Literal["ward", "average", "single"] | None,
    _near_option(help="agglomerative: which clusters are the nearest; ward unless told."),
]
NNeighbors = Annotated[
    int | None,
    _near_option(
        min=1, help="All but hdbscan: how many nearest records each is joined to; 10 unless told."
    ),
]
Radius = Annotated[
    float | None,
    _near_option(min=0, help="components: how far apart records are that hang together."),
]
Normalize = Annotated[
    bool, _near_option("--normalize", help="Measure distances between columns scaled to [0, 1].")
]
Init = Annotated[str | None, typer.Option(help="How clusters begin; as the method names its ways.")]
NInit = Annotated[int | None, typer.Option(min=1, help="Starts; the best is kept. 5 unless told.")]
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
    criterion: Criterion = None,
    method: Method = "mixture",
    init: Init = None,
    n_init: NInit = None,
    prior: Prior = "auto",
    ignore_missing: IgnoreMissing = False,
    min_cluster_size: MinClusterSize = None,
    min_samples: MinSamples = None,
    linkage: Linkage = None,
    n_neighbors: NNeighbors = None,
    radius: Radius = None,
    normalize: Normalize = False,
    random_state: RandomState = 0,
    output: Outputs = None,
    top: Top = 5,
    json: Json = False,
) -> None:
    """Find groups of records that are alike, and say what sets each apart.

    For each cluster the values are listed that it has more often, and less often, than all records:
    the fraction of the cluster that has the value, that of all records, the first by the second
    (the lift) and an interval that holds the lift with a probability of 95%.

    Other methods than mixture and kmeans compare records by the distance of their numbers (other
    labels become columns of 0 and 1). With hdbscan and components, how many clusters there are
    follows from the data, and what is in none is noise, the last one that is listed.

    Output: the model (.tacit), a page (.html), a picture (.svg, .png, .pdf; of the tree for hdbscan
    and agglomerative, of the peaks for density-peaks), or the cluster of each record (.csv,
    .parquet, …; -1 for noise).

    JSON: an object with method, records, columns, stored, facts (an object: for a mixture
    log_likelihood, iterations and converged, for k-means inertia and iterations, for clusters of
    near records noise, if there is any), selection (for -k auto a list of objects: clusters and
    their scores) and clusters, a list of objects with name, size, fraction, over and under: lists
    of objects with column, label, probability, overall, lift, lower and upper.

    Example: `tacit cluster visits.csv --n-clusters 6 --top 3 -o clusters.html`
    """
    wanted, strength = _wanted(n_clusters, method), _strength(prior)
    given = {
        "n_clusters": wanted, "max_clusters": max_clusters, "criterion": criterion,
        "prior": strength, "missing": "ignore" if ignore_missing else None, "n_init": n_init,
        "init": init, "random_state": random_state, "min_cluster_size": min_cluster_size,
        "min_samples": min_samples, "linkage": linkage, "n_neighbors": n_neighbors,
        "radius": radius, "normalize": normalize or None,
    }  # fmt: skip
    _check_options(method, given)
    told = _UNLESS_TOLD | {name: value for name, value in given.items() if value is not None}
    settings = {name: told[name] for name in _TAKEN[method] if name in told}
    outputs = check_outputs(output, _ENDINGS, source.path)
    table = source.read_table()
    start = perf_counter()
    model = _fit(table, method, settings | {"n_jobs": source.n_jobs})
    seconds = perf_counter() - start
    profile = model.profile() if method == "mixture" else _profile(model, table, strength)
    selection = model.selection_.to_dicts() if (method, wanted) == ("mixture", "auto") else []
    facts = _facts(model)
    count = _count_near(model) if method in _NEAR else _count(profile.n_clusters, told, table)
    rows = [
        *table.summary().rows()[:3], ("clusters", count),
        *_fact_rows(facts), ("time", f"{seconds:.2f} s"),
    ]  # fmt: skip
    page = partial(
        profile.to_html, f"Clusters of {source.path.name}", rows,
        curve=_curve(selection, told["criterion"]), criterion=_AXES[told["criterion"]],
    )  # fmt: skip
    for path in outputs:
        drawn = path.suffix.lower() in PICTURES and not (method in _NEAR and hasattr(model, "plot"))
        shown = profile if drawn else model
        write_model(shown, path, page=page, frame=partial(_labels, model, table))
    if json:
        print_json(_as_json(method, table, facts, selection, profile, top))
    else:
        _put(rows, profile.to_text(top), outputs)


def _put(rows: list[tuple[str, str]], traits: str, outputs: list[Path]) -> None:
    """Show what was found, and what was written."""
    console = make_console()
    put(console, facts_grid(rows))
    console.print(f"\n{traits}", soft_wrap=True)
    print_written(console, outputs)


def _labels(model: Any, table: Table | PartitionedTable) -> pl.DataFrame:
    """Return the cluster of each record."""
    import polars as pl

    from tacit.table.index import put_index

    if isinstance(table, tacit.Table):
        labels = prediction_frame(model, model.labels_)
        if hasattr(model, "probabilities_") and isinstance(model, _near_classes()):
            labels = labels.with_columns(pl.Series("membership", model.probabilities_))
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
    settings: dict[str, Any],
) -> Any:
    """Fit a model, and show that this goes on."""
    from sklearn.exceptions import ConvergenceWarning

    wanted = settings.get("n_clusters", "auto")
    number = "the number of" if wanted == "auto" else f"{wanted:,}"
    if method in _NEAR:
        if not isinstance(table, tacit.Table) or table.weights is not None:
            what = "partitions" if not isinstance(table, tacit.Table) else "weights"
            raise InputError(f"--method {method} compares single records; {what} are not for it")
        with working(f"looking for clusters of near records among {table.n_records:,}"):
            return _near_classes()[_NEAR.index(method)](**settings).fit(table)
    with working(f"looking for {number} clusters of {table.n_records:,} records"):
        if method == "mixture":
            return tacit.NaiveBayesMixture(**settings).fit(table)
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", ConvergenceWarning)
            model = tacit.KMeans(**settings).fit(table)
    for note in noted:
        echo(f"warning: {note.message}", err=True)
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


def _near_classes() -> tuple[Any, ...]:
    """Return the classes of methods in the order of `_NEAR`."""
    from tacit import similarity

    return (
        similarity.SparseHDBSCAN,
        similarity.SparseAgglomerative,
        similarity.SparseSpectral,
        similarity.SparseComponents,
        similarity.SparseDensityPeaks,
    )


def _check_options(method: str, given: dict[str, Any]) -> None:
    """Refuse what is for another method."""
    for name in (name for name, value in given.items() if value is not None):
        methods = [other for other, taken in _TAKEN.items() if name in taken]
        if method not in methods and name not in _FOR_ALL:
            option = "ignore_missing" if name == "missing" else name
            hint = f"--{option.replace('_', '-')}"
            raise typer.BadParameter(f"is for --method {' or '.join(methods)}", param_hint=hint)
    if given["n_neighbors"] is not None and (
        given["radius"] is not None or given["linkage"] == "single"
    ):
        other = "--linkage single" if given["radius"] is None else "--radius"
        raise typer.BadParameter(f"has no effect with {other}", param_hint="--n-neighbors")
    if method == "hdbscan" and given["min_cluster_size"] == 1:
        raise typer.BadParameter(
            "is at least 2 for --method hdbscan", param_hint="--min-cluster-size"
        )


def _profile(
    model: Any, table: Table | PartitionedTable, strength: float | Literal["auto"]
) -> Profile:
    """Return who the clusters of k-means, or those of near records and the noise, are."""
    prior = 1.0 if strength == "auto" else strength
    if isinstance(model, _near_classes()):
        import numpy as np

        assert isinstance(table, tacit.Table)
        n = int(model.labels_.max(initial=-1)) + 1
        noise = bool((model.labels_ < 0).any())
        names = [*(f"cluster {k}" for k in range(n)), *["noise"] * noise]
        labels = np.where(model.labels_ < 0, n, model.labels_)
        return tacit.mixture.Profile.from_labels(
            table.cut(), labels, prior=prior, names=names, noise=noise
        )
    if isinstance(table, tacit.Table):
        return tacit.mixture.Profile.from_labels(table, model.labels_, prior=prior)
    profile: Profile = model.profile(table, prior=prior)
    return profile


def _wanted(text: str, method: str) -> int | Literal["auto"]:
    """Read the number of clusters."""
    follows = "n_clusters" not in _TAKEN[method]
    if follows and text != "auto":
        raise typer.BadParameter(
            f"how many there are follows from the data with --method {method}", param_hint="-k"
        )
    if text == "auto":
        if method == "mixture" or follows:
            return "auto"
        raise typer.BadParameter("auto is for --method mixture; say how many", param_hint="-k")
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise typer.BadParameter(
        f"{text!r} is neither auto nor a whole number of at least 1", param_hint="-k"
    )


def _count_near(model: Any) -> str:
    """Return how many clusters of near records there are, and how many records are noise."""
    n = int(model.labels_.max(initial=-1)) + 1
    noise = int((model.labels_ < 0).sum())
    told = isinstance(model, tacit.similarity.SparseHDBSCAN) or noise
    return f"{n:,}, and {noise:,} records of noise" if told else f"{n:,}"


def _count(chosen: int, told: dict[str, Any], table: Table | PartitionedTable) -> str:
    """Return how many clusters there are, and who says so."""
    from tacit.mixture.em.choose_clusters import limit_clusters

    if told["n_clusters"] != "auto":
        return str(chosen)
    most = told.get("max_clusters")
    reached = chosen == (limit_clusters(table.n_records) if most is None else most)
    limit = "; no more were tried, see --max-clusters" if reached else ""
    return f"{chosen}, chosen by {_CRITERIA[told['criterion']]}{limit}"


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
    if isinstance(model, _near_classes()):
        noise = int((model.labels_ < 0).sum())
        values["noise"] = (
            noise if noise or isinstance(model, tacit.similarity.SparseHDBSCAN) else None
        )
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
