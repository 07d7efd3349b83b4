"""Records drawn from mixtures whose clusters can be told apart."""

import numpy as np

from tacit import Table


def draw_separable(n_clusters, n_records=2000, n_columns=40, arity=2, seed=0):
    """Return records of clusters of unequal sizes, each with some columns of its own.

    A column is rarely anything but 0, except in those clusters that it belongs to; what it is then
    differs from cluster to cluster.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(1, 3, n_clusters)
    clusters = rng.choice(n_clusters, n_records, p=sizes / sizes.sum())
    shape = (n_clusters, n_columns)
    own = rng.random(shape) < 0.25
    likely = np.where(own, rng.uniform(0.4, 0.9, shape), rng.uniform(0.01, 0.1, n_columns))
    codes = (rng.random((n_records, n_columns)) < likely[clusters]).astype(np.int64)
    if arity > 2:
        bounds = np.cumsum(rng.dirichlet(np.ones(arity - 1), shape), axis=-1)[..., :-1]
        codes *= 1 + (rng.random((n_records, n_columns, 1)) > bounds[clusters]).sum(axis=-1)
    return Table(codes), clusters
