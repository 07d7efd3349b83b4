"""Test log-likelihood of binary records: trees, mixtures, mixtures of trees, and circuits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from typing import TYPE_CHECKING, Any

import tacit
from benchmarks.density import peers
from benchmarks.density.data import DataSet, load, names
from benchmarks.mixture.held_out import PUBLISHED
from benchmarks.report import Section, cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

SEEDS = 3
MEMBERS = 30


def _models(data: DataSet) -> dict[str, Callable[[int], Any]]:
    def naive(seed: int) -> Any:
        return tacit.NaiveBayesMixture("auto", random_state=seed, n_jobs=1).fit(data.train)

    def trees(n_estimators: int) -> Callable[[int], Any]:
        return lambda seed: tacit.TreeMixture(
            n_estimators=n_estimators, validation=data.valid, random_state=seed, n_jobs=1
        ).fit(data.train)

    return {
        "Chow–Liu tree": lambda seed: tacit.DependencyTree(n_jobs=1).fit(data.train),
        "naive-Bayes mixture": naive,
        "tree mixture": trees(1),
        f"{MEMBERS} tree mixtures": trees(MEMBERS),
    }


def _ours(data: DataSet) -> dict[str, tuple[float, float]]:
    """Return the mean test log-likelihood and CPU seconds of each model over seeds."""
    results = {}
    for name, make in _models(data).items():
        seeds = 1 if name.startswith("Chow") else SEEDS
        runs = [cpu_seconds(lambda seed=seed, make=make: make(seed)) for seed in range(seeds)]
        scores = [model.score(data.test) for _, model in runs]
        results[name] = fmean(scores), fmean(seconds for seconds, _ in runs)
    return results


def _peer(result: peers.Result) -> str:
    if result.test is None:
        return "out of time"
    return f"{result.test:.2f}{'' if result.complete else '*'} ({result.seconds:.1f} s)"


def main() -> None:
    section = Section("density", "How probable records are: mixtures of dependency trees")
    section.made_with("numpy", "scipy")
    section.part(
        "Binary records of DEBD",
        "Mean log-likelihood of test records, in nats, and beside it the CPU time of training on "
        f"one core. Ours are means over {SEEDS} seed(s). Whatever is chosen is chosen by the "
        "validation records, which are not learnt from; the naive-Bayes mixture chooses by its "
        f"approximate marginal likelihood. “{MEMBERS} tree mixtures” is `n_estimators={MEMBERS}`. "
        "The best is in bold.",
    )
    if not names():
        section.say("Left out: the real data are not at hand.", "")
        section.write()
        return
    sets = {name: load(name) for name in names()}
    ours, theirs = {}, {}
    # Peers run in processes of their own; times are of the CPU.
    with ThreadPoolExecutor(1) as pool:
        waiting: dict[str, Future[dict[str, peers.Result]]] = {}
        if peers.at_hand():
            waiting = {name: pool.submit(peers.learn_all, data) for name, data in sets.items()}
        for name, data in sets.items():
            ours[name] = _ours(data)
            print(name, ours[name], flush=True)
        theirs = {name: found.result() for name, found in waiting.items()}
    _own_table(section, sets, ours, theirs)
    _peer_table(section, sets, ours, theirs)
    section.write()


def _own_table(section: Section, sets: Any, ours: Any, theirs: Any) -> None:
    rows = []
    totals: dict[str, float] = {}
    for name, data in sets.items():
        known = [score for score, _ in ours[name].values()]
        best = max(known + [r.test for r in theirs.get(name, {}).values() if r.test is not None])
        row = [f"{name}, {data.train.n_records:,} × {len(data.train.schema):,}"]
        for model, (score, seconds) in ours[name].items():
            text = f"{score:.2f}"
            row.append(f"{f'**{text}**' if score >= best else text} ({seconds:.1f} s)")
            totals[model] = totals.get(model, 0.0) + seconds
        published = PUBLISHED.get(name)
        row.append("–" if published is None else f"{published:.2f}")
        rows.append(row)
    rows.append(["all ten", *(f"{seconds:,.0f} s" for seconds in totals.values()), ""])
    models = list(next(iter(ours.values())))
    section.table(["data", *models, "LearnSPN, published (Gens and Domingos, 2013)"], rows)


def _peer_table(section: Section, sets: Any, ours: Any, theirs: Any) -> None:
    section.part("Circuits of deeprob-kit on the same records")
    if not theirs:
        section.say("Left out: deeprob-kit is not at hand.", "")
        return
    section.say(
        "deeprob-kit 1.1 in an environment of its own, one seed, one core. Each learner tries "
        "512, 128 and 32 records as the least that are divided further, and validation records "
        f"choose; for all three it has {peers.LIMIT} s of CPU on a set. An asterisk says that not "
        "all were tried in time. LearnSPN divides columns by G-tests and records by k-means, XPC "
        "averages ten extremely randomised circuits with Chow–Liu trees in their leaves.",
        "",
    )
    best = f"{MEMBERS} tree mixtures"
    rows = []
    for name in sets:
        score = ours[name][best][0]
        rows.append([name, f"{score:.2f}", *(_peer(r) for r in theirs[name].values())])
    section.table(["data", best, *next(iter(theirs.values()))], rows)


if __name__ == "__main__":
    main()
