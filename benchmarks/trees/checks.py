"""What trees and networks are worth on real data: held-out likelihood, ranking, accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

import tacit
from benchmarks.adult import NotAtHandError, _adult_frame, _path, mushroom

if TYPE_CHECKING:
    from benchmarks.report import Section

TOP = 10
HALF_LIFE = 5  # the rank that half of all people look at
SEEDS = 5
MODELS = ("tree, binary", "graph, binary", "tree, both", "graph, both")


def recommendations(section: Section) -> None:
    """Compare the ranking of a hidden visit by three models, all but one of a basket given."""
    section.part("Recommendations on msweb")
    try:
        train = tacit.read_msweb(_path("msweb", "anonymous-msweb.data.gz"))
        test = tacit.read_msweb(_path("msweb", "anonymous-msweb.test.gz"))
    except NotAtHandError as error:
        section.say(f"Not run: {error}.", "")
        return
    test = test.conform(train.schema, unseen="default")
    network = tacit.DependencyNetwork(n_jobs=2).fit(train)
    visits, held = as_visits(train), as_visits(test)
    baskets, hidden = all_but_one(held)
    popularity = np.asarray(visits.sum(axis=0)).ravel()
    together = (visits.T @ visits).toarray().astype(np.float64)
    cosine = together / np.sqrt(np.outer(popularity, popularity).clip(1))
    np.fill_diagonal(cosine, 0.0)
    fractions = (popularity + 1) / (train.n_records + 2)
    alone = float((held @ np.log(fractions) + (1 - held.toarray()) @ np.log1p(-fractions)).mean())
    rows = [
        (
            "popularity",
            f"{alone:.3f}",
            *ranks(np.tile(fractions, (len(hidden), 1)), baskets, hidden),
        ),
        ("item-item cosine", "–", *ranks(baskets @ cosine, baskets, hidden)),
        (
            f"dependency network ({network.to_frame().height:,} arcs)",
            f"{network.score(test):.3f}",
            *ranks(probabilities(network, train, baskets), baskets, hidden),
        ),
    ]
    section.say(
        f"{train.n_records:,} visitors to learn from, {test.n_records:,} to test on, "
        f"{len(hidden):,} hidden visits: each visit of a test visitor with two or more is hidden "
        "once and ranked among all areas that the visitor is not known to have seen. The "
        "log-likelihood is that of each column given all others, in nats per test visitor.",
        "",
    )
    section.table(
        (
            "model",
            "conditional log-likelihood",
            f"recall at {TOP}",
            f"half-life utility ({HALF_LIFE})",
        ),
        rows,
    )


def as_visits(table: tacit.Table) -> Any:
    """Return a binary table as a sparse matrix of ones."""
    ones = np.ones(len(table.values))
    shape = (table.n_records, table.n_columns)
    return sparse.csr_array((ones, table.values.astype(np.int32), table.indptr), shape=shape)


def all_but_one(visits: Any) -> tuple[Any, Any]:
    """Return a basket for each visit of each visitor with two or more, and the visit hidden."""
    lengths = np.diff(visits.indptr)
    kept = np.flatnonzero(lengths >= 2)
    owner = np.repeat(kept, lengths[kept])
    hidden = np.concatenate([visits.indices[visits.indptr[r] : visits.indptr[r + 1]] for r in kept])
    baskets = visits[owner].toarray()
    baskets[np.arange(len(hidden)), hidden] = 0.0
    return baskets, hidden


def ranks(scores: Any, baskets: Any, hidden: Any) -> tuple[str, str]:
    """Return recall and half-life utility of the hidden visits; ties count as half before."""
    scores = np.where(baskets > 0, -np.inf, scores)
    of_hidden = scores[np.arange(len(hidden)), hidden][:, None]
    rank = (scores > of_hidden).sum(axis=1) + ((scores == of_hidden).sum(axis=1) - 1) / 2
    utility = 0.5 ** (rank / (HALF_LIFE - 1))
    return f"{np.mean(rank < TOP):.3f}", f"{np.mean(utility):.3f}"


def probabilities(network: Any, train: tacit.Table, baskets: Any) -> Any:
    """Return each area's probability of a visit, given each basket."""
    rows, columns = np.nonzero(baskets)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(baskets)))))
    table = tacit.Table.from_stored(train.schema, indptr, columns.astype(train.values.dtype))
    return network._predict_items(table)


def graphs(section: Section) -> None:
    """Compare graphs with trees, and both with a tuned tree of scikit-learn."""
    section.part("Graphs and trees on Adult and mushroom")
    try:
        frames = {"Adult": adult_frame(), "mushroom": mushroom().to_frame("polars")}
    except NotAtHandError as error:
        section.say(f"Not run: {error}.", "")
        return
    rows = []
    for name, frame in frames.items():
        target = "class" if "class" in frame.columns else frame.columns[0]
        runs = [seed_of(frame, target, seed) for seed in range(SEEDS)]
        for model in (*MODELS, "scikit-learn"):
            correct = [run[model] for run in runs]
            leaves = [run[f"{model} leaves"] for run in runs]
            rows.append(
                (
                    name,
                    model,
                    f"{100 * np.mean(correct):.2f} ± {100 * np.std(correct, ddof=1):.2f}",
                    f"{np.mean(leaves):.0f}",
                )
            )
    section.say(
        f"{SEEDS} splits into two thirds to learn from and a third to test on. Trees and graphs of "
        "tacit by the Bayes factor, with binary splits (the default) or with complete ones too; "
        "scikit-learn's tree has its `max_leaf_nodes` and `min_samples_leaf` chosen by five-fold "
        "cross-validation, on ordinal codes.",
        "",
    )
    section.table(("data", "model", "correct on test, %", "leaves"), rows)


def adult_frame() -> pl.DataFrame:
    return pl.concat([_adult_frame(file) for file in ("adult.data", "adult.test")])


def seed_of(frame: pl.DataFrame, target: str, seed: int) -> dict[str, float]:
    """Fit all three on one split; return fractions of correct predictions, and leaves."""
    learn, test = train_test_split(np.arange(frame.height), test_size=1 / 3, random_state=seed)
    results: dict[str, float] = {}
    given, asked = frame[learn], frame[test]
    truth = asked[target].to_numpy()
    for name in MODELS:
        kind, _, splits = name.partition(", ")
        make = tacit.DecisionTreeClassifier if kind == "tree" else tacit.DecisionGraphClassifier
        model = make(splits=splits, unseen="default")
        model.fit(given, target)
        results[name] = float(np.mean(model.predict(asked.drop(target)) == truth))
        results[f"{name} leaves"] = model.n_leaves_
    plain = ordinal(frame.drop(target))
    y = frame[target].to_numpy()
    grid = {"max_leaf_nodes": [16, 32, 64, 128, 256, 512], "min_samples_leaf": [1, 5, 20]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=seed), grid, cv=5)
    search.fit(plain[learn], y[learn])
    results["scikit-learn"] = float(search.score(plain[test], y[test]))
    results["scikit-learn leaves"] = search.best_estimator_.get_n_leaves()
    return results


def ordinal(frame: pl.DataFrame) -> Any:
    """Return numbers as they are and words by their places in the alphabet."""
    words = pl.col(pl.String).fill_null("?").rank("dense")
    return frame.with_columns(words).to_numpy().astype(np.float64)
