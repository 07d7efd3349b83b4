"""All default models in one table: as they were, and as they are, on records not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import tacit
from benchmarks.mixture.held_out import ONE_RECORD
from benchmarks.priors.data import class_sets, tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmarks.priors.data import Classes
    from benchmarks.report import Section

COLUMNS = 30  # of a table whose values are predicted, at most
BEFORE: dict[str, Any] = {"kappa": 0.1}
# Log-likelihoods of equal models differ by rounding; of others, by more than this.
SAME = 5e-4
SAME_HITS = 1e-4


class Held(NamedTuple):
    """What a model says of records that it has not seen."""

    likelihood: float  # the mean of the logarithms
    accuracy: float


def before_and_after(section: Section) -> None:
    """Write the table."""
    section.part(
        "Before and after, all in one table",
        "Test records. *Before*: trees, graphs and networks with `kappa=0.1`, mixtures with a "
        "prior of one record, starts from seeds and 60 clusters at most. *After*: the defaults. "
        "Log-likelihoods are means in nats: of a class (of a multi-label set, over its labels, 30 "
        "at most), of a record under a mixture, of all columns given the others in a network. "
        f"Accuracy of mixtures and networks is that of the {COLUMNS} columns whose most common "
        "value is least so in training, each predicted from all others. **Bold** is what was "
        "lost: a log-likelihood that fell by more than 0.0005, an accuracy that fell by 0.01 % or "
        "more.",
    )
    rows: list[tuple[str, str, Held, Held]] = []

    def keep(data: str, model: str, before: Held, after: Held) -> None:
        rows.append((data, model, before, after))
        print(*rows[-1], flush=True)

    for name, train, test in tables():
        for model, held in (
            ("network", _network),
            ("mixture of 8", lambda *given, **how: _mixture(8, *given, **how)),
            ("mixture, auto", lambda *given, **how: _mixture("auto", *given, **how)),
        ):
            before = BEFORE if model == "network" else ONE_RECORD
            keep(name, model, held(train, test, **before), held(train, test))
    for given in class_sets():
        for model, make in (
            ("tree", tacit.DecisionTreeClassifier),
            ("graph", tacit.DecisionGraphClassifier),
        ):
            keep(given.name, model, _classifier(given, make, **BEFORE), _classifier(given, make))
    section.table(
        ("data", "model", "log-likelihood before", "after", "accuracy before", "after"),
        [_row(*row) for row in rows],
    )
    section.say(_count(rows), "")


def _count(rows: list[tuple[str, str, Held, Held]]) -> str:
    parts = []
    for model in dict.fromkeys(row[1] for row in rows):
        pairs = [row[2:] for row in rows if row[1] == model]
        gained = sum(after.likelihood > before.likelihood + SAME for before, after in pairs)
        fell = sum(after.likelihood < before.likelihood - SAME for before, after in pairs)
        up = sum(after.accuracy >= before.accuracy + SAME_HITS for before, after in pairs)
        down = sum(after.accuracy <= before.accuracy - SAME_HITS for before, after in pairs)
        parts.append(
            f"{model}: {gained} of {len(pairs)} more probable, {fell} less; {up} more accurate, "
            f"{down} less"
        )
    return "In all, " + ". ".join(parts) + "."


def _row(data: str, model: str, before: Held, after: Held) -> tuple[str, ...]:
    digits = 3 if model == "network" or model.startswith("mixture") else 4
    likelihood = f"{after.likelihood:.{digits}f}"
    accuracy = f"{after.accuracy:.2%}"
    if after.likelihood < before.likelihood - SAME:
        likelihood = f"**{likelihood}**"
    if after.accuracy <= before.accuracy - SAME_HITS:
        accuracy = f"**{accuracy}**"
    return (
        data,
        model,
        f"{before.likelihood:.{digits}f}",
        likelihood,
        f"{before.accuracy:.2%}",
        accuracy,
    )


def _asked(train: tacit.Table) -> list[int]:
    """Return the columns whose most common value is least so."""
    most = [np.bincount(train.codes(c)).max() for c in range(train.n_columns)]
    order: list[int] = np.argsort(most, kind="stable").tolist()
    return order[:COLUMNS]


def _accuracy(
    train: tacit.Table,
    test: tacit.Table,
    model: Any,
    predict: Callable[[tacit.Table, int], NDArray[np.float64]],
) -> float:
    table = test.conform(model.schema_, unseen="default")
    hits = [np.mean(predict(table, c).argmax(axis=1) == table.codes(c)) for c in _asked(train)]
    return float(np.mean(hits))


def _network(train: tacit.Table, test: tacit.Table, **how: Any) -> Held:
    network = tacit.DependencyNetwork(unseen="default", n_jobs=1, **how).fit(train)
    return Held(network.score(test), _accuracy(train, test, network, network.predict_proba))


def _mixture(n_clusters: Any, train: tacit.Table, test: tacit.Table, **how: Any) -> Held:
    mixture = tacit.NaiveBayesMixture(
        n_clusters, random_state=0, unseen="default", n_jobs=1, **how
    ).fit(train)
    clusters = mixture.predict_proba(test)

    def predict(table: tacit.Table, column: int) -> NDArray[np.float64]:
        """P(value | all other columns): what the column says of the cluster is taken back."""
        values = mixture.probabilities(column)
        others = clusters / np.maximum(values[table.codes(column)], 1e-60)
        return np.asarray(others @ values.T)

    return Held(mixture.score(test), _accuracy(train, test, mixture, predict))


def _classifier(given: Classes, make: Any, **how: Any) -> Held:
    likelihoods, hits = [], []
    for y, u in zip(given.y, given.u, strict=True):
        model = make(unseen="default", **how).fit(given.X, y)
        probabilities = model.predict_proba(given.T)
        known = np.isin(u, model.classes_)
        at = np.searchsorted(model.classes_, u[known])
        truth = probabilities[np.flatnonzero(known), at]
        likelihoods.append(np.log(np.maximum(truth, 1e-12)).mean())
        hits.append(np.mean(probabilities.argmax(axis=1)[known] == at))
    return Held(float(np.mean(likelihoods)), float(np.mean(hits)))
