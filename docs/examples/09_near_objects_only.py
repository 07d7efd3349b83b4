"""
Near objects only
=================

Similarities of objects that are near each other, and what can be learned from them: neighbours,
cuts and support vectors, without comparing all pairs.
"""

# %%
# Objects in sixty clusters, each of one of two classes. The grid is laid over a projection to three
# dimensions; only blocks that hold an object exist.

import matplotlib.pyplot as plt
import numpy as np

import tacit

X, y = tacit.datasets.make_objects(20_000, 12, n_clusters=20, random_state=3)
sc = tacit.SparseComputation(resolution=15, random_state=0).fit(X)
sc.plot(y=y, max_objects=2_000)
plt.show()

# %%
# How many pairs are near is known before any are compared: the finer the grid, the fewer.

resolutions = [2, 3, 5, 8, 12, 20, 30, 50]
forecasts = [sc.forecast(k) for k in resolutions]
for k, forecast in zip(resolutions, forecasts, strict=True):
    print(f"resolution {k:3}: {forecast}")

_, axes = plt.subplots()
axes.loglog(resolutions, [f.density for f in forecasts], marker="o")
axes.set(xlabel="resolution", ylabel="fraction of all pairs that are near")
plt.show()

# %%
# Accuracy hardly depends on how many of them are compared.

train, test = slice(0, 16_000), slice(16_000, 20_000)
classifiers = {
    "neighbours": tacit.SparseKNeighborsClassifier(5, random_state=0),
    "cut": tacit.NormalizedCutClassifier(scale=2, balance=0.1, random_state=0),
    "support vectors": tacit.SparseSVC(scale=0.5, random_state=0),
}
fine = [8, 12, 20, 30]
_, axes = plt.subplots()
for name, model in classifiers.items():
    scores = [
        model.set_params(resolution=k).fit(X[train], y[train]).score(X[test], y[test]) for k in fine
    ]
    print(f"{name:16}", *(f"{score:.3f}" for score in scores))
    axes.plot(fine, scores, marker="o", label=name)
axes.set(xlabel="resolution", ylabel="accuracy", ylim=(0.5, 1))
axes.legend()
plt.show()

# %%
# A cut can do with a handful of labels: here are five of each class, all others follow from
# similarity. Along the balance, objects join the first class one after another; all these cuts are
# found at once.

two, which = tacit.datasets.make_objects(600, 2, n_clusters=2, spread=0.4, random_state=5)
near = tacit.SparseComputation(8, projection="none", random_state=0).fit(two)
graph = near.similarity("exponential", scale=30.0)
seeds = np.full(600, -1)
for label in (0, 1):
    seeds[np.flatnonzero(which == label)[:5]] = label
path = tacit.normalized_cut_path(graph, seeds)
print(path.to_text())
cut = tacit.normalized_cut(graph, seeds, balance=0.0)
print(f"{np.mean(cut.members == (which == 1)):.1%} of the objects are where they belong")
print(cut.to_text())
cut.plot(coords=near.coords_)
plt.show()
