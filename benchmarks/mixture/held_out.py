"""How well mixtures explain records they have not seen."""

from __future__ import annotations

import gzip
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

import tacit
from benchmarks.report import SHARED, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

CHOICES = (1, 5, 10, 20, 40, 80, 160)
FIXED = 20  # clusters of the comparison with a number that is given
MOST_RECORDS = 20_000  # for training, of sets that come without parts
# How mixtures were fitted unless told before the prior's strength was found.
ONE_RECORD = {"prior": 1.0, "init": "seeds", "max_clusters": 60}
# Mean test log-likelihood of LearnSPN (Gens & Domingos, ICML 2013), a deep model that mixes and
# factorises in turn: what a plain mixture can be held against.
PUBLISHED = {
    "nltcs": -6.110,
    "baudio": -40.503,
    "jester": -53.480,
    "bnetflix": -57.328,
    "accidents": -30.038,
    "pumsb_star": -24.781,
}


SEEDS = 5  # of mixtures of FEW clusters, whose figures differ by what is drawn at the start
FEW = 8


class Parts(NamedTuple):
    train: tacit.Table
    valid: tacit.Table | None
    test: tacit.Table


def debd(name: str, part: str) -> tacit.Table:
    path = SHARED / "debd" / name / f"{name}.{part}.data.xz"
    return tacit.read(path, format="csv", header=False)


def kos() -> tacit.Table:
    with gzip.open(SHARED / "bow_kos" / "docword.kos.txt.gz") as file:
        documents, words, _ = np.loadtxt(file, np.int64, skiprows=3).T
    ones = np.ones(len(words), np.int8)
    return tacit.Table(sparse.csr_array((ones, (documents - 1, words - 1))))


def cut(table: tacit.Table) -> Parts:
    """Keep a fifth of the records apart."""
    records = np.random.default_rng(1).permutation(table.n_records)
    n = min(table.n_records // 5, MOST_RECORDS // 2)
    train = records[n : n + MOST_RECORDS]
    return Parts(table.take(np.sort(train)), None, table.take(np.sort(records[:n])))


def parts_of_sets() -> Iterator[tuple[str, Parts]]:
    """Read one set after another: by its own parts, or cut."""
    for name in sorted(path.name for path in (SHARED / "debd").iterdir() if path.is_dir()):
        yield name, Parts(*(debd(name, part) for part in ("train", "valid", "test")))
    msweb = (
        tacit.read_msweb(SHARED / "msweb" / f"anonymous-msweb.{part}.gz")
        for part in ("data", "test")
    )
    yield "msweb", Parts(next(msweb), None, next(msweb))
    yield "groceries", cut(tacit.read(next((SHARED / "groceries").iterdir()), format="basket"))
    yield "kos", cut(kos())
    for name in ("T10I4D100K", "mushroom", "chess"):
        path = next((SHARED / "fimi").glob(f"{name}*"))
        yield name, cut(tacit.read(path, format="basket"))
    for name, options in (("adult/adult.data", {"header": False}), ("mushroom_uci", {})):
        folder = SHARED / name.split("/")[0]
        path = next(folder.glob(f"{name.split('/')[-1]}*" if "/" in name else "*"))
        yield name.split("/")[0], cut(tacit.read(path, format="csv", **options).cut("auto"))


def fit(table: tacit.Table, n_clusters: int | str, **settings: Any) -> tacit.NaiveBayesMixture:
    return tacit.NaiveBayesMixture(
        n_clusters, random_state=0, unseen="default", n_jobs=1, **settings
    ).fit(table)


class Timed(NamedTuple):
    model: tacit.NaiveBayesMixture
    seconds: float  # of the processor

    @classmethod
    def fit(cls, table: tacit.Table, n_clusters: int | str, **settings: Any) -> Timed:
        start = time.process_time()
        return cls(fit(table, n_clusters, **settings), time.process_time() - start)

    def say(self, test: tacit.Table, *, clusters: bool) -> str:
        score = f"{self.model.score(test):.3f}"
        return f"{score} ({self.model.n_clusters_})" if clusters else score


def held_out(section: Section) -> None:
    if not SHARED.exists():
        section.part("Records not seen before")
        section.say("Left out: the real data are not at hand.", "")
        return
    section.part(
        "The strength of the prior, on records not seen before",
        "Mean log-likelihood of test records in nats, of mixtures with a prior of one record and "
        'starts from seeds, and of those with `prior="auto"` and starts of both kinds, the '
        f'default: with {FIXED} clusters, and with `n_clusters="auto"` (in brackets how many were '
        "chosen). Strength is what the default found for the latter, in records; the times are "
        "seconds of one thread for the four fits. Sets without parts of their own are cut: a fifth "
        f"for the test, at most {MOST_RECORDS:,} records for training.",
    )
    compared, chosen = [], []
    for name, parts in parts_of_sets():
        models = [
            Timed.fit(parts.train, k, **settings)
            for k in (FIXED, "auto")
            for settings in (ONE_RECORD, {})
        ]
        compared.append(
            (
                f"{name}: {parts.train.n_records:,} × {parts.train.n_columns:,}",
                *(
                    model.say(parts.test, clusters=i >= len(models) // 2)
                    for i, model in enumerate(models)
                ),
                f"{models[-1].model.prior_strength_:.1f}",
                " / ".join(f"{model.seconds:.1f}" for model in models),
            )
        )
        if name in PUBLISHED:
            chosen.append(row(name, parts, models[-1].model))
    head = ("data", f"{FIXED} clusters, one record", f"{FIXED}, default", "auto, one record",
            "auto, default", "strength", "seconds")  # fmt: skip
    section.table(head, compared)
    section.part(
        "Against a deeper model",
        "Mean log-likelihood of test records. The number of clusters is chosen by the validation "
        f"set among {', '.join(map(str, CHOICES))}, or without it by the approximate marginal "
        'likelihood (`n_clusters="auto"`). LearnSPN is a deeper model; its figures are those of '
        "Gens and Domingos (2013). One cluster means independent columns.",
    )
    section.table(
        ("data", "one cluster", "chosen by validation", "auto", "LearnSPN, published"), chosen
    )


def row(name: str, parts: Parts, auto: tacit.NaiveBayesMixture) -> tuple[str, ...]:
    assert parts.valid is not None
    models = {k: fit(parts.train, k) for k in CHOICES if k <= parts.train.n_records // 10}
    best = max(models, key=lambda k: models[k].score(parts.valid))
    return (
        name,
        f"{models[1].score(parts.test):.3f}",
        *(
            f"{model.score(parts.test):.3f} ({model.n_clusters_} clusters)"
            for model in (models[best], auto)
        ),
        f"{PUBLISHED[name]:.3f}",
    )


def between_seeds(section: Section) -> None:
    """Write whether a few clusters are worse by default than they were, or it is chance."""
    section.part(
        f"A mixture of {FEW}, before and after, by seeds",
        "Mean log-likelihood of test records in nats, and the standard deviation of "
        f"{SEEDS} seeds: with a prior of one record and starts from seeds, and as it is by "
        "default.",
    )
    rows = []
    for name in ("accidents", "baudio", "bnetflix", "jester"):
        train, test = debd(name, "train"), debd(name, "test")
        row = [name]
        for options in (ONE_RECORD, dict[str, Any]()):
            scores = []
            for seed in range(SEEDS):
                mix = tacit.NaiveBayesMixture(FEW, random_state=seed, n_jobs=1, **options)
                scores.append(mix.fit(train).score(test))
            row.append(f"{np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f}")
        rows.append(row)
    section.table(("data", "one record, from seeds", "default"), rows)
