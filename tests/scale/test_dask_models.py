"""Every model that takes partitions is the same on a cluster as on this machine."""

import numpy as np
import pytest

import tacit
from tacit.scale import on_dask, partition


@pytest.fixture(scope="module")
def parts():
    visits = tacit.datasets.load_visits()
    return partition(visits.take(np.arange(4000)).select(visits.schema.names[:12]), 5)


MODELS = {
    "mixture": lambda X: tacit.NaiveBayesMixture(3, n_init=2, max_iter=8, random_state=0).fit(X),
    "k-means": lambda X: tacit.KMeans(3, n_init=2, max_iter=8, random_state=0).fit(X),
    "tree": lambda X: tacit.DecisionTreeClassifier(max_leaf_nodes=6).fit(X, "news"),
    "network": lambda X: tacit.DependencyNetwork().fit(X),
    "exact dependency tree": lambda X: tacit.DependencyTree("exact").fit(X),
    "mist": lambda X: tacit.DependencyTree("mist", initial_sample=500, random_state=0).fit(X),
    "net": lambda X: tacit.BayesNet(n_restarts=1, max_parents=2, random_state=0).fit(X),
    "branching": lambda X: tacit.Branching().fit(X),
    "tree mixture": lambda X: tacit.TreeMixture(3, max_iter=8, random_state=0).fit(X),
    "trees of clusters": lambda X: tacit.TreeMixture(
        2,
        trees="separate",
        n_estimators=2,
        smoothing=1.0,
        max_joint_labels=4,
        max_iter=8,
        validation=None,
        random_state=0,
    ).fit(X),
    "grid": lambda X: tacit.SparseComputation(random_state=0).fit(X),
    "itemsets": lambda X: tacit.FrequentItemsets(min_support=0.02, defaults=True).fit(X),
    "neighbours": lambda X: tacit.SparseKNeighborsClassifier(group_width=1.0).fit(X, "news"),
}


def told(model, X):
    """Return what a fitted model says of records and of itself."""
    if isinstance(model, tacit.BayesNet):
        return [model.arcs_, model.log_likelihood(X)]
    if isinstance(model, tacit.FrequentItemsets):
        sets = model.itemsets_
        return [sets.indptr, sets.cells, sets.counts, model.rules().counts]
    if isinstance(model, tacit.SparseComputation):
        return [model.n_pairs_, model.transform(X)]
    said = model.predict(X) if hasattr(model, "classes_") else model.score(X)
    names = ("edges_", "weights_", "cluster_centers_", "parent_")
    return [said, *(getattr(model, name) for name in names if hasattr(model, name))]


@pytest.mark.parametrize("name", MODELS)
def test_same_on_a_cluster(client, parts, name):
    here = MODELS[name](parts)
    expected = told(here, parts)
    with on_dask(client):
        there = MODELS[name](parts)
        found = told(there, parts)
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        if isinstance(one, (list, tuple)):
            assert one == other
        else:
            assert np.array_equal(one, other)


def test_workers_write_what_is_materialised(client, parts, tmp_path):
    with on_dask(client):
        kept = parts.materialise(tmp_path / "kept")
        found = kept.pairs().stored
    assert np.array_equal(found, parts.pairs().stored)
    again = tacit.scan(tmp_path / "kept")
    assert again.partition_sizes.tolist() == parts.partition_sizes.tolist()
