"""Slow, obvious answers about trees and nets over discrete columns, never by calling tacit.

Data is a list of rows of codes with the arity of each column, as in `oracles`; a code of None is a
missing value, where a test says so. A net is a tuple that holds a tuple of parents for each node,
ascending. A branching is a list with one parent for each node, -1 for a root.

The swap of two neighbours exchanges their names: each stands in the other's place in the net.
"""

import itertools
import math

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

SCORES = ("bic", "aic", "k2", "bdeu", "bds", "penalized")


# --- scores -----------------------------------------------------------------------------------


def family_counts(rows, arities, child, parents, weights=None):
    """Count records by parent state and child, those with a missing value left out."""
    q = math.prod(arities[p] for p in parents)
    counts = np.zeros((q, arities[child]))
    for number, row in enumerate(rows):
        if any(row[c] is None for c in (child, *parents)):
            continue
        state = 0
        for p in parents:
            state = state * arities[p] + row[p]
        counts[state, row[child]] += 1 if weights is None else weights[number]
    return counts


def log_likelihood(counts):
    """Return the sum of N_jk log(N_jk / N_j), where nothing counts as nothing."""
    return sum(n * math.log(n / row.sum()) for row in counts for n in map(float, row) if n > 0)


def dirichlet(counts, alpha, beta):
    """Return the log marginal likelihood of counts, one Dirichlet for each row."""
    total = 0.0
    for row in counts:
        total += math.lgamma(alpha) - math.lgamma(row.sum() + alpha)
        total += sum(math.lgamma(n + beta) - math.lgamma(beta) for n in map(float, row))
    return total


def fit_of(counts, score, prior_weight=1.0):
    """Return the part of a score that grows with the records: likelihood or marginal likelihood."""
    q, r = counts.shape
    if score == "k2":
        return dirichlet(counts, r * prior_weight, prior_weight)
    if score == "bdeu":
        return dirichlet(counts, prior_weight / q, prior_weight / (q * r))
    if score == "bds":
        seen = counts[counts.sum(axis=1) > 0]
        if len(seen) == 0:
            return 0.0
        return dirichlet(seen, prior_weight / len(seen), prior_weight / (len(seen) * r))
    return log_likelihood(counts)


def penalty(counts, score, n):
    """Return the price of a family's parameters, n records in all."""
    q, r = counts.shape
    log_n = math.log(max(n, 1.0))
    prices = {
        "bic": 0.5 * log_n * q * (r - 1),
        "aic": q * (r - 1),
        "penalized": 0.5 * log_n * q * r,  # of the ADtree paper: every entry is a parameter
    }
    return prices.get(score, 0.0)


def family_score(rows, arities, child, parents, score, prior_weight=1.0, weights=None):
    """Return the score of a family.

    With missing values it is that of the child alone, on all records that have it, and what the
    family gains over the child alone on the records that have all of its values.
    """
    total = len(rows) if weights is None else sum(weights)
    counts = family_counts(rows, arities, child, parents, weights)
    gain = fit_of(counts, score, prior_weight)
    gain -= fit_of(counts.sum(axis=0, keepdims=True), score, prior_weight)
    alone = fit_of(family_counts(rows, arities, child, (), weights), score, prior_weight)
    return alone + gain - penalty(counts, score, total)


class Families:
    """Scores of families of one table, each computed once."""

    def __init__(self, rows, arities, score, prior_weight=1.0, weights=None):
        self.asked = (rows, arities)
        self.settings = (score, prior_weight, weights)
        self.known = {}

    def __call__(self, child, parents):
        key = child, tuple(sorted(parents))
        if key not in self.known:
            self.known[key] = family_score(*self.asked, *key, *self.settings)
        return self.known[key]

    def net(self, parents):
        """Return the score of a whole net."""
        return sum(self(child, above) for child, above in enumerate(parents))


# --- nets -------------------------------------------------------------------------------------


def is_acyclic(parents):
    """Remove nodes without parents until none is left, or none can go."""
    left = {child: set(above) for child, above in enumerate(parents)}
    while left:
        free = {child for child, above in left.items() if not above}
        if not free:
            return False
        left = {child: above - free for child, above in left.items() if child not in free}
    return True


def all_nets(n, max_parents=None):
    """Yield every net without cycles over n nodes, n at most 4."""
    limit = n if max_parents is None else max_parents
    choices = [
        [
            above
            for size in range(min(limit, n - 1) + 1)
            for above in itertools.combinations([p for p in range(n) if p != child], size)
        ]
        for child in range(n)
    ]
    return (parents for parents in itertools.product(*choices) if is_acyclic(parents))


def is_allowed(parents, max_parents=None, required=(), forbidden=()):
    """Tell whether a net keeps to limits; arcs are pairs (from, to)."""
    held = set(arcs(parents))
    return (
        is_acyclic(parents)
        and (max_parents is None or all(len(above) <= max_parents for above in parents))
        and set(required) <= held
        and not set(forbidden) & held
    )


def best_nets(families, n, max_parents=None, required=(), forbidden=(), tolerance=1e-9):
    """Return the best score of all allowed nets, and the nets that have it."""
    scored = [
        (families.net(parents), parents)
        for parents in all_nets(n, max_parents)
        if is_allowed(parents, max_parents, required, forbidden)
    ]
    best = max(score for score, _ in scored)
    return best, [net for score, net in scored if score >= best - tolerance * (1 + abs(best))]


def arcs(parents):
    return [(p, child) for child, above in enumerate(parents) for p in above]


def from_arcs(n, pairs):
    return tuple(tuple(sorted(p for p, c in pairs if c == child)) for child in range(n))


def neighbours(parents, *, swaps=False, max_parents=None, required=(), forbidden=()):
    """Yield all allowed nets one move away: an arc added, removed, reversed, neighbours swapped."""
    n = len(parents)
    held = set(arcs(parents))
    moves = []
    for a, b in itertools.permutations(range(n), 2):
        if (a, b) in held:
            moves += [held - {(a, b)}, held - {(a, b)} | {(b, a)}]
        elif (b, a) not in held:
            moves.append(held | {(a, b)})
    if swaps:
        for a, b in sorted(held):
            name = {a: b, b: a}
            moves.append({(name.get(p, p), name.get(c, c)) for p, c in held})
    for pairs in moves:
        net = from_arcs(n, pairs)
        if net != parents and is_allowed(net, max_parents, required, forbidden):
            yield net


def best_improvement(families, parents, **limits):
    """Return the most that a single allowed move gains; -inf if there is no move."""
    score = families.net(parents)
    return max(
        (families.net(net) - score for net in neighbours(parents, **limits)), default=-math.inf
    )


def skeleton_and_colliders(parents):
    """Return what nets of one equivalence class share: their edges and unmarried parents."""
    edges = {frozenset(arc) for arc in arcs(parents)}
    colliders = {
        (child, frozenset(pair))
        for child, above in enumerate(parents)
        for pair in itertools.combinations(above, 2)
        if frozenset(pair) not in edges
    }
    return edges, colliders


# --- branchings -------------------------------------------------------------------------------


def branching_weight(weights, parents):
    return sum(weights[p, child] for child, p in enumerate(parents) if p >= 0)


def is_branching(parents):
    return is_acyclic([() if p < 0 else (p,) for p in parents])


def all_branchings(n):
    """Yield every parent vector without cycles, n at most 6."""
    choices = [[-1, *(p for p in range(n) if p != child)] for child in range(n)]
    return (parents for parents in itertools.product(*choices) if is_branching(parents))


def best_branching_weight(weights):
    """Return the weight of the best branching, by looking at all of them."""
    n = len(weights)
    return max(branching_weight(weights, parents) for parents in all_branchings(n))


def edmonds(weights):
    """Return the parents of a maximum branching of arcs of positive weight (from row to column).

    Chu–Liu and Edmonds by contraction: every node takes its best arc; a cycle becomes one node, an
    arc into it costs the arc of the cycle that it replaces.
    """
    n = len(weights)
    pairs = itertools.permutations(range(n), 2)
    chosen = _edmonds([(a, b, float(weights[a, b]), (a, b)) for a, b in pairs if weights[a, b] > 0])
    parents = [-1] * n
    for a, b in chosen:
        parents[b] = a
    return parents


def _edmonds(arcs_left):
    """Return the names of the arcs of a maximum branching; an arc is from, to, weight, name."""
    best = {}
    for arc in arcs_left:
        _, head, weight, _ = arc
        if weight > 0 and (head not in best or weight > best[head][2]):
            best[head] = arc
    cycle = _cycle({head: arc[0] for head, arc in best.items()})
    if cycle is None:
        return [arc[3] for arc in best.values()]
    weakest = min(best[node][2] for node in cycle)
    whole = ("cycle", *cycle)
    smaller, into = [], {}
    for number, (tail, head, weight, name) in enumerate(arcs_left):
        if tail in cycle and head in cycle:
            continue
        key = ("arc", number)
        into[key] = (name, head)
        if head in cycle:
            smaller.append((tail, whole, weight - best[head][2] + weakest, key))
        else:
            smaller.append((whole if tail in cycle else tail, head, weight, key))
    taken = [into[key] for key in _edmonds(smaller)]
    entered = {head for _, head in taken if head in cycle}
    # Without an arc into the cycle its weakest arc goes; that is what entering with gain 0 means.
    open_at = entered or {min(cycle, key=lambda node: (best[node][2], str(node)))}
    return [name for name, _ in taken] + [best[node][3] for node in cycle if node not in open_at]


def _cycle(parent):
    """Return the nodes of a cycle of a map from node to parent, or None."""
    for start in parent:
        seen, node = [], start
        while node in parent and node not in seen:
            seen.append(node)
            node = parent[node]
        if node in seen:
            return seen[seen.index(node) :]
    return None


def branching_gains(families, n):
    """Return what the score gains when the column's node gets the row's node as its only parent."""
    gains = np.full((n, n), -math.inf)
    for p, child in itertools.permutations(range(n), 2):
        gains[p, child] = families(child, (p,)) - families(child, ())
    return gains


# --- Chow–Liu trees ---------------------------------------------------------------------------


def mutual_information(joint):
    """Return the mutual information of a table of counts, in nats."""
    joint = np.asarray(joint, np.float64)
    total = joint.sum()
    if total <= 0:
        return 0.0
    p = joint / total
    outer = np.outer(p.sum(axis=1), p.sum(axis=0))
    return float(sum(p[k] * math.log(p[k] / outer[k]) for k in np.ndindex(p.shape) if p[k] > 0))


def pair_counts(rows, arities, a, b, weights=None):
    """Count records by the codes of two columns, those with a missing value left out."""
    counts = np.zeros((arities[a], arities[b]))
    for number, row in enumerate(rows):
        if row[a] is not None and row[b] is not None:
            counts[row[a], row[b]] += 1 if weights is None else weights[number]
    return counts


def information_matrix(rows, arities, weights=None):
    """Return the mutual information of all pairs of columns."""
    n = len(arities)
    matrix = np.zeros((n, n))
    for a, b in itertools.combinations(range(n), 2):
        matrix[a, b] = matrix[b, a] = mutual_information(pair_counts(rows, arities, a, b, weights))
    return matrix


def chow_liu_weight(matrix):
    """Return the weight of a maximum spanning tree, by SciPy."""
    n = len(matrix)
    if n < 2:
        return 0.0
    # A zero is no edge for SciPy: 1 + the largest weight minus the weight is always above zero.
    high = 1.0 + matrix.max()
    upper = np.triu(high - matrix, 1)
    return float((n - 1) * high - minimum_spanning_tree(csr_array(upper)).sum())


def best_tree_weight(matrix):
    """Return the weight of the best spanning tree by looking at all of them, n at most 6."""
    n = len(matrix)
    pairs = list(itertools.combinations(range(n), 2))
    return max(
        sum(matrix[edge] for edge in edges)
        for edges in itertools.combinations(pairs, n - 1)
        if is_spanning_tree(n, edges)
    )


def is_spanning_tree(n, edges):
    """Tell whether n - 1 edges join all nodes."""
    group = list(range(n))
    for a, b in edges:
        old, new = group[a], group[b]
        if old == new:
            return False
        group = [new if g == old else g for g in group]
    return len(edges) == n - 1


def tree_log_likelihood(rows, arities, edges, weights=None):
    """Return the log-likelihood of complete rows under the tree's maximum-likelihood parameters.

    Every edge is asked for its own table: the product of edge tables over node tables.
    """
    n = len(arities)
    total = 0.0
    singles = [family_counts(rows, arities, c, (), weights)[0] for c in range(n)]
    joints = {(a, b): pair_counts(rows, arities, a, b, weights) for a, b in edges}
    records = len(rows) if weights is None else sum(weights)
    for number, row in enumerate(rows):
        weight = 1 if weights is None else weights[number]
        if weight == 0:
            continue
        log_ratio = sum(math.log(singles[c][row[c]] / records) for c in range(n))
        for a, b in edges:
            both = joints[a, b][row[a], row[b]] / records
            log_ratio += math.log(both * records**2 / (singles[a][row[a]] * singles[b][row[b]]))
        total += weight * log_ratio
    return total


def entropy(counts):
    """Return the entropy of a one-way count, in nats."""
    p = np.asarray(counts, np.float64)
    p = p[p > 0] / p.sum()
    return float(-(p * np.log(p)).sum())


# --- equivalence classes ----------------------------------------------------------------------


def essential_graph(parents):
    """Return arcs (both ways for an edge without direction) that all equivalent nets agree on.

    Directions of colliders first, then Meek's rules until nothing changes.
    """
    edges, colliders = skeleton_and_colliders(parents)
    n = len(parents)
    graph = {(a, b) for edge in edges for a, b in itertools.permutations(edge)}
    near = {a: {b for b in range(n) if (a, b) in graph} for a in range(n)}
    for child, pair in colliders:
        graph -= {(child, p) for p in pair}

    def directed(a, b):
        return (a, b) in graph and (b, a) not in graph

    def open_edges():
        return [(a, b) for a, b in sorted(graph) if (b, a) in graph]

    def must_be(a, b):
        """Tell whether a — b has to be a → b."""
        if any(directed(c, a) and b not in near[c] for c in near[a] - {b}):
            return True
        between = near[a] & near[b]
        if any(directed(a, c) and directed(c, b) for c in between):
            return True
        heads = [c for c in between if (a, c) in graph and (c, a) in graph and directed(c, b)]
        return any(d not in near[c] for c, d in itertools.combinations(heads, 2))

    while forced := [(a, b) for a, b in open_edges() if must_be(a, b)]:
        graph.discard(forced[0][::-1])
    return graph


def hamming_distance(one, two, *, equivalence=True):
    """Count the pairs of nodes on which two nets differ, or two classes of equivalent nets."""
    first, second = (essential_graph(net) if equivalence else set(arcs(net)) for net in (one, two))
    return sum(
        ((a, b) in first, (b, a) in first) != ((a, b) in second, (b, a) in second)
        for a, b in itertools.combinations(range(len(one)), 2)
    )
