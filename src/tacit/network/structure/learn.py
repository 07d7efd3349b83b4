"""Learning the structure of a dependency tree: which pairs of columns are joined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.network.structure import chow_liu
from tacit.network.structure.discrete_pairs import DiscretePairs, TableSource
from tacit.network.structure.exact import ExactPairs
from tacit.network.structure.mixed_pairs import MixedPairs
from tacit.network.structure.numeric_pairs import NumericPairs
from tacit.network.structure.random_order import ArrayNumbers, FileNumbers, RowDraw
from tacit.network.structure.rounds import find_tree
from tacit.network.structure.sampled_partitions import PartSource
from tacit.network.structure.spanning import maximum_spanning_tree, settle
from tacit.network.structure.statistics import ClassMoments, Moments, PairMoments, Structure
from tacit.parameters import check_choice, check_number, make_generator
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.structure.columns import Columns
    from tacit.network.structure.rounds import PairReader
    from tacit.network.structure.statistics import EdgeStatistic, NodeStatistic

__all__ = [
    "ClassMoments",
    "Moments",
    "PairMoments",
    "Settings",
    "Structure",
    "exact_structure",
    "learn",
]

_CHOICES = {
    "algorithm": ("mist", "exact"),
    "interval": ("clt", "hoeffding"),
    "guarantee": ("tree", "decision"),
    "tree_edges": ("interval", "exact"),
    "missing": ("state", "ignore"),
}


@dataclass(frozen=True)
class Settings:
    """How a structure is learnt."""

    # Read all records for all pairs, or only as many as decisions need
    algorithm: Literal["mist", "exact"] = "exact"
    delta: float = 1e-3  # probability of a wrong tree that is put up with ("mist" only)
    epsilon: float = 0.0  # trimmed off the upper ends of intervals, in nats ("mist" only)
    initial_sample: int = 5000  # records that are read first
    # What intervals rest on: the central limit theorem, or Hoeffding's inequality
    interval: Literal["clt", "hoeffding"] = "clt"
    # Whether `delta` is for the tree or for each decision, as in the paper
    guarantee: Literal["tree", "decision"] = "tree"
    # Whether edges of the tree have intervals, too, or are read in full, as in the paper
    tree_edges: Literal["interval", "exact"] = "interval"
    # Whether missing labels are a state, or left out pair by pair ("exact" only), numbers too
    missing: Literal["state", "ignore"] = "state"
    random_state: Any = None
    n_jobs: int | None = None

    def check(self) -> None:
        """Refuse what makes no sense, by the name of the argument."""
        for name, choices in _CHOICES.items():
            check_choice(getattr(self, name), name, choices)
        check_number(self.delta, "delta", 0, 1, above=True, below=True)
        check_number(self.epsilon, "epsilon", 0)
        check_int(self.initial_sample, "initial_sample", 2)
        count_jobs(self.n_jobs)
        if self.algorithm == "mist" and self.missing == "ignore":
            raise InputError(
                "missing='ignore' needs algorithm='exact': intervals of 'mist' are for pairs that "
                "are all read on the same records"
            )


def learn(columns: Columns, settings: Settings) -> Structure:
    """Return the maximum spanning tree of the columns' mutual information.

    Ties are broken by the smaller (a, b), and there is always a spanning tree: a constant column
    has weight 0 with all others.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.network.structure.columns import Columns
    >>> x = np.random.default_rng(0).normal(size=(500, 3)).cumsum(axis=1)
    >>> learn(Columns.from_array(x), Settings()).edges.tolist()
    [[0, 1], [1, 2]]
    """
    settings.check()
    whole_table = columns.n_records <= settings.initial_sample or columns.n_columns < 2
    if settings.algorithm == "exact" or whole_table:
        return _learn_exact(columns, settings)
    return _learn_mist(columns, settings)


def _learn_exact(columns: Columns, settings: Settings) -> Structure:
    if columns.table is not None and not columns.numeric.any():
        tree = chow_liu.learn(columns.table, settings.missing, count_jobs(settings.n_jobs))
        if columns.weighted and not any(counts.any() for counts in tree.nodes):
            raise InputError("X: all weights are zero")
        return exact_structure(tree.edges, tree.weights, columns.n_records, tree.nodes, tree.pairs)
    reader = ExactPairs(columns, settings.missing, count_jobs(settings.n_jobs))
    edges = maximum_spanning_tree(settle(reader.weights))
    weights = reader.weights[edges[:, 0], edges[:, 1]]
    nodes = [reader.node(c) for c in range(columns.n_columns)]
    pairs = [reader.pair(a, b) for a, b in edges.tolist()]
    return exact_structure(edges, weights, columns.n_records, nodes, pairs)


def exact_structure(
    edges: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_records: int,
    nodes: Sequence[NodeStatistic],
    pairs: Sequence[EdgeStatistic],
) -> Structure:
    """Return a tree of which all was read."""
    n = len(nodes)
    rounds = [{"records": n_records, "alive": n * (n - 1) // 2}]
    return Structure(
        edges, weights, weights.copy(), weights.copy(), 1.0, n_records, rounds,
        list(nodes), list(pairs),
    )  # fmt: skip


def _learn_mist(columns: Columns, settings: Settings) -> Structure:
    if columns.weighted:
        raise InputError("algorithm='mist' takes no weights of records; use algorithm='exact'")
    reader = _make_reader(columns, settings)
    tree = find_tree(
        reader,
        sample=settings.initial_sample,
        delta=settings.delta,
        for_tree=settings.guarantee == "tree",
        epsilon=settings.epsilon,
        exact_edges=settings.tree_edges == "exact",
    )
    nodes = [reader.node(c) for c in range(columns.n_columns)]
    pairs = [reader.pair(a, b) for a, b in tree.edges.tolist()]
    return replace(tree, nodes=nodes, pairs=pairs)


def _make_reader(columns: Columns, settings: Settings) -> PairReader:
    generator = make_generator(settings.random_state)
    n_jobs = count_jobs(settings.n_jobs)
    bounded = settings.interval == "hoeffding"
    numbers, table = columns.numbers, columns.table
    if numbers is not None and not isinstance(numbers, np.ndarray):
        source = FileNumbers(numbers, generator)
        return NumericPairs(source, columns.number_names, bounded, n_jobs)
    if table is not None and not isinstance(table, Table):
        return DiscretePairs(PartSource(table, generator, n_jobs), bounded)
    rows = RowDraw(columns.n_records, generator)
    if numbers is None or not numbers.shape[1]:
        assert table is not None
        return DiscretePairs(TableSource(table, rows, n_jobs), bounded)
    if table is None or not table.n_columns:
        array = ArrayNumbers(numbers, rows, n_jobs)
        return NumericPairs(array, columns.number_names, bounded, n_jobs)
    if bounded:
        raise InputError(
            "interval='hoeffding' is for columns that are all numeric or all discrete; "
            "use interval='clt'"
        )
    return MixedPairs(columns, rows, n_jobs)
