"""Default priors of trees, graphs, networks and mixtures, before and after, on unseen records."""

from __future__ import annotations

import warnings
from typing import Any

import tacit
from benchmarks.priors.before_after import before_and_after
from benchmarks.priors.centred import centred_priors
from benchmarks.priors.data import tables
from benchmarks.report import SHARED, Section, cpu_seconds

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
    before_and_after(section)
    centred_priors(section)
    section.write()


if __name__ == "__main__":
    main()
