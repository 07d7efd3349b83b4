"""Records whose classes, labels and numbers follow from a few conditions."""

import numpy as np


def make_records(n=300, n_columns=6, seed=0):
    """Return sparse numbers, and labels that follow from them but for some noise."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, n_columns)) < 0.4, rng.integers(-3, 6, (n, n_columns)), 0)
    X = X.astype(np.float64)
    first = (X[:, 0] > 1) | (X[:, 1] < 0)
    second = (X[:, 2] > 2) & (X[:, 0] <= 1)
    labels = np.stack([first, second, X[:, 3] != 0], axis=1)
    labels ^= rng.random(labels.shape) < 0.03
    return X, labels.astype(np.int64)


X, LABELS = make_records()
CLASSES = np.array(["low", "middle", "high"])[LABELS[:, 0] + LABELS[:, 1]]
TARGETS = {"binary": LABELS[:, 0], "multiclass": CLASSES, "multilabel": LABELS}
