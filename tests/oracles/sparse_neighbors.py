"""Distances of sparse rows, one pair after another, and what is nearest by them."""

import numpy as np


def distance(a, b, metric):
    """Return the distance of two dense rows."""
    A, B = set(np.flatnonzero(a)), set(np.flatnonzero(b))
    shared, either = len(A & B), len(A | B)
    if metric == "jaccard":
        return 1 - (shared / either if either else 1.0)
    if metric == "overlap":
        return 1 - (shared / min(len(A), len(B)) if shared else 0.0)
    if metric == "hamming":
        return (either - shared) / len(a)
    if metric == "cosine":
        lengths = np.sqrt((a * a).sum()) * np.sqrt((b * b).sum())
        return max(1 - (a @ b / lengths if lengths else 0.0), 0.0)
    return np.sqrt(((a - b) ** 2).sum())


def distances(X, Y, metric):
    """Return all distances, written out."""
    return np.array([[distance(a, b, metric) for b in Y] for a in X])


def nearest(matrix, k, *, itself=False):
    """Return the k nearest columns of each row: by distance up to 12 digits, then by number."""
    chosen = []
    for i, row in enumerate(matrix):
        order = sorted((round(d, 12), j) for j, d in enumerate(row) if not (itself and i == j))
        chosen.append([j for _, j in order[:k]])
    return np.array(chosen)
