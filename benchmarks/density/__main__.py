"""Test log-likelihood of binary records: trees, mixtures, mixtures of trees, and circuits.

``python -m benchmarks.density [SET …] [--seeds N]`` measures these sets, or all. Results are kept,
so that it can be run in parts; the page is written once all sets have been measured.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import tacit
from benchmarks.density import peers
from benchmarks.density.data import DataSet, load, names
from benchmarks.mixture.held_out import PUBLISHED
from benchmarks.report import Section, cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = 5
MEMBERS = 30
RESULTS = Path(__file__).parents[2] / "build" / "density.json"


class Scores(NamedTuple):
    """Test log-likelihoods of some seeds, and the mean CPU seconds of training."""

    tests: list[float]
    seconds: float

    @property
    def mean(self) -> float:
        """Of all seeds."""
        return fmean(self.tests)

    def __str__(self) -> str:
        spread = f" ± {stdev(self.tests):.2f}" if len(self.tests) > 1 else ""
        return f"{self.mean:.2f}{spread}"


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


def _ours(data: DataSet, seeds: int) -> dict[str, Scores]:
    """Return what each model comes to."""
    results = {}
    for name, make in _models(data).items():
        starts = range(1 if name.startswith("Chow") else seeds)
        runs = [cpu_seconds(lambda seed=seed, make=make: make(seed)) for seed in starts]
        scores = [model.score(data.test) for _, model in runs]
        results[name] = Scores(scores, fmean(seconds for seconds, _ in runs))
    return results


def _peer(result: peers.Result) -> str:
    if result.test is None:
        return "out of time"
    if math.isnan(result.test):
        return f"not a number ({result.seconds:.1f} s)"
    return f"{result.test:.2f}{'' if result.complete else '*'} ({result.seconds:.1f} s)"


def _measure(name: str, seeds: int) -> dict[str, Any]:
    """Return all results of one set, as they are kept."""
    data = load(name)
    theirs = peers.learn_all(data) if peers.at_hand() else {}
    return {"ours": _ours(data, seeds), "theirs": theirs}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="*", default=names())
    parser.add_argument("--seeds", type=int, default=SEEDS)
    asked = parser.parse_args()
    for name in asked.sets:
        measured = _measure(name, asked.seeds)
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.parent.mkdir(exist_ok=True)
        kept[name] = measured
        RESULTS.write_text(json.dumps(kept))
        for model, (tests, seconds) in kept[name]["ours"].items():
            print(f"{name}: {model} {Scores(tests, seconds)} ({seconds:.1f} s)", flush=True)
    left = [name for name in names() if name not in kept]
    seeds = [len(kept[name]["ours"][f"{MEMBERS} tree mixtures"][0]) for name in kept]
    if left:
        print(f"Not measured yet, and the page is as it was: {', '.join(left)}")
        return
    section = Section("density", "How probable records are: mixtures of dependency trees")
    section.made_with("numpy", "scipy")
    section.part(
        "Binary records of DEBD",
        "Mean log-likelihood of test records, in nats, and beside it the CPU time of training on "
        f"one core: of {min(seeds)} seed{'s' * (min(seeds) > 1)}, with the standard deviation "
        "between seeds where there are several. A Chow–Liu tree has no seed. Whatever is "
        "chosen is chosen by the validation records, which are not learnt from; the naive-Bayes "
        "mixture chooses by its approximate marginal likelihood. "
        f"“{MEMBERS} tree mixtures” is `n_estimators={MEMBERS}`. "
        "The best of them is in bold.",
    )
    if not names():
        section.say("Left out: the real data are not at hand.", "")
        section.write()
        return
    ours = {
        name: {model: Scores(*found) for model, found in kept[name]["ours"].items()}
        for name in names()
    }
    theirs = {
        name: {learner: peers.Result(*found) for learner, found in kept[name]["theirs"].items()}
        for name in names()
        if kept[name]["theirs"]
    }
    write_own(section, {name: load(name) for name in names()}, ours)
    if theirs:  # else the part of an earlier run stays
        write_peers(ours, theirs)


def write_own(
    section: Section, sets: dict[str, DataSet], ours: dict[str, dict[str, Scores]]
) -> None:
    """Write the table of tacit's models."""
    rows = []
    models = list(next(iter(ours.values())))
    for name, data in sets.items():
        best = max(scores.mean for scores in ours[name].values())
        row = [f"{name}, {data.train.n_records:,} × {len(data.train.schema):,}"]
        for scores in ours[name].values():
            text = f"**{scores}**" if scores.mean >= best else str(scores)
            row.append(f"{text} ({scores.seconds:.1f} s)")
        published = PUBLISHED.get(name)
        rows.append([*row, "–" if published is None else f"{published:.2f}"])
    totals = [sum(scores[model].seconds for scores in ours.values()) for model in models]
    rows.append(["all ten", *(f"{seconds:,.0f} s" for seconds in totals), ""])
    section.table(["data", *models, "LearnSPN, published (Gens and Domingos, 2013)"], rows)
    section.write()


def write_peers(
    ours: dict[str, dict[str, Scores]], theirs: dict[str, dict[str, peers.Result]]
) -> None:
    """Write the table of circuits, a section of its own: not everybody has them."""
    section = Section("density-circuits", "Circuits of deeprob-kit and SPFlow on the same records")
    section.say(
        "deeprob-kit 1.1 and SPFlow 1.1 in environments of their own, one seed, one core. Each "
        "LearnSPN, and XPC, tries 512, 128 and 32 records as the least that are divided further, "
        "and the hidden Chow–Liu tree (HCLT, by Adam) 16, 8 and 32 states, until three epochs "
        "have not made validation records more probable; these "
        f"choose. For all its settings a learner has {peers.LIMIT} s of CPU on a set. An asterisk "
        "says that not all were tried in time. LearnSPN divides columns by G-tests, SPFlow's by "
        "dependence coefficients, and records by k-means; XPC averages ten extremely randomised "
        "circuits with Chow–Liu trees in their leaves. PyJuice 2.6 was not run: its input layers "
        "have no implementation for CPUs.",
        "",
    )
    best = f"{MEMBERS} tree mixtures"
    rows = [
        [name, f"{ours[name][best].mean:.2f}", *(_peer(result) for result in found.values())]
        for name, found in theirs.items()
    ]
    section.table(["data", best, *next(iter(theirs.values()))], rows)
    section.write()


if __name__ == "__main__":
    main()
