"""tacit's kernels. Arguments are trusted: tacit.table checks them first."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.int32]
Codes: TypeAlias = NDArray[np.uint32]
Flags: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = NDArray[Any]  # uint16 or uint32
Singles: TypeAlias = NDArray[np.float32]
Numbers: TypeAlias = NDArray[Any]  # float32 or float64
Counts: TypeAlias = NDArray[Any]  # int64, or float64 where weights are given


def check_sparse(indptr: Ints | Indices, indices: Ints | Indices | Values, n: int) -> tuple[int, int, int]:
    """
    Look for the first fault of a compressed sparse structure: (fault, row, index).
    """

def check_columns(indptr: Ints, values: Values, offsets: Ints) -> tuple[int, int, int]:
    """
    Look for two stored values of one column in a record: (fault, record, column).
    """

def count_presence(indptr: Ints | Indices, indices: Ints | Indices, n: int) -> Ints | None:
    """
    Count the rows that hold each column; None unless all rows are in order.
    """

def store_presence(indptr: Ints | Indices, indices: Ints | Indices, usual: Ints, out: Values) -> Ints:
    """
    Write the columns of each row, or that a usual one is not there, into out.
    """

class Records:
    """The stored values of records, some chosen, some weighted."""

    def __init__(self, indptr: Ints, values: Values, n_values: int, chosen: Ints | None = None, weights: Floats | None = None) -> None: ...

def stored_lengths(codes: Sequence[Codes], ids: Sequence[Indices], n_records: int, n_jobs: int) -> Ints:
    """Count the codes of each record whose id is not -1."""

def stored_values(codes: Sequence[Codes], ids: Sequence[Indices], indptr: Ints, out: Values, n_jobs: int) -> None:
    """Write the ids of each record, in column order, into out."""

def recoded_lengths(records: Records, ids: Ints, first: Ints, last: Ints, fill: Ints, n_jobs: int) -> Ints:
    """Count the stored values of each chosen record under new ids."""

def recoded_values(records: Records, ids: Ints, first: Ints, last: Ints, fill: Ints, new_indptr: Ints, out: Values, n_jobs: int) -> None:
    """Write the stored values of each chosen record under new ids into out."""

def postings(records: Records, start: Ints) -> Indices:
    """List the records of each value, one value after another."""

def encode_columns(columns: list[object], n_jobs: int) -> list[tuple[Codes, Ints, Ints, int]]:
    """
    Number the distinct values of each column in order of appearance. A column is an Arrow
    stream of string views, or int64 keys with validity bytes or None, or a list of such chunks.
    Returns for each its codes, where each code appears first, how often, and the code of missing values or -1.
    """

def encode_baskets(baskets: list[Any]) -> Any:
    """
    The texts of items, sorted, and where each basket's begin, and positions among them, each once and ascending; the number of a basket that is no collection of items, if there is one.
    """

def only_text(baskets: list[Any]) -> bool | None:
    """
    Whether lists, tuples or sets of text differ in length; None if they hold, or are, something else.
    """

def integer_bounds(chunks: Sequence[Ints | Indices], n_jobs: int) -> tuple[int, int]:
    """Return the least and the greatest of whole numbers."""

def code_integers(chunks: Sequence[Ints | Indices], low: int, high: int, n_jobs: int) -> tuple[Indices, Ints]:
    """
    Return the rank of each number, from low to high, among the distinct ones, and those.
    """

def sort_log(records: Indices, items: Indices, values: Indices | None, n_records: int, n_items: int, repeats: str, n_jobs: int) -> tuple[Ints, Values, Indices | None, int]:
    """
    Sort rows by record and item. Of rows that repeat a pair, all stay, the first or the last;
    without values, one. Returns where each record begins, its items, the values of rows, and
    how many rows repeat an earlier one.
    """

def one_way(records: Records, n_jobs: int) -> Counts:
    """Count every stored value."""

def two_way(records: Records, first: int, n_states: int, n_jobs: int) -> Counts:
    """
    Count every stored value together with each of a target's n_states values.
    """

def pair_counts_outer(records: Records, n_jobs: int) -> Counts:
    """
    Count all pairs of stored values by row outer products, into a square array.
    """

def pair_triangle(records: Records, cells: Any, n_jobs: int) -> None:
    """
    Add the counts of all pairs i <= j of stored values to uint32 cells, row after row; weights are not looked at.
    """

def triangle_to_square(cells: Any, n_values: int, n_jobs: int) -> Ints:
    """Return the symmetric square that a triangle of counts stands for."""

def pair_counts_bitmap(records: Records, n_jobs: int) -> Ints:
    """
    Count all pairs of stored values by AND and population count, into a square array; weights are not looked at.
    """

def pair_counts_sparse(records: Records, n_jobs: int) -> tuple[Ints, Indices, Counts]:
    """
    Count all pairs of stored values into a symmetric CSR matrix: indptr, indices, counts.
    """

def all_tables(records: Records, offsets: Ints, defaults: Ints, columns: Sequence[int], target: int, size: int) -> Ints:
    """
    Count the tables of all sets of `size` ascending columns with a target, one after another.
    """

class OverLimit(MemoryError):
    pass

class Unsound(ValueError):
    pass

class ColumnStore:
    """Columns as engines want them: codes or record lists."""

    def __init__(self, n_records: int, offsets: Ints, defaults: Ints, start: Ints, rows: Indices, weights: Floats | None, whole: bool = False) -> None: ...

    @property
    def nbytes(self) -> int: ...

class Engine:
    """Anything that makes contingency tables."""

    def dense(self, columns: Sequence[int], given: Sequence[int], first: Sequence[int], last: Sequence[int]) -> Counts:
        """The table of some columns, with an axis for each."""

    def sparse(self, columns: Sequence[int], given: Sequence[int], first: Sequence[int], last: Sequence[int]) -> tuple[Ints, Counts]:
        """
        The cells that are not zero: their numbers, ascending, and their counts.
        """

    def dense_many(self, columns: Ints, starts: Ints, offsets: Ints, given: Sequence[int], first: Sequence[int], last: Sequence[int]) -> Counts:
        """The tables of many sets of columns, one after another."""

    @property
    def nbytes(self) -> int: ...

class Scan(Engine):
    """Counts records."""

    def __init__(self, store: ColumnStore, n_jobs: int) -> None: ...

    def some(self, columns: Sequence[int], chosen: Indices, as_cells: bool) -> Any:
        """
        The table of some ascending records: every cell, or numbers and counts of non-zero ones.
        """

class Bitmaps(Engine):
    """Counts bits."""

    def __init__(self, store: ColumnStore) -> None: ...

class Tree(Engine):
    """Counts nothing twice."""

    def __init__(self, store: ColumnStore, order: Sequence[int], leaf_size: int, max_depth: int, limit: int, min_count: int) -> None: ...

    def bounded(self, columns: Sequence[int], given: Sequence[int], first: Sequence[int], last: Sequence[int]) -> tuple[Ints, Ints, Ints]:
        """Estimates, lower and upper bounds of every cell."""

    def build(self) -> None:
        """Build everything."""

    def clear(self) -> None:
        """Forget all but the root."""

    def sizes(self) -> tuple[int, int, int, int, int]:
        """Nodes, Varies, listed records, bytes, evictions."""

    def arrays(self) -> tuple[Values, Values, Values, Values, Values | None]:
        """Copies of nodes, Varies, slots, lists and sums."""

    def restore(self, order: Sequence[int], nodes: Values, varies: Values, slots: Values, lists: Values, sums: Values | None, fetch: Any, block: int, unread: Sequence[int]) -> None:
        """
        Look at arrays that arrays() made; ValueError if they are not a tree. With fetch(array, block), blocks of the arrays with unread bytes are read, and checked, when they are used.
        """

def linked_tables(codes: Sequence[Values], arities: Ints, times: Values | None, n_records: int, conditions: Sequence[Sequence[int]], selections: Sequence[Sequence[int]], selection_of: Sequence[int], column_sets: Sequence[Sequence[int]], n_cells: int, n_jobs: int) -> Ints:
    """
    Tables of several selections in one pass. A condition is a column, and the first and last code of each range; a selection, the numbers of its conditions.
    """

class Planner(Engine):
    """Chooses an engine for each question."""

    def __init__(self, store: ColumnStore, scan: Scan, bitmaps: Bitmaps, tree: Tree, bitmap_limit: int) -> None: ...

    def plan(self, columns: Sequence[int], given: Sequence[int], first: Sequence[int], last: Sequence[int]) -> tuple[str, float, float, float, float]:
        """The engine that would answer now, and expected costs in nanoseconds."""

def find_rules(start: Ints, rows: Indices, offsets: Ints, defaults: Ints, n_records: int, weights: Floats | None, target: int, code: int, n_conditions: tuple[int, int], min_support: float, n_rules: int, measure: str, z: float, defaults_allowed: bool, redundant: bool, method: str, n_jobs: int) -> tuple[list[tuple[tuple[tuple[int, int], ...], Any, Any, float]], Any, Any]:
    """
    Find the conditions under which the target has a code: (conditions as (column, code)
    pairs, support, hits, score) of each rule, best first; then total and hits of all records.
    """

def code_columns(n_records: int, indptr: Ints, records: Indices | None, values: Floats, unlisted: Floats, wanted: Floats, choose: Flags, binned: Flags, by_frequency: bool, n_bins: int, n_jobs: int) -> tuple[Indices, Ints, Indices, Ints, Indices, Ints, Floats, Floats]:
    """
    Rank the numbers of each column, and list the records of all but the default one.
    """

def rule_scores(n_records: int, indptr: Ints, records: Indices | None, values: Floats, unlisted: Floats, rule_conditions: Ints, columns: Indices, ops: Flags, thresholds: Floats, rule_heads: Ints, outputs: Indices, scores: Floats, default_scores: Floats, n_jobs: int) -> Floats:
    """Add up the heads of the rules that cover each record."""

def rule_cover(n_records: int, indptr: Ints, records: Indices | None, values: Floats, unlisted: Floats, rule_conditions: Ints, columns: Indices, ops: Flags, thresholds: Floats, n_jobs: int) -> tuple[Ints, Indices]:
    """List the rules that cover each record."""

def table_entropies(counts: Counts, offsets: Ints, arities: Ints, n_jobs: int) -> tuple[Floats, Floats, Ints, Ints]:
    """
    Measure tables whose last axis is a target: the entropy of their rows, that of the target
    given the row (both in bits), and how many rows and cells occur.
    """

def cell_entropies(cells: Ints, counts: Counts, arity: int) -> tuple[Floats, Floats, Ints, Ints]:
    """
    Measure one table of which only cells that occur are listed, in ascending order.
    """

def em_step(records: Records, offsets: Ints, mixing_weights: Floats, stored: Floats, defaults: Floats, single: bool, n_jobs: int) -> tuple[Floats, Floats, float]:
    """
    Expected counts of clusters and of stored values in them, and the log-likelihood.
    """

def em_posterior(records: Records, offsets: Ints, mixing_weights: Floats, stored: Floats, defaults: Floats, responsibilities: bool, n_jobs: int) -> tuple[Floats, Floats]:
    """P(cluster | record), if asked for, and log P(record)."""

def em_maximise(offsets: Ints, totals: Floats, counts: Floats, alpha_clusters: float, alpha_stored: Floats, alpha_defaults: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Probabilities from expected counts, and the logarithm of the prior."""

def em_strength(offsets: Ints, totals: Floats, counts: Floats, mean_stored: Floats, mean_defaults: Floats, strength: float) -> tuple[float, float]:
    """
    Derivatives of the evidence of expected counts by the prior's strength.
    """

def tree_lengths(records: Records, offsets: Ints, parents: Ints, extras: Ints, first_extra: Ints, first_pair: Ints, n_jobs: int) -> Ints:
    """
    Count the ids of each chosen record: values, and pairs of values joined by an edge.
    """

def tree_values(records: Records, offsets: Ints, parents: Ints, extras: Ints, first_extra: Ints, first_pair: Ints, indptr: Ints, out: Values, n_jobs: int) -> None:
    """Write the ids of each chosen record into out."""

class Points:
    """Sparse points: value ids, and numbers unless all are 1."""

    def __init__(self, indptr: Ints, values: Values, x: Numbers | None, norms: Floats | None) -> None: ...

def kmeans_assign(points: Points, base: Floats, corrections: Floats, previous: Indices | None, labels: Indices, upper: Singles | None, lower: Singles | None, moves: Floats | None, prune: bool, n_jobs: int) -> tuple[int, int, int]:
    """
    Write the nearest centre of each record; how many changed, were scanned, were rechecked.
    """

def kmeans_distances(points: Points, base: Floats, corrections: Floats, closest: Floats | None, weights: Floats | None, out: Floats, n_jobs: int) -> Floats:
    """
    Write the squared distances of all records to all centres; what each centre would leave of the sum of `closest`.
    """

def kmeans_own_distances(points: Points, base: Floats, corrections: Floats, labels: Indices, n_jobs: int) -> Floats:
    """Squared distance of each record to its own centre."""

def kmeans_sums(points: Points, weights: Floats | None, labels: Indices, previous: Indices | None, sums: Floats, totals: Floats, n_jobs: int) -> None:
    """
    Add up the members of each cluster, or bring sums up to date where labels changed.
    """

def local_regressions(start: Ints, columns: Indices, counts: Floats, near_start: Ints, near: Indices, shift: Floats, l2: float, n_jobs: int) -> Floats:
    """Ridge regressions of items on a few others each."""

def strongest_residuals(start: Ints, columns: Indices, counts: Floats, near_start: Ints, near: Indices, weights: Floats, shift: Floats, scale: Floats, most: int, n_jobs: int) -> tuple[Indices, Ints]:
    """
    The items that regressions of items lack most, beside those that they have.
    """

class Forest:
    """A tree for each column, and a number for each node and code."""

    def __init__(self, roots: Ints, column: Indices, low: Indices, high: Indices, complete: Flags, first: Indices, children: Indices, also: Indices, offsets: Ints, defaults: Ints, table: Floats, table_start: Ints) -> None: ...

def tree_leaves(records: Records, column: Indices, low: Indices, high: Indices, complete: Flags, first: Indices, children: Indices, also: Indices, n_jobs: int) -> Indices:
    """Return the leaf of every record in a tree or a graph."""

def forest_scores(records: Records, forest: Forest, n_jobs: int) -> Floats:
    """
    Sum, for every record, the table's numbers of its leaves and its codes over all trees.
    """

def forest_probabilities(records: Records, forest: Forest, n_jobs: int) -> Floats:
    """
    Return the table's number for every value id, given each record's other values.
    """

def forest_gibbs(codes: Indices, seeds: Ints, first_sweep: int, n_sweeps: int, forest: Forest, n_jobs: int) -> Indices:
    """
    Draw every column anew given the others, sweep after sweep; return the codes.
    """

class TreeTable:
    """A table by record and by value, to grow trees of."""

    def __init__(self, indptr: Ints, values: Values, start: Ints, rows: Indices, offsets: Ints, defaults: Ints, ordered: Flags | None, weights: Ints | None) -> None: ...

def grow_tree(table: TreeTable, excluded: Sequence[int], classes: Indices | None, n_classes: int, moments: tuple[Ints, Ints] | None, settings: dict[str, Any]) -> tuple[Any, ...]:
    """Grow a tree or a graph; the arrays of tree/nodes.py."""

def grow_forest(table: TreeTable, targets: Ints, pairs: Ints | None, settings: dict[str, Any], n_jobs: int) -> tuple[Any, ...]:
    """
    Grow a tree for each target column given all others; the trees follow each other. Where settings has timed, a pair: the trees and the seconds spent on counting.
    """

def leaf_counts(table: TreeTable, path_start: Ints, low: Indices, high: Indices, inside: Flags, targets: Indices, dense: Flags, ahead_start: Ints, ahead_low: Indices, ahead_high: Indices, in_order: Flags, n_jobs: int) -> tuple[Ints, tuple[Ints, Ints, Ints, Ints, Ints]]:
    """
    Count the values of leaves, given by conditions, with the codes of a target's column: all counts of dense leaves, then disjoint cells (leaf, mask, start, keys, counts) of others.
    """

def add_disjoint_cells(leaf: Ints, mask: Ints, start: Ints, keys: Ints, counts: Ints, other_leaf: Ints, other_mask: Ints, other_start: Ints, other_keys: Ints, other_counts: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return the disjoint cells of two sets of records together."""

def take_disjoint_cells(leaf: Ints, mask: Ints, start: Ints, keys: Ints, counts: Ints, begin: Ints, end: Ints, bit: Ints, used: Ints, n_classes: Ints, n_values: int) -> tuple[Ints, Ints, Indices, Ints]:
    """
    Add up disjoint cells that hold a candidate and none of those used: id_start, histogram_start, ids and histograms of each choice.
    """

def subtract_histograms(n_classes: Ints, ids: list[Indices], histograms: list[Ints], part_ids: list[Indices], parts: list[Ints]) -> None:
    """
    Subtract the counts of parts from those of leaves, in place and one after another; no ids stand for all.
    """

def worth_splitting(n_classes: Ints, wholes: Ints, depths: Ints, settings: dict[str, Any]) -> Flags:
    """
    Say whether leaves could be split at all: deep, small and pure ones cannot.
    """

def leaf_splits(offsets: Ints, defaults: Ints, ordered: Flags, n_classes: Ints, ids: list[Indices], histograms: list[Ints], wholes: Ints, prior_fractions: Floats, path_start: Ints, low: Indices, high: Indices, inside: Flags, root_weights: Ints, targets: Indices, n_next: Ints, settings: dict[str, Any], n_jobs: int) -> tuple[Any, ...]:
    """
    Return the split that grow_tree makes of leaves with counts of these ids, or of all if none are given: column (-1 where there is none), low, high, complete, left, right, also, gain and rank; then where the prior_fractions of its children begin, and those, which there are of BDeu only; then next_start, next_low, next_high and the weight of all histograms inside of the splits that come next, no more than n_next of each leaf.
    """

class NetRequests:
    """Families of a Bayes net to be counted, for records in parts."""

    def __init__(self, offsets: Ints, missing: Ints, children: Ints, starts: Ints, parents: Ints, begins: Ints, ends: Ints) -> None: ...

    def count(self, n_records: int, offsets: Ints, defaults: Ints, start: Ints, rows: Indices, weights: Floats | None, missing: Ints, n_jobs: int) -> tuple[Ints, NDArray[np.uint16], Floats]:
        """
        Counts of some records: numbers of parent states, their codes, and a row for each.
        """

    def merge(self, n_one: Ints, states_one: NDArray[np.uint16], rows_one: Floats, n_other: Ints, states_other: NDArray[np.uint16], rows_other: Floats) -> tuple[Ints, NDArray[np.uint16], Floats]:
        """Counts of both."""

class NetFamilies:
    """Scores of families of a Bayes net, each worked out once."""

    def __init__(self, n_records: int, offsets: Ints, defaults: Ints, start: Ints, rows: Indices, weights: Floats | None, missing: Ints, score: str, prior_weight: float) -> None: ...

    @staticmethod
    def fetched(fetch: Any, n_records: int, offsets: Ints, missing: Ints, score: str, prior_weight: float, most_bytes: int, n_jobs: int) -> NetFamilies:
        """
        Families whose counts fetch(children, starts, parents, begins, ends, n_bytes) returns, with the sum of all weights first.
        """

    def score(self, child: int, parents: Sequence[int]) -> float:
        """Score of a column and its parents, which ascend."""

    def scores(self, parents: Sequence[Sequence[int]]) -> Floats:
        """Scores of all columns, each with its parents, which ascend."""

    def gains(self, n_jobs: int) -> Floats:
        """What each arc gains over no parents at all: from × to."""

    def search(self, start: Sequence[Sequence[int]], max_parents: int, required: Flags, forbidden: Flags, restarts: int, patience: int, tabu: int, walks: int, swaps: bool, orders: bool, seed: int, max_seconds: float, n_jobs: int, tell: Any) -> tuple[list[list[int]], float, int, int, bool, bool, list[tuple[int, int, float, float]]]:
        """
        The best net found: parents, score, families scored, moves, interrupted, out of time, and when each better one was found.
        """

    def best_net(self, known: Sequence[Sequence[int]], max_parents: int, required: Flags, forbidden: Flags, most_sets: int, most_nodes: int, max_seconds: float, n_jobs: int) -> tuple[list[list[int]], float, bool, bool, bool, int, int, int]:
        """
        The best net of all, from one that is known: parents, an upper bound on the score of any net, whether the net reaches it, interrupted, out of time, families scored, sets of parents that were left, nodes.
        """

def pair_counts_bytes(x: Any, n_jobs: int) -> Any:
    """
    Count all pairs of columns of a matrix of bytes 0 and 1; None if others are in it.
    """

def pair_information(square: Counts, offsets: Ints, total: float, unknown: Flags | None, default_unknown: Flags | None, n_jobs: int) -> Floats:
    """
    Mutual information of all pairs of columns in nats, from counts of pairs of values.
    """

def sparse_spanning_tree(indptr: Ints, indices: Indices, counts: Counts, offsets: Ints, total: float, n_jobs: int) -> tuple[Ints, Floats]:
    """
    The spanning tree of most mutual information from a CSR matrix of pair counts.
    """

def max_branching(weights: Floats) -> Indices:
    """
    The parent of each column, or -1, in the branching of greatest weight (from x to).
    """

def rooted_tree(weights: Floats) -> Ints:
    """
    Find the heaviest spanning tree: parent and child of each link, parents first.
    """

def path_minima(links: Ints, weights: Floats) -> Floats:
    """Find the least weight on the path between every two nodes of a tree."""

def covered_links(links: Ints, pairs: Ints) -> Flags:
    """
    Say which links of a tree are on a path between the two nodes of any pair.
    """

def pair_products(block: Floats, pairs: Ints, sums: Floats, n_jobs: int) -> None:
    """Add the sums of xy, x²y², x³y and xy³ of some pairs of columns."""

def gather_columns(numbers: Numbers, rows: Ints, columns: Ints, n_jobs: int) -> Floats:
    """Copy some rows of some columns, column after column."""

def pair_cells(records: Records, slots: Indices, n_slots: int, pairs: Ints, n_jobs: int) -> Ints:
    """Count the chosen records that hold both values of each pair of slots."""

def likelihood_ends(counts: Floats, a: Floats, b: Floats, drop: Floats, n_jobs: int) -> tuple[Floats, Floats]:
    """Find how far one cell of each binary table may be from the likeliest."""

class JunctionTree:
    """
    Exact inference in a Bayes net. Questions it is too wide for raise
    OverflowError(columns and cells of a clique, cells of all, bytes).
    """

    def __init__(self, arities: Ints, parent_starts: Ints, parents: Ints, tables: Floats, max_cells: float, max_bytes: float) -> None: ...

    def needs(self) -> tuple[int, float, float]:
        """
        Columns and cells of the largest cliques, and cells of all, when nothing is observed.
        """

    def order(self) -> Ints:
        """Columns as they are eliminated when nothing is observed."""

    def marginals(self, codes: Indices) -> tuple[Floats, float]:
        """
        Every column's distribution, one after another, and the evidence's log-probability.
        """

    def families(self, codes: Indices) -> tuple[Floats, float]:
        """The joint distribution of every family, laid out as the net's tables."""

    def joint(self, targets: Ints, codes: Indices) -> tuple[Floats, float]:
        """The joint distribution of those targets that are not observed."""

    def most_probable(self, codes: Indices) -> tuple[Indices, float]:
        """The most probable values of all columns, and their log-probability."""

    def sample(self, codes: Indices, seed: int, n_records: int, n_jobs: int) -> tuple[Indices, float]:
        """Records given the evidence."""

    def evidence_many(self, codes: Indices, weights: Floats | None, families: bool, n_jobs: int) -> tuple[Floats, Floats]:
        """Log-probabilities of records, and the weighted sum of their families."""

def solve_duals(indptr: Ints, indices: Indices, values: Numbers, diagonal: Floats, targets: Floats, lower: Floats, upper: Floats, tolerance: float, most_iterations: int, n_jobs: int) -> tuple[Floats, Floats, Floats, Floats, Ints]:
    """
    Solve support vector problems on one sparse kernel matrix: coefficients, their sums over the matrix, intercepts, gaps and iterations.
    """

def cut_path(indptr: Ints, indices: Indices, weights: Floats, base: Floats, rate: Floats, lambdas: Floats, n_jobs: int) -> Indices:
    """
    Of each node the position of the first λ at which it is on the source's side.
    """

def cut_breakpoints(indptr: Ints, indices: Indices, weights: Floats, base: Floats, rate: Floats, low: float, high: float, n_jobs: int) -> Floats:
    """Of each node the λ beyond which it is on the source's side."""

def cut_capacities(indptr: Ints, indices: Indices, weights: Floats, first: Indices, n_sets: int) -> Floats:
    """What the edges between each of several nested sets and the rest weigh."""

def strongest_links(indptr: Ints, indices: Indices, weights: Floats, k: int, n_jobs: int) -> Indices:
    """
    The columns of the k largest values of each row of a CSR array; -1 beyond short rows.
    """

class NarrowNumbers:
    """Fewer numbers of objects, which rule out most of them."""

class NearNeighbours:
    """Objects in an order in which neighbours are found."""

    def __init__(self, numbers: Numbers | tuple[Ints, Indices, Numbers], width: int, coords: Floats, n_split: int, cells: Indices | None, n_jobs: int) -> None: ...

    def search(self, numbers: Numbers | tuple[Ints, Indices, Numbers], coords: Floats, k: int, cells: Indices | None, positions: Floats | None, resolution: Indices | None, widths: Floats | None, reach: float, narrow: NarrowNumbers | None, narrow_numbers: Floats | None, error: float, n_jobs: int) -> tuple[Floats, Indices, Indices, Flags, int]:
        """
        The k nearest objects of each query: distances, objects, how often it looked farther, whether nothing was near at first; and how many pairs were compared.
        """

    def narrow(self, numbers: Floats, farthest: float, n_jobs: int) -> NarrowNumbers:
        """Rows that are no farther apart than objects; the largest norm of one."""

def check_graph(indptr: Ints, indices: Indices, weights: Numbers, zeros_are_edges: bool, directed: bool) -> tuple[int, int, int]:
    """
    What is wrong with a graph in CSR form, 0 for nothing, and in which row and column.
    """

class SetNeighbours:
    """Sets among which the nearest are found."""

    def __init__(self, indptr: Ints, columns: Indices, n_columns: int) -> None: ...

    def nearest(self, indptr: Ints, columns: Indices, itself: bool, measure: str, k: int, n_jobs: int) -> tuple[Floats, Indices]:
        """
        Distances and numbers of the k nearest rows of each query, equal ones by number.
        """

    def within(self, indptr: Ints, columns: Indices, itself: bool, once: bool, measure: str, least: float, n_jobs: int) -> tuple[Ints, Indices, Floats]:
        """All rows that are at least so near: offsets by query, rows, distances."""

class CosineNeighbours:
    """Sparse vectors among which the nearest are found."""

    def __init__(self, indptr: Ints, columns: Indices, numbers: Floats, lengths: Floats, n_columns: int) -> None: ...

    def nearest(self, indptr: Ints, columns: Indices, numbers: Floats, lengths: Floats, itself: bool, k: int, n_jobs: int) -> tuple[Floats, Indices]:
        """
        Distances and numbers of the k nearest rows of each query, equal ones by number.
        """

    def within(self, indptr: Ints, columns: Indices, numbers: Floats, lengths: Floats, itself: bool, once: bool, least: float, n_jobs: int) -> tuple[Ints, Indices, Floats]:
        """
        All rows with a cosine of at least that: offsets by query, rows, distances.
        """

    def reach_tree(self, nearest: Indices, counts: Ints, n_core: int, n_jobs: int) -> tuple[Indices, Indices, Floats, Floats]:
        """
        The minimum spanning tree of mutual reachability by 1 less the cosine: as reach_tree.
        """

def reach_tree(numbers: Numbers | tuple[Ints, Indices, Numbers], width: int, coords: Floats, nearest: Indices, counts: Ints, n_core: int, n_jobs: int) -> tuple[Indices, Indices, Floats, Floats]:
    """
    The minimum spanning tree of mutual reachability: the ends of its edges, ascending, and their lengths; and the core distance of each object.
    """

def merge_edges(a: Indices, b: Indices, n_objects: int) -> tuple[Indices, Indices, Ints]:
    """
    Merge along edges, one after another: the two nodes of each merge, and its size.
    """

def condense_tree(a: Indices, b: Indices, heights: Floats, n_objects: int, least_size: int) -> tuple[Indices, Indices, Floats, Ints]:
    """
    The clusters of a spanning tree: parents, children, heights at which these leave, sizes.
    """

def graph_merges(indptr: Ints, indices: Indices, distances: Floats, sizes: Ints, points: Floats | None) -> tuple[Indices, Indices, Floats, Ints]:
    """
    Merge along the edges of a graph, by Ward's distance of points, or without points by the mean length of edges: the two nodes of each merge, its height and its size.
    """

def sparse_product(indptr: Ints, indices: Indices, numbers: Numbers, n_columns: int, right: Floats, transposed: bool, n_jobs: int) -> Floats:
    """Multiply sparse rows, or their transpose, with a narrow matrix."""

def sparse_column_moments(indptr: Ints, indices: Indices, numbers: Numbers, n_columns: int) -> tuple[Floats, Floats, Floats, Floats]:
    """
    Mean, variance, least and greatest number of each column of sparse rows.
    """

def group_means(rows: Numbers, order: Indices, starts: Ints, n_jobs: int) -> Numbers:
    """Average the rows of each group."""

def grid_keys(coords: Floats, lower: Floats, upper: Floats, resolution: Ints, n_jobs: int) -> Ints:
    """Number the block of each object."""

def grid_cells(coords: Floats, lower: Floats, upper: Floats, resolution: Ints, n_jobs: int) -> Indices:
    """Find the cell of each object in each dimension."""

def sort_blocks(keys: Ints) -> tuple[Ints, Ints, Indices]:
    """
    Sort objects by block: the blocks' numbers, where each begins, and the objects.
    """

def near_ranges(row_keys: Ints, column_keys: Ints, column_starts: Ints, resolution: Ints) -> tuple[Ints, Ints, Ints]:
    """Find the ranges of sorted objects that are near each block."""

def split_blocks(coords: Floats, lower: Floats, upper: Floats, resolution: Ints, crowded: int, depth: int) -> tuple[Ints, Ints, Indices, Any, Ints, Ints, Ints]:
    """
    Sort objects by block, cut crowded blocks, and find which of them touch.
    """

def dense_similarities(near: tuple[Any, ...], which: int, rows: Any, columns: Any | None, row_norms: Floats | None, column_norms: Floats | None, centre: Floats | None, measure: int, scale: float, values: bool, single: bool, n_jobs: int) -> tuple[Any, Any, Any]:
    """
    Compare near objects given as rows of numbers: a CSR array's offsets, indices, values.
    """

def sparse_similarities(near: tuple[Any, ...], which: int, rows: tuple[Any, ...], columns: tuple[Any, ...], width: int, measure: int, scale: float, single: bool, n_jobs: int) -> tuple[Any, Any, Any]:
    """
    Compare near objects given as sparse rows: a CSR array's offsets, indices, values.
    """

def hat_weights(indptr: Ints, indices: Indices, rows: Floats, columns: Floats, n_jobs: int) -> Floats:
    """
    Of each entry of a CSR array the product of 1 - |u - v|, or 0, over its coordinates.
    """

class RuleColumns:
    """Columns of codes as rule learners read them."""

    def __init__(self, n_records: int, kinds: Flags, default_codes: Indices, column_runs: Ints, run_codes: Indices, run_start: Ints, records: Indices, code_start: Ints | None = None, lower: Floats | None = None, upper: Floats | None = None) -> None: ...

class CoverMask:
    """Which records a rule covers."""

    def __init__(self, n_records: int) -> None: ...

    @property
    def values(self) -> Flags: ...

    @property
    def indicator(self) -> int: ...

    def covers(self, record: int) -> bool: ...

    def narrow_to(self, listed: Indices) -> None:
        """Add a condition that lists the records it covers."""

    def drop(self, listed: Indices) -> None:
        """Add a condition that lists the records it does not cover."""

class RuleBooster:
    """Gradient boosting with rules."""

    def __init__(self, columns: RuleColumns, targets: NDArray[Any], loss: str, heads: str, head_size: int, learning_rate: float, l1: float, l2: float, max_conditions: int, min_support: float, default_rule: bool, units: Singles | None, weights: Floats | None, sample: str, sample_fraction: float, strata: Indices | None, n_features: int, prune: bool, search: str, seed: int, held_weights: Floats | None = None, quantile: float = 0.5, monotone: Indices | None = None, group_start: Ints | None = None, group_columns: Indices | None = None, most_columns: int = 0) -> None: ...

    def grow(self, n_rules: int, patience: int, n_jobs: int, max_seconds: float = 0.0) -> int:
        """Add rules; returns how many were added."""

    def resume(self, start: Ints, covered: Indices, head_start: Ints, outputs: Indices, scores: Floats) -> None:
        """
        Take rules as they are, with all records that each covers, to grow more.
        """

    def rules(self) -> dict[str, Any]:
        """Return the rules that were grown as arrays."""

    def scores(self) -> Floats:
        """Return the scores of all records."""

class RuleGrower:
    """Rules for one class after another."""

    def __init__(self, columns: RuleColumns) -> None: ...

    def grow(self, counts: Singles, heuristic: str, parameter: float, max_conditions: int, min_support: float, n_jobs: int) -> tuple[Indices, Flags, Indices, Indices, Flags]:
        """
        Grow one rule: columns, operators, low and high codes of its conditions, and how many leading ones each record satisfies.
        """

def mine_itemsets(records: Records, min_count: int, kind: str, sizes: tuple[int, int], top: int, weights: Ints | None, excluded: Flags | None, groups: Flags | None, labels: NDArray[np.uint32] | None, alone: Ints | None, n_beside: int, max_bytes: tuple[int, int], count_only: bool, n_jobs: int) -> Any:
    """
    The frequent itemsets, the most frequent first: offsets, value ids or their labels, counts, the least count, and how it ended ("complete", "too many", "interrupted", or "too large": the item whose records take more than can be searched at a time, and what they take as its count); count_only: how many sets and items.
    """

def superset_counts(indptr: Ints, items: NDArray[np.uint32], counts: Ints, n_items: int, asked_indptr: Ints, asked_items: NDArray[np.uint32], n_jobs: int) -> Ints:
    """
    For each asked set the greatest count of a listed one that holds its items, or 0.
    """

def association_rules(indptr: Ints, items: NDArray[np.uint32], counts: NDArray[np.float64], n_items: int, total: float, min_confidence: float, redundant: bool, min_improvement: float, consequents: Flags | None, max_bytes: int) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64], bool]:
    """
    Rules to one item: offsets of antecedents, their items, consequents, counts of both sides and of antecedents, and whether these are all or would take more than max_bytes.
    """

def significant_rules(start: Ints, rows: Indices, labels: Flags, test: str, alternative: str, correction: str, alpha: float, n_permutations: int, seed: int, min_support: int, max_size: int, n_jobs: int) -> dict[str, Any]:
    """
    Find the conjunctions of items that labels depend on: path and closed items, support,
    positives and log_p of each, by p-value; limit, n_tests, n_testable, least_support, and
    minima of the permutations.
    """

def reduce_rules(start: Ints, rows: Indices, labels: Flags, path_start: Ints, path: Indices, closed_start: Ints, closed: Indices, support: Ints, positives: Ints, test: str, limit: float, redundant: bool, n_jobs: int) -> tuple[Ints, Ints, Indices]:
    """
    Drop rules that add nothing to an earlier one, and items that exclude no record: the rules
    kept, and their items.
    """

def margin_log_p(n_records: int, n_positives: int, support: Ints, positives: Ints, test: str, alternative: str) -> Floats:
    """
    Return natural logarithms of p-values of 2 x 2 tables with the same margin.
    """

def permuted_labels(n_records: int, n_positives: int, n_permutations: int, seed: int, n_jobs: int) -> Flags:
    """
    Return the labels of each permutation, a row each, as significant_rules draws them.
    """
