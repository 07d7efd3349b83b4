"""Default priors of trees, graphs and networks, before and after, on records not seen."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.priors.centred import centred_priors
from benchmarks.priors.data import class_sets, tables
from benchmarks.report import SHARED, Section, cpu_seconds

if TYPE_CHECKING:
    from benchmarks.priors.data import Classes

KAPPAS: tuple[Any, ...] = (0.1, "auto")


def networks(section: Section) -> None:
    section.part(
        "Dependency networks",
        "Mean conditional log-likelihood of test records (nats), leaves of all trees and CPU time "
        'of learning on one thread: `kappa=0.1`, the default before, and `kappa="auto"`.',
    )
    rows = []
    for name, train, test in tables():
        independent = tacit.DependencyNetwork(max_leaf_nodes=1, unseen="default").fit(train)
        cells = [name, f"{len(train.schema):,}", f"{independent.score(test):.3f}"]
        for kappa in KAPPAS:
            web = tacit.DependencyNetwork(kappa=kappa, unseen="default", n_jobs=1)
            seconds, web = cpu_seconds(lambda web=web, train=train: web.fit(train))
            leaves = int(web.n_leaves_.sum())
            cells += [f"{web.score(test):.3f}", f"{leaves:,}", f"{seconds:.2f} s"]
        rows.append(cells)
        print(cells, flush=True)
    head = ("data", "columns", "independent", "0.1", "leaves", "CPU", "auto", "leaves", "CPU")
    section.table(head, rows)


def trees(section: Section) -> None:
    section.part(
        "Trees and graphs",
        "Mean log-likelihood of the classes of test records (nats) and accuracy; of a multi-label "
        "set, means over its labels (30 at most).",
    )
    kinds = {"tree": tacit.DecisionTreeClassifier, "graph": tacit.DecisionGraphClassifier}
    rows = []
    for given in class_sets():
        cells = [given.name]
        for make in kinds.values():
            for kappa in KAPPAS:
                likelihood, accuracy = _tried(given, make, kappa)
                cells.append(f"{likelihood:.4f}, {accuracy:.2%}")
        rows.append(cells)
        print(cells, flush=True)
    names = [f"{kind}, {kappa}" for kind in kinds for kappa in KAPPAS]
    section.table(("data", *names), rows)


def _tried(given: Classes, make: Any, kappa: Any) -> tuple[float, float]:
    likelihoods, hits = [], []
    for y, u in zip(given.y, given.u, strict=True):
        model = make(kappa=kappa, unseen="default").fit(given.X, y)
        probabilities = model.predict_proba(given.T)
        known = np.isin(u, model.classes_)
        at = np.searchsorted(model.classes_, u[known])
        truth = probabilities[np.flatnonzero(known), at]
        likelihoods.append(np.log(np.maximum(truth, 1e-12)).mean())
        hits.append(np.mean(probabilities.argmax(axis=1)[known] == at))
    return float(np.mean(likelihoods)), float(np.mean(hits))


def main() -> None:
    """Write the tables."""
    section = Section("priors", "Priors of trees")
    if not SHARED.exists():
        section.say("Left out: the real data are not at hand.", "")
        section.write()
        return
    warnings.simplefilter("ignore", tacit.InputWarning)
    section.made_with("numpy", "polars", "scikit-learn")
    networks(section)
    trees(section)
    centred_priors(section)
    section.write()


if __name__ == "__main__":
    main()
