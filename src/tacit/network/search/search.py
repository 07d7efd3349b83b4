"""The search for the structure of a Bayes net."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_fits, check_int, count_jobs
from tacit.network.bayes_net.graph import cycle_text, find_cycle
from tacit.network.parameters.estimate import MOST_PRIOR_WEIGHT
from tacit.network.search.family_counts import Fetcher, unknown_codes
from tacit.parameters import check_choice, check_flag, check_number, make_generator
from tacit.progress import show_progress
from tacit.table import Table, recode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable

__all__ = [
    "Arc",
    "Criterion",
    "SearchResult",
    "Parents",
    "SearchSettings",
    "arc_gains",
    "best_branching",
    "family_score",
    "find_structure",
    "network_score",
]

Criterion = Literal["bic", "aic", "bdeu", "bds", "k2", "penalized"]
Arc = tuple[int, int]
Parents = tuple[tuple[int, ...], ...]

_MOST_RESTARTS = 100_000
# Records with weights that are whole numbers are repeated if these are not larger and it makes no
# more than so many times as many records
_MOST_WEIGHT = 64
_MOST_REPEATED = 4
_MOST_EXACT = 64  # columns
_MOST_SETS = 60_000_000  # of parents of one size that the exact search looks at: 2.5 GB
_MOST_NODES = 60_000_000  # sets of columns that it remembers: 2 GB


@dataclass(frozen=True)
class SearchSettings:
    """What is searched for, and how long."""

    # "penalized" is the ADtree paper's: like BIC, but every entry of the tables has its price
    criterion: Criterion = "bic"
    # "climb" goes from net to net; "auto" looks at orders of the columns, too; "exact" goes on to
    # prove what is best, or at least how far from it the net can be
    algorithm: Literal["auto", "climb", "exact"] = "auto"
    # From the best net so far, after a few random moves; "auto" goes on while that helps
    n_restarts: int | Literal["auto"] = "auto"
    max_parents: int = 5
    # Of "bdeu" and "bds" the equivalent sample size, of "k2" what is added to each count
    prior_weight: float = 1.0
    start: Literal["empty", "branching"] = "empty"  # no arcs, or the maximum branching
    tabu: int = 10  # steps that a climb goes on beyond its top
    n_walks: int = 5  # walks among equivalent nets without success before a top is taken for one
    swaps: bool = True  # whether two neighbours may swap
    # Both (from, to): positions of columns
    required: Sequence[Arc] = ()
    forbidden: Sequence[Arc] = ()
    # A state like any other, or what leaves a record out of the counts of a family. A family is
    # then credited with what it gains over the column alone, on the records that have all of its
    # values
    missing: Literal["state", "ignore"] = "state"
    max_seconds: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def check(self) -> None:
        """Refuse what makes no sense, by the name of the argument."""
        _check_criterion(self.criterion, self.prior_weight)
        check_choice(self.algorithm, "algorithm", ("auto", "climb", "exact"))
        if isinstance(self.n_restarts, str) and self.n_restarts != "auto":
            raise InputError(f"n_restarts must be a number or 'auto', got {self.n_restarts!r}")
        for name in ("n_restarts", "max_parents", "tabu", "n_walks"):
            if name != "n_restarts" or not isinstance(self.n_restarts, str):
                check_int(getattr(self, name), name, 0, 2**31 - 1)
        check_flag(self.swaps, "swaps")
        check_choice(self.start, "start", ("empty", "branching"))
        check_choice(self.missing, "missing", ("state", "ignore"))
        if self.max_seconds is not None:
            check_number(self.max_seconds, "max_seconds", 0, above=True)
        count_jobs(self.n_jobs)


@dataclass(frozen=True)
class SearchResult:
    """What a search came to."""

    parents: Parents  # of each column, ascending
    score: float  # the sum of the families' scores
    family_scores: NDArray[np.float64]
    n_evaluated: int  # families that were scored; each once
    n_moves: int
    # (restart, families scored, score, seconds), each time a restart ended with a better net
    trace: list[tuple[int, int, float, float]] = field(default_factory=list)
    interrupted: bool = False  # by Ctrl-C; this is then the best net until there
    out_of_time: bool = False
    n_passes: int = 0  # over records in partitions, to count families; 0 in memory
    n_restarts: int = 0
    upper_bound: float | None = None  # no net has a higher score; only of "exact"
    proven: bool = False  # whether that is the score


def find_structure(
    table: Table | PartitionedTable, settings: SearchSettings | None = None
) -> SearchResult:
    """Search for the net of the highest score, from one net to the next.

    The best of all arcs that can be added, removed or turned round is taken as long as the score
    rises. Then the search walks among nets that say the same but allow other moves, lets
    neighbours swap, and goes on downhill for a while. Between nets, it searches over orders of the
    columns: each takes the best of those before it for parents, and moves to where that is best.

    Counts of families are all that is asked of the records. Where those are in partitions, the
    search first runs ahead to see which it will want, and fetches many of them in one pass.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"a": [0, 1] * 50, "b": [0, 1] * 50, "c": [0, 0, 1, 1] * 25})
    >>> find_structure(table).parents
    ((1,), (), ())
    """
    settings = SearchSettings() if settings is None else settings
    settings.check()
    n = table.n_columns
    required = _arc_square(settings.required, n, "required")
    forbidden = _arc_square(settings.forbidden, n, "forbidden")
    _check_arcs(required, forbidden, settings.max_parents, table.schema.names)
    if settings.algorithm == "exact":
        _check_exact(table)
    # Of nets that are as good as each other, the search takes the one that it sees first. Columns
    # are looked at by name, so that their order in the table does not matter.
    columns = sorted(range(n), key=table.schema.names.__getitem__)
    if columns == list(range(n)):
        return _find(table, settings, required, forbidden)
    square = np.ix_(columns, columns)
    result = _find(table.select(columns), settings, required[square], forbidden[square])
    positions = np.argsort(columns)
    parents = [tuple(sorted(columns[p] for p in result.parents[x])) for x in positions.tolist()]
    scores = result.family_scores[positions]
    return replace(result, parents=tuple(parents), family_scores=scores)


def _find(
    table: Table | PartitionedTable,
    settings: SearchSettings,
    required: NDArray[np.uint8],
    forbidden: NDArray[np.uint8],
) -> SearchResult:
    begin = perf_counter()
    jobs = count_jobs(settings.n_jobs)
    families, fetcher = _families(
        table, settings.criterion, settings.prior_weight, settings.missing, jobs
    )
    start = _start(families, settings, required, forbidden, jobs)
    if any(start):  # a column alone can always be counted
        for x in np.flatnonzero(~np.isfinite(families.scores(start))).tolist():
            name = table.schema.names[x]
            raise InputError(f"required gives {name!r} parents with too many values to be counted")
    seed = int(make_generator(settings.random_state).integers(2**63))
    patience, restarts = 0, settings.n_restarts
    if isinstance(restarts, str):
        patience = _patience(table.n_columns)
        restarts = _MOST_RESTARTS
    limit = float(settings.max_seconds or 0.0)
    exact = settings.algorithm == "exact"
    n_restarts = -1

    def tell(*_: object) -> None:
        nonlocal n_restarts
        n_restarts += 1
        advance(1)

    with show_progress("restarts", (patience or restarts) + 1, bool(settings.verbose)) as advance:
        parents, score, n_scored, n_moves, interrupted, late, trace = families.search(
            start,
            settings.max_parents,
            required.ravel(),
            forbidden.ravel(),
            restarts,
            patience,
            settings.tabu,
            settings.n_walks,
            settings.swaps,
            settings.algorithm != "climb",
            seed,
            limit / 2 if exact else limit,  # the proof has what is left
            jobs,
            tell,
        )
    bound, proven = None, False
    if exact and not interrupted:
        left = max(limit - (perf_counter() - begin), 1e-3) if limit else 0.0
        best, most, proven, interrupted, late, n_more, *_ = families.best_net(
            parents, settings.max_parents, required.ravel(), forbidden.ravel(), _MOST_SETS,
            _MOST_NODES, left, jobs,
        )  # fmt: skip
        n_scored += n_more
        if float(families.scores(best).sum()) > score:
            parents = best
        bound = float(most) if np.isfinite(most) else None
    scores = families.scores(parents)
    total = float(scores.sum())
    return SearchResult(
        tuple(map(tuple, parents)),
        total,
        scores,
        n_scored,
        n_moves,
        trace,
        interrupted,
        late,
        0 if fetcher is None else fetcher.n_passes,
        max(n_restarts, 0),
        # The two sums are rounded differently.
        total if proven else None if bound is None else max(bound, total),
        proven,
    )


def _patience(n_columns: int) -> int:
    """Return how many restarts may bring nothing: where they are cheap, more."""
    return max(10, min(1000, 150_000 // max(n_columns, 1) ** 2))


def _check_exact(table: Table | PartitionedTable) -> None:
    if not isinstance(table, Table):
        raise InputError("algorithm='exact' takes records in memory, not partitions")
    if table.n_columns > _MOST_EXACT:
        raise InputError(
            f"algorithm='exact' takes up to {_MOST_EXACT} columns, got {table.n_columns:,}"
        )


def family_score(
    table: Table | PartitionedTable,
    child: int,
    parents: Iterable[int],
    criterion: Criterion = "bic",
    prior_weight: float = 1.0,
    missing: Literal["state", "ignore"] = "state",
) -> float:
    """Return the score of a column and its parents, all given by position."""
    _check_criterion(criterion, prior_weight)
    return _families(table, criterion, prior_weight, missing)[0].score(child, sorted(parents))


def network_score(
    table: Table | PartitionedTable,
    parents: Sequence[Iterable[int]],
    criterion: Criterion = "bic",
    prior_weight: float = 1.0,
    missing: Literal["state", "ignore"] = "state",
) -> float:
    """Return the score of a net: the parents of each column, all given by position."""
    _check_criterion(criterion, prior_weight)
    families, _ = _families(table, criterion, prior_weight, missing)
    return float(sum(families.scores([sorted(p) for p in parents]).tolist()))


def arc_gains(
    table: Table | PartitionedTable,
    criterion: Criterion = "bdeu",
    prior_weight: float = 1.0,
    n_jobs: int = 1,
) -> NDArray[np.float64]:
    """Return what each arc gains over no parents at all, from × to; 0 on the diagonal."""
    _check_criterion(criterion, prior_weight)
    return _families(table, criterion, prior_weight, "state", n_jobs)[0].gains(n_jobs)


def best_branching(gains: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the parent of each column, or -1, in the branching of the greatest gain.

    A branching gives each column at most one parent and has no cycles. It is found by the
    algorithm of Chu and Liu, and Edmonds.

    Examples
    --------
    >>> best_branching(np.array([[0.0, 5.0, 1.0], [6.0, 0.0, 2.0], [4.0, 0.0, 0.0]])).tolist()
    [2, 0, -1]
    """
    return _core.max_branching(np.ascontiguousarray(gains, np.float64))


def _families(
    table: Table | PartitionedTable,
    criterion: Criterion,
    prior_weight: float,
    missing: str,
    jobs: int = 1,
) -> tuple[_core.NetFamilies, Fetcher | None]:
    """Return what scores families, and what fetches their counts if records are in partitions."""
    schema = table.schema
    widest = int(np.argmax(schema.arities)) if len(schema) else 0
    if len(schema) and schema.arities[widest] > 65_536:
        column = schema.column(widest)
        raise InputError(
            f"column {column.name!r} has {column.arity:,} values; the search takes up to 65,536"
        )
    unknown = unknown_codes(schema, missing)
    score = "penalised" if criterion == "penalized" else criterion  # as the kernel spells it
    if not isinstance(table, Table):
        fetcher = Fetcher(table, unknown, jobs)
        families = _core.NetFamilies.fetched(
            fetcher,
            table.n_records,
            schema.offsets,
            unknown,
            score,
            float(prior_weight),
            fetcher.most_bytes,
            jobs,
        )
        return families, fetcher
    n_bytes = table.n_records * (2 * len(schema) + schema.n_values / 8)
    check_fits(int(n_bytes), "codes and bitmaps of all columns", "select fewer columns")
    table = _repeated(table)
    start, rows = table.postings
    families = _core.NetFamilies(
        table.n_records,
        schema.offsets,
        schema.defaults,
        start,
        rows,
        table.weights,
        unknown,
        score,
        float(prior_weight),
    )
    return families, None


def _repeated(table: Table) -> Table:
    """Return each record as often as it weighs, where that is a whole number and takes little room.

    Bitmaps count records of the weight 1 many times faster than records with weights. Records that
    weigh nothing are left out in any case.
    """
    weights = table.weights
    if weights is None:
        return table
    bare = table.with_weights(None)
    few = 0 < weights.sum() <= _MOST_REPEATED * len(table) and weights.max() <= _MOST_WEIGHT
    if few and (weights == np.floor(weights)).all():
        rows = np.repeat(np.arange(len(table)), weights.astype(np.int64))
        return Table._of(recode.take_records(bare, rows))
    held = np.flatnonzero(weights)
    return table if len(held) in (0, len(table)) else bare.take(held).with_weights(weights[held])


def _start(
    families: _core.NetFamilies,
    settings: SearchSettings,
    required: NDArray[np.uint8],
    forbidden: NDArray[np.uint8],
    jobs: int,
) -> list[list[int]]:
    needed = [np.flatnonzero(required[:, x]).tolist() for x in range(len(required))]
    if settings.start == "empty" or settings.max_parents == 0:
        return needed
    gains = np.where(forbidden > 0, 0.0, families.gains(jobs))
    parents = best_branching(gains).tolist()
    both = [
        sorted({*above, *([p] if p >= 0 else [])}) for above, p in zip(needed, parents, strict=True)
    ]
    fits = all(len(above) <= settings.max_parents for above in both) and find_cycle(both) is None
    return both if fits else needed


def _arc_square(arcs: Iterable[Arc], n: int, argument: str) -> NDArray[np.uint8]:
    square = np.zeros((n, n), np.uint8)
    for a, b in arcs:
        if not (0 <= a < n and 0 <= b < n):
            raise InputError(f"{argument}: arc {(a, b)} is not between columns 0 to {n - 1}")
        if a == b:
            raise InputError(f"{argument}: column {a} cannot have an arc to itself")
        square[a, b] = 1
    return square


def _check_arcs(
    required: NDArray[np.uint8],
    forbidden: NDArray[np.uint8],
    max_parents: int,
    names: Sequence[str],
) -> None:
    for a, b in np.argwhere(required & forbidden).tolist():
        raise InputError(f"the arc {names[a]!r} → {names[b]!r} is both required and forbidden")
    needed = [np.flatnonzero(required[:, x]).tolist() for x in range(len(names))]
    for x, above in enumerate(needed):
        if len(above) > max_parents:
            raise InputError(
                f"required gives {names[x]!r} {len(above)} parents, but max_parents is "
                f"{max_parents}"
            )
    cycle = find_cycle(needed)
    if cycle is not None:
        raise InputError(f"required arcs form a cycle: {cycle_text(cycle, names)}")


def _check_criterion(criterion: str, prior_weight: float) -> None:
    check_choice(criterion, "criterion", get_args(Criterion))
    check_number(prior_weight, "prior_weight", 0, MOST_PRIOR_WEIGHT, above=True)
