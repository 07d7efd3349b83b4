"""Default models as they were, and as they are, on records not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import tacit
from benchmarks.mixture.held_out import ONE_RECORD
from benchmarks.priors.data import LABELS, class_sets, tables
from benchmarks.report import cpu_seconds

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
BOLD = (
    "**Bold** is what was lost: a log-likelihood that fell by more than 0.0005, an accuracy that "
    "fell by 0.01 % or more."
)


class Held(NamedTuple):
    """What a model says of records that it has not seen."""

    likelihood: float  # the mean of the logarithms
    accuracy: float


Row = tuple[str, str, Held, Held]


def networks(section: Section) -> None:
    """Write the table of dependency networks."""
    section.say(
        "Test records: mean conditional log-likelihood (nats) of all columns given the others; "
        f"accuracy of the {COLUMNS} columns whose most common value is least so in training, each "
        "predicted from all others; leaves of all trees; CPU time of learning on one thread. "
        '*Before*: `kappa=0.1`, as in the first release; after: the default, `kappa="auto"`. '
        f"{BOLD}",
        "",
    )
    lines, rows = [], []
    for name, train, test in tables():
        independent = tacit.DependencyNetwork(max_leaf_nodes=1, unseen="default").fit(train)
        cells = [name, f"{len(train.schema):,}", f"{independent.score(test):.3f}"]
        held, costs = [], []
        for how in (BEFORE, {}):
            network = tacit.DependencyNetwork(unseen="default", n_jobs=1, **how)
            seconds, network = cpu_seconds(lambda web=network, on=train: web.fit(on))
            accuracy = _accuracy(train, test, network, network.predict_proba)
            held.append(Held(network.score(test), accuracy))
            costs.append([f"{int(network.n_leaves_.sum()):,}", f"{seconds:.2f} s"])
        rows.append((name, "network", *held))
        likelihood, after, accuracy, accuracy_after = _row(*rows[-1])[2:]
        cells += [likelihood, accuracy, *costs[0], after, accuracy_after, *costs[1]]
        lines.append(cells)
        print(cells, flush=True)
    side = ("accuracy", "leaves", "CPU")
    section.table(("data", "columns", "independent", "before", *side, "after", *side), lines)
    section.say(_count(rows), "")


def mixtures(section: Section) -> None:
    """Write the table of mixtures."""
    section.say(
        "Test records: mean log-likelihood of a record (nats), and the accuracy of the "
        f"{COLUMNS} columns whose most common value is least so in training, each predicted from "
        "all others. *Before*: a prior of one record, starts from seeds and 60 clusters at most. "
        f"After: the defaults. {BOLD}",
        "",
    )
    rows: list[Row] = []
    for name, train, test in tables():
        for n_clusters in (8, "auto"):
            model = f"mixture of {n_clusters}" if n_clusters == 8 else "mixture, auto"
            before = _mixture(n_clusters, train, test, **ONE_RECORD)
            rows.append((name, model, before, _mixture(n_clusters, train, test)))
            print(*rows[-1], flush=True)
    _table(section, rows)


def classes(section: Section) -> None:
    """Write the table of trees and graphs."""
    section.say(
        "Test records: mean log-likelihood of a class (nats; of a multi-label set, over its "
        f"labels, {LABELS} at most), and accuracy. *Before*: `kappa=0.1`, as in the first release; "
        f'after: the default, `kappa="auto"`. {BOLD}',
        "",
    )
    rows: list[Row] = []
    for given in class_sets():
        for model, make in (
            ("tree", tacit.DecisionTreeClassifier),
            ("graph", tacit.DecisionGraphClassifier),
        ):
            after = _classifier(given, make)
            rows.append((given.name, model, _classifier(given, make, **BEFORE), after))
            print(*rows[-1], flush=True)
    _table(section, rows)


def _table(section: Section, rows: list[Row]) -> None:
    head = ("data", "model", "log-likelihood before", "after", "accuracy before", "after")
    section.table(head, [_row(*row) for row in rows])
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
