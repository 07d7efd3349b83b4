"""Objects in clusters and documents of two sources."""

import numpy as np

from tacit.datasets import make_documents, make_objects


def test_objects_lie_around_the_centres_of_their_clusters():
    X, y = make_objects(3000, 10, n_clusters=4, spread=0.1, random_state=1)
    assert X.shape == (3000, 10)
    assert set(y.tolist()) == {0, 1}
    nearest = np.unique(X.round(0), axis=0)
    assert len(nearest) < 600
    _, classes = make_objects(3000, 10, n_clusters=4, n_classes=4, spread=0.1, random_state=1)
    for k in range(4):
        assert X[classes == k].std(axis=0).max() < 0.15
        assert 600 < (classes == k).sum() < 900
    assert ((classes % 2) == y).all()


def test_objects_are_the_same_for_the_same_seed_however_many_are_drawn_at_once(monkeypatch):
    X, y = make_objects(500, 7, random_state=3)
    monkeypatch.setattr("tacit.datasets.objects._BLOCK", 70)
    again, labels = make_objects(500, 7, random_state=3)
    assert (again == X).all()
    assert (labels == y).all()
    assert (make_objects(500, 7, random_state=4)[0] != X).all()


def test_documents_have_the_size_that_is_asked_for():
    X, y = make_documents(800, 3000, length=40, second_fraction=0.25, random_state=0)
    assert X.shape == (800, 3000)
    assert X.nnz == 32_000
    assert y.sum() == 200
    assert (X.data == 1).all()
    assert X.has_canonical_format
    lengths = np.diff(X.indptr)
    assert lengths.min() >= 1
    assert 3 < lengths[y == 1].mean() / lengths[y == 0].mean() < 5


def test_words_are_popular_by_zipf_and_sources_differ():
    X, y = make_documents(2000, 1000, length=50, second_fraction=0.5, random_state=0)
    held = np.sort(X.sum(axis=0))[::-1]
    assert held[:10].mean() > 20 * held[500:].mean()
    shares = np.stack([X[y == k].mean(axis=0) / X[y == k].sum() for k in (0, 1)])
    shares /= shares.sum(axis=1, keepdims=True)
    assert np.abs(shares[0] - shares[1]).sum() > 0.3
    again, _ = make_documents(2000, 1000, length=50, second_fraction=0.5, random_state=0)
    assert (again != X).nnz == 0


def test_one_topic_and_one_source():
    X, y = make_documents(50, 100, length=3, n_topics=1, second_fraction=0)
    assert not y.any()
    assert X.nnz == 150
