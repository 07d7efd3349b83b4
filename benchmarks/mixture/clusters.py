"""How many clusters are found, where it is known how many there are."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

import tacit
from benchmarks.report import SHARED, Section, milliseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS = 10
NUMBERS = (5, 10, 20)
MOST = 60
COMPARED = 2  # draws for which every number of clusters is fitted afresh, too
BEYOND = 5  # clusters more than there are, as far as fresh fits go


class Kind(NamedTuple):
    n_records: int
    n_columns: int
    n_labels: int
    own: int  # columns that a cluster has for itself, on average

    def say(self) -> str:
        return f"{self.n_records:,} × {self.n_columns}, {self.n_labels} labels"


KINDS = (Kind(5_000, 50, 2, 12), Kind(20_000, 200, 2, 12), Kind(10_000, 60, 4, 12))


class Drawn(NamedTuple):
    table: tacit.Table
    clusters: NDArray[np.int64]
    guessed: NDArray[np.int64]  # by someone who knows all probabilities


def draw(kind: Kind, n_clusters: int, seed: int) -> Drawn:
    """Draw records from a mixture of clusters that can be told apart.

    Sizes of clusters differ up to tenfold. A column differs from its default with a probability of
    1% to 10%; in clusters that it belongs to, of 30% to 80%.
    """
    rng = np.random.default_rng([n_clusters, seed])
    weights = np.maximum(rng.dirichlet(np.full(n_clusters, 3.0)), 0.3 / n_clusters)
    weights /= weights.sum()
    clusters = rng.choice(n_clusters, kind.n_records, p=weights)
    shape = (n_clusters, kind.n_columns)
    own = rng.random(shape) < kind.own / kind.n_columns
    stored = np.where(own, rng.uniform(0.3, 0.8, shape), rng.uniform(0.01, 0.1, kind.n_columns))
    which = rng.dirichlet(np.ones(kind.n_labels - 1), shape)
    chances = np.concatenate([1 - stored[..., None], stored[..., None] * which], axis=-1)
    codes = np.empty((kind.n_records, kind.n_columns), np.int64)
    logs = np.tile(np.log(weights), (kind.n_records, 1))
    for c in range(kind.n_columns):
        bounds = np.cumsum(chances[:, c], axis=1)[:, :-1]
        codes[:, c] = (rng.random(kind.n_records)[:, None] > bounds[clusters]).sum(axis=1)
        logs += np.log(chances[:, c, codes[:, c]]).T
    return Drawn(tacit.Table(codes), clusters, logs.argmax(axis=1))


def known_numbers(section: Section) -> None:
    """Say how often the number of clusters is found."""
    section.part(
        "The number of clusters",
        f"{DRAWS} draws each from naive-Bayes mixtures of clusters that can be told apart, with "
        f'`n_clusters="auto"`, `max_clusters={MOST}`, two threads. Sizes of clusters differ up to '
        "tenfold. Found is how many clusters there were how often; the index of agreement between "
        "clusters found and true ones (adjusted Rand, the median) is beside that of someone who "
        "knows all probabilities.",
    )
    rows = [number_row(kind, n_clusters) for kind in KINDS for n_clusters in NUMBERS]
    head = ("data", "clusters", "found", "within ±1", "agreement", "at best", "time")
    section.table(head, rows)


def number_row(kind: Kind, n_clusters: int) -> tuple[str, ...]:
    found, seconds, agreement, at_best = [], [], [], []
    for seed in range(DRAWS):
        drawn = draw(kind, n_clusters, seed)
        mix, taken = choose(drawn.table, seed)
        found.append(mix.n_clusters_)
        seconds.append(taken)
        agreement.append(adjusted_rand_score(drawn.clusters, mix.labels_))
        at_best.append(adjusted_rand_score(drawn.clusters, drawn.guessed))
    near = sum(abs(number - n_clusters) <= 1 for number in found)
    counts = ", ".join(f"{k} ({found.count(k)}×)" for k in sorted(set(found)))
    return (
        kind.say(), str(n_clusters), counts, f"{near} of {DRAWS}",
        f"{statistics.median(agreement):.3f}", f"{statistics.median(at_best):.3f}",
        milliseconds(statistics.median(seconds)),
    )  # fmt: skip


def choose(table: tacit.Table, seed: int = 0, **settings: Any) -> tuple[Any, float]:
    """Return the mixture of a number of clusters to be found, and the seconds it took."""
    begin = time.perf_counter()
    mix = tacit.NaiveBayesMixture(
        "auto", max_clusters=MOST, random_state=seed, n_jobs=2, **settings
    ).fit(table)
    return mix, time.perf_counter() - begin


def against_fresh_fits(section: Section) -> None:
    """Compare with what one would do without a search: fit every number, and take the best."""
    section.part(
        "A search instead of a fit for every number",
        f"The first {COMPARED} draws of each kind: the search, which splits and merges clusters of "
        f"smaller mixtures, and five fresh starts for every number from 1 to {BEYOND} more than "
        "there are, of which the best by the same criterion is taken. Gain is by how much the "
        "approximate log marginal likelihood of the search is higher, in nats. Medians.",
    )
    rows = []
    for kind in KINDS:
        for n_clusters in NUMBERS:
            both = [compare(draw(kind, n_clusters, seed), seed) for seed in range(COMPARED)]
            ours, theirs = (statistics.median(b[3][who] for b in both) for who in (0, 1))
            rows.append(
                (
                    kind.say(), str(n_clusters), ", ".join(str(b[0]) for b in both),
                    ", ".join(str(b[1]) for b in both),
                    f"{statistics.median(b[2] for b in both):+,.1f}",
                    milliseconds(ours), milliseconds(theirs), f"{theirs / ours:.1f}×",
                )
            )  # fmt: skip
    head = ("data", "clusters", "found", "by fresh fits", "gain", "time", "of fresh fits", "ratio")
    section.table(head, rows)


def compare(drawn: Drawn, seed: int) -> tuple[int, int, float, tuple[float, float]]:
    mix, ours = choose(drawn.table, seed)
    begin = time.perf_counter()
    fits = [
        tacit.NaiveBayesMixture(k, random_state=seed, n_jobs=2).fit(drawn.table)
        for k in range(1, int(drawn.clusters.max()) + 2 + BEYOND)
    ]
    scores = [fit.cheeseman_stutz(drawn.table) for fit in fits]
    theirs = time.perf_counter() - begin
    best = int(np.argmax(scores))
    gain = mix.cheeseman_stutz(drawn.table) - scores[best]
    return mix.n_clusters_, fits[best].n_clusters_, gain, (ours, theirs)


def real_numbers(section: Section) -> None:
    """Say how many clusters there are in tables of which nobody knows."""
    section.part("The number of clusters of visitors")
    tables = {"visits, invented": tacit.datasets.load_visits()}
    if SHARED.exists():
        path = SHARED / "msweb" / "anonymous-msweb.data.gz"
        tables = {"msweb": tacit.read_msweb(path)} | tables
    section.say(
        f"By all three criteria, at most {MOST}, two threads. Nobody put clusters into these: "
        "areas depend on each other, and clusters are a way to say so. BIC charges the same for "
        "the share of an area that a cluster never visits as for any other, and finds fewer. The "
        "marginal likelihood changes little over some numbers around the best, and which of them "
        "is found depends on `random_state`.",
        "",
    )
    rows = []
    for name, table in tables.items():
        for criterion in ("cheeseman_stutz", "bic", "icl"):
            mix, seconds = choose(table, criterion=criterion)
            rows.append(
                (
                    name, f"{table.n_records:,} × {table.n_columns}", criterion,
                    str(mix.n_clusters_), f"{mix.selection_[criterion][0]:,.0f}",
                    f"{getattr(mix, criterion)(table):,.0f}", milliseconds(seconds),
                )
            )  # fmt: skip
    head = ("data", "size", "criterion", "clusters", "of one cluster", "of those found", "time")
    section.table(head, rows)


def clusters(section: Section) -> None:
    """Write all parts."""
    known_numbers(section)
    against_fresh_fits(section)
    real_numbers(section)
