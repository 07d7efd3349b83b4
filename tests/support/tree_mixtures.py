"""Random forests over columns of any arity, and clusters of them."""

import numpy as np
from hypothesis import strategies as st

from support.strategies import Data
from tacit.density.blocks import Blocks, join_columns
from tacit.density.clusters import TreeClusters
from tacit.density.layout import TreeLayout


def random_parents(rng, n_columns, rooted=0.3):
    """Draw a forest: columns in any order, each below one that came before it or a root."""
    order = rng.permutation(n_columns)
    parents = np.full(n_columns, -1, np.int64)
    for k in range(1, n_columns):
        if rng.random() >= rooted:
            parents[order[k]] = order[rng.integers(0, k)]
    return parents


def random_clusters(rng, layout, n_clusters, scale=1.0):
    """Draw clusters whose weights add up to `scale`."""
    cells = 0.02 + rng.gamma(0.7, size=(int(layout.first_cell[-1]), n_clusters))
    cells /= layout.row_sums(cells)
    return TreeClusters(layout, scale * rng.dirichlet(np.full(n_clusters, 3.0)), cells)


def random_blocks(rng, table):
    """Join columns at random; what records do not have shares a label."""
    n = len(table.schema)
    edges = np.array([sorted(rng.permutation(n)[:2]) for _ in range(n)] if n > 1 else [])
    edges = edges.reshape(-1, 2).astype(np.int64)
    return join_columns(table, edges, rng.random(len(edges)), int(rng.integers(3, 12)))


@st.composite
def mixtures(draw, max_columns=5, max_arity=4, max_rows=12):
    """Records, and a mixture of one or two trees over their columns."""
    n = draw(st.integers(1, max_columns))
    arities = draw(st.lists(st.integers(1, max_arity), min_size=n, max_size=n))
    defaults = [draw(st.integers(0, r - 1)) for r in arities]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, max_rows))
    codes = rng.integers(0, arities, (n_rows, n))
    weights = rng.integers(1, 9, n_rows) / 4 if draw(st.booleans()) else None
    table = Data([tuple(row) for row in codes.tolist()], arities, defaults, weights).table()
    n_groups = draw(st.integers(1, 2))
    groups = []
    for _ in range(n_groups):
        blocks = random_blocks(rng, table) if draw(st.booleans()) else Blocks.single(table.schema)
        layout = TreeLayout(blocks, random_parents(rng, len(blocks.members)))
        groups.append(random_clusters(rng, layout, int(rng.integers(1, 4)), 1 / n_groups))
    return table, codes.astype(np.int32), groups
