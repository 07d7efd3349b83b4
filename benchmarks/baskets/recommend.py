"""Recommendation, an item of each test record left out: tacit, and what people use instead.

``python -m benchmarks.baskets.recommend msweb baudio …`` writes a section for each of these sets,
or for all without a name; ``wide`` one about very many items.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import lzma
import re
import resource
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

import tacit
from benchmarks.density.data import load as load_debd
from benchmarks.report import SHARED, Section

if TYPE_CHECKING:
    from collections.abc import Callable

TOP = 10
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 1e4, 3e4, 1e5)
FACTORS, REGULARISATION, ALPHA = (8, 16, 64), (0.1, 1.0, 10.0), (1.0, 10.0)
DEBD = ("baudio", "bnetflix", "jester")


class DataSet(NamedTuple):
    name: str
    train: Any  # records × items, CSR
    valid: Any
    test: Any


def as_csr(table: tacit.Table) -> Any:
    ones = np.ones(len(table.values))
    shape = (table.n_records, table.schema.n_values)
    arrays = (ones, table.values.astype(np.int32), table.indptr.copy())
    return sparse.csr_array(arrays, shape=shape)


def split(name: str, records: Any, test: Any = None) -> DataSet:
    """Cut records into parts at random; a part of those to learn from is to tune on."""
    order = np.random.default_rng(0).permutation(records.shape[0])
    if test is None:
        fifth = len(order) // 5
        test, order = records[np.sort(order[:fifth])], order[fifth:]
    tenth = len(order) // 10
    return DataSet(name, records[np.sort(order[tenth:])], records[np.sort(order[:tenth])], test)


def read_msweb() -> DataSet:
    train = tacit.read_msweb(SHARED / "msweb" / "anonymous-msweb.data.gz")
    test = tacit.read_msweb(SHARED / "msweb" / "anonymous-msweb.test.gz")
    test = test.conform(train.schema, unseen="default")
    return split("msweb", as_csr(train), as_csr(test))


def read_groceries() -> DataSet:
    with lzma.open(SHARED / "groceries" / "groceries.csv.xz", "rt", encoding="utf-8") as file:
        baskets = [re.split(r"\s*,\s*", line.strip()) for line in file if line.strip()]
    return split("groceries", as_csr(tacit.Table.from_baskets(baskets)))


def read_debd(name: str) -> DataSet:
    data = load_debd(name)
    parts = [
        sparse.csr_array(np.asarray(part.to_frame()).astype(np.float64))
        for part in (data.train, data.valid, data.test)
    ]
    return DataSet(name, *parts)


def draw_ratings() -> DataSet:
    log = tacit.datasets.make_ratings(3000, 500, 60_000)
    table = tacit.Table.from_long(log, record="userId", item="title", min_count=5)
    return split("make_ratings", as_csr(table))


DATA: dict[str, Callable[[], DataSet]] = {
    "msweb": read_msweb,
    "groceries": read_groceries,
    **{name: functools.partial(read_debd, name) for name in DEBD},
    "make_ratings": draw_ratings,
}


def as_table(records: Any) -> tacit.Table:
    return tacit.Table(sparse.csr_array(records, dtype=np.int64), defaults=0)


class Scored:
    """A recommender of a function that scores records × items."""

    def __init__(self, scores: Callable[[Any], Any]) -> None:
        self.scores = scores

    def recommend(self, table: tacit.Table, n: int) -> pl.DataFrame:
        rows = as_csr(table)
        scores = np.asarray(self.scores(rows), np.float64)
        scores[rows.nonzero()] = -np.inf
        best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        names = np.array([f"{name}" for name in table.schema.names])
        return pl.DataFrame(
            {
                "record": np.repeat(np.arange(len(best)), best.shape[1]),
                "rank": np.tile(np.arange(1, best.shape[1] + 1), len(best)),
                "item": names[best.ravel()],
            }
        )


def popularity(train: Any) -> Scored:
    counts = np.asarray(train.sum(axis=0)).ravel()
    return Scored(lambda rows: np.tile(counts, (rows.shape[0], 1)))


def cosine(train: Any) -> Scored:
    gram = (train.T @ train).toarray()
    norm = np.sqrt(gram.diagonal()).clip(1e-9)
    near = gram / np.outer(norm, norm)
    np.fill_diagonal(near, 0.0)
    return Scored(lambda rows: rows @ near)


def ease(train: Any, l2: float) -> Scored:
    gram = (train.T @ train).toarray()
    inverse = np.linalg.inv(gram + l2 * np.eye(len(gram)))
    weights = -inverse / inverse.diagonal()
    np.fill_diagonal(weights, 0.0)
    return Scored(lambda rows: rows @ weights)


def als(train: Any, factors: int, regularisation: float, alpha: float) -> Scored:
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(
        factors=factors, regularization=regularisation, alpha=alpha, iterations=15,
        random_state=0, num_threads=1,
    )  # fmt: skip
    model.fit(sparse.csr_matrix(train, dtype=np.float32), show_progress=False)

    def scores(rows: Any) -> Any:
        given = sparse.csr_matrix(rows, dtype=np.float32)
        users = model.recalculate_user(np.arange(given.shape[0]), given)
        return users @ model.item_factors.T

    return Scored(scores)


def bpr(train: Any, factors: int, regularisation: float) -> Scored:
    """BPR has no way to take in new records: it learns again with those that are asked about."""
    from implicit.bpr import BayesianPersonalizedRanking

    def scores(rows: Any) -> Any:
        model = BayesianPersonalizedRanking(
            factors=factors, regularization=regularisation, iterations=100, random_state=0,
            num_threads=1,
        )  # fmt: skip
        both = sparse.vstack([sparse.csr_matrix(train), sparse.csr_matrix(rows)])
        model.fit(sparse.csr_matrix(both, dtype=np.float32), show_progress=False)
        return model.user_factors[train.shape[0] :] @ model.item_factors.T

    return Scored(scores)


def sansa(train: Any, l2: float, density: float) -> Scored:
    from sansa import (
        SANSA,
        CHOLMODGramianFactorizerConfig,
        SANSAConfig,
        UMRUnitLowerTriangleInverterConfig,
    )

    logging.getLogger("sansa").setLevel(logging.WARNING)
    model = SANSA(
        SANSAConfig(
            l2,
            density,
            CHOLMODGramianFactorizerConfig(),
            UMRUnitLowerTriangleInverterConfig(scans=2),
        )
    )
    model.fit(sparse.csr_matrix(train, dtype=np.float32))
    return Scored(lambda rows: model.forward(sparse.csr_matrix(rows, dtype=np.float32)).toarray())


def tuned(
    make: Callable[..., Scored], grid: list[tuple[Any, ...]], data: DataSet
) -> tuple[Scored, tuple[Any, ...]]:
    """Return the peer with what is best on validation records, learnt from both parts."""
    valid = as_table(data.valid)
    figures = [
        tacit.evaluate_recommender(make(data.train, *options), valid, n=TOP, cv=None)
        .to_frame()[f"ndcg@{TOP}"]
        .item()
        for options in grid
    ]
    best = grid[int(np.argmax(figures))]
    return make(sparse.vstack([data.train, data.valid]).tocsr(), *best), best


def peers(data: DataSet) -> dict[str, Any]:
    """Return all recommenders, each learnt from training and validation records."""
    whole = sparse.vstack([data.train, data.valid]).tocsr()
    made: dict[str, Any] = {"tacit": tacit.Recommender(random_state=0).fit(as_table(whole))}
    made["tacit, linear"] = tacit.Recommender("linear", random_state=0).fit(as_table(whole))
    made["EASE in NumPy"], _ = tuned(ease, [(l2,) for l2 in PENALTIES], data)
    if importlib.util.find_spec("sansa"):
        grid = [(l2, density) for l2 in PENALTIES for density in (0.2, 1.0)]
        made["SANSA"], _ = tuned(sansa, grid, data)
    made["item cosine"] = cosine(whole)
    made["popularity"] = popularity(whole)
    if importlib.util.find_spec("implicit"):
        grid = [(f, r, a) for f in FACTORS for r in REGULARISATION for a in ALPHA]
        made["implicit ALS"], _ = tuned(als, grid, data)
        made["implicit BPR"], _ = tuned(bpr, [(f, r) for f in FACTORS for r in (0.01, 0.1)], data)
    return made


def check_scores(data: DataSet) -> None:
    """Refuse to go on where linear scores are not those of NumPy's closed form."""
    rec = tacit.Recommender("linear", l2=100.0, fit_intercept=False).fit(as_table(data.train))
    test = as_table(data.test)
    ours = rec._scores(test.conform(rec.schema_))
    theirs = ease(data.train, 100.0).scores(data.test)[:, rec.schema_.value_columns]
    assert np.abs(ours - theirs).max() < 1e-8, data.name


def with_interval(row: dict[str, float], measure: str) -> str:
    name = f"{measure}@{TOP}"
    return f"{row[name]:.4f} ± {row[f'{name} high'] - row[name]:.4f}"


def quality(section: Section, data: DataSet) -> None:
    """Rank an item that is left out of each test record."""
    check_scores(data)
    found = tacit.evaluate_recommender(peers(data), as_table(data.test), n=TOP, cv=None)
    behind = {name: (low, high) for name, _, low, high in found.differences().iter_rows()}
    rows = []
    for row in found.to_frame().iter_rows(named=True):
        name = row["recommender"]
        level = "best or level" if behind[name][1] >= 0 else "behind"
        cells = [with_interval(row, measure) for measure in ("hit", "ndcg", "mrr")]
        rows.append((name, *cells, f"{row[f'coverage@{TOP}']:.0%}", level))
    n_train = data.train.shape[0] + data.valid.shape[0]
    section.say(
        f"{n_train:,} records and {data.train.shape[1]:,} items to learn from. "
        "One item of each test record with two or more is hidden, and ranked among all items that "
        f"the record is not known to hold ({found.to_frame()['records'][0]:,} records); 95 % "
        "intervals over records. Peers are tuned on "
        "validation records and learn again from all but the test records; tacit holds out some of "
        "the same records itself. BPR learns again with the test records, less what is hidden. The "
        f"last column: whether the interval of the paired difference of nDCG@{TOP} to the best one "
        "holds 0. Linear scores without an intercept are those of NumPy's closed form to 1e-8 "
        "(checked).",
        "",
    )
    section.table(
        ("recommender", f"hit@{TOP}", f"nDCG@{TOP}", f"MRR@{TOP}", "coverage", "beside the best"),
        rows,
    )


def draw_wide(n_records: int, n_items: int, rng: np.random.Generator) -> Any:
    """Draw baskets of 12 items: most from one of many themes, popular ones more often."""
    n_themes, size, per = n_items // 100, 100, 12
    theme = rng.integers(0, n_themes, n_records)
    weights = 1 / np.arange(1, size + 1) ** 0.8
    within = rng.choice(size, (n_records, per), p=weights / weights.sum())
    items = theme[:, None] * size + within
    zipf = 1 / np.arange(1, n_items + 1)
    anyone = rng.choice(n_items, (n_records, per), p=zipf / zipf.sum())
    mixed = np.where(rng.random((n_records, per)) < 0.6, items, rng.permutation(n_items)[anyone])
    rows = np.repeat(np.arange(n_records), per)
    held = sparse.csr_array((np.ones(rows.size), (rows, mixed.ravel())), (n_records, n_items))
    held.data[:] = 1.0
    return held


def wide(section: Section, n_records: int = 1_000_000, n_items: int = 80_000) -> None:
    """Learn from more items than a square of weights could hold."""
    section.part(f"{n_items:,} items, {n_records:,} records")
    held = draw_wide(n_records + 5000, n_items, np.random.default_rng(0))
    train, test = as_table(held[:n_records]), as_table(held[n_records:])
    rows, made = [], {}
    for name, algorithm in (("tacit", "auto"), ("item cosine, 200 neighbours", "neighbors")):
        wall, cpu = time.perf_counter(), time.process_time()
        made[name] = tacit.Recommender(algorithm, random_state=0, n_jobs=2).fit(train)
        rows.append((name, time.perf_counter() - wall, time.process_time() - cpu))
        print(rows[-1], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    found = tacit.evaluate_recommender(made, test, n=TOP, cv=None).to_frame()
    section.say(
        f"Drawn: baskets of 12 items, 60 % of them from one of {n_items // 100} themes of 100 "
        f"items, the rest by Zipf's law. {held.nnz / held.shape[0]:.1f} stored values a record; "
        f"two threads; the peak of the process, data included, is {peak:.1f} GB. EASE in NumPy "
        f"would need {8 * n_items**2 / 1e9:.0f} GB for the weights alone.",
        "",
    )
    section.table(
        ("recommender", "fit, wall clock", "fit, CPU", f"recall@{TOP}", f"nDCG@{TOP}"),
        [
            (
                name, f"{wall:.0f} s", f"{cpu:.0f} s",
                with_interval(row, "recall"), with_interval(row, "ndcg"),
            )
            for (name, wall, cpu), row in zip(rows, found.iter_rows(named=True), strict=True)
        ],
    )  # fmt: skip


def main() -> None:
    """Run parts, and write their sections."""
    asked = sys.argv[1:] or [*DATA, "wide"]
    here = [name for name in ("implicit", "sansa") if importlib.util.find_spec(name)]
    for name in asked:
        if name == "wide":
            section = Section("recommend-wide", "Recommendations among very many items", 3)
            section.made_with("numpy", "scipy")
            wide(section)
        else:
            section = Section(f"recommend-{name}", f"Recommendations: {name}", 3)
            section.made_with("numpy", "scipy", *here)
            quality(section, DATA[name]())
        section.write()


if __name__ == "__main__":
    main()
