"""
A tree over the columns
=======================

Which columns hang together, what follows from a few values, and how little has to be read to know.
"""

# %%
# The tree joins the columns that tell most of each other.

import matplotlib.pyplot as plt
import numpy as np

import tacit

visits = tacit.datasets.load_visits()
tree = tacit.DependencyTree().fit(visits)
tree.plot()
plt.show()

# %%
# It is a joint distribution. What else are visitors of the sports pages likely to visit?

before, after = tree.marginals(), tree.marginals({"sports": True})
rises = {
    name: (before[name][True], after[name][True])
    for name in after
    if after[name].labels[0] == (False, True)
}
for name, (alone, given) in sorted(rises.items(), key=lambda x: x[1][0] - x[1][1])[:5]:
    print(f"{name:12}  {alone:6.1%}  →  {given:6.1%}")

# %%
# Records that are as probable as most, and some that are not: a visit that no page explains.

scores = tree.score_samples(visits)
_, axes = plt.subplots()
axes.hist(scores, bins=60)
axes.set_xlabel("log-probability of a record (nats)")
plt.show()

# %%
# Here are numbers, of a tree that is known. The red rule reads only what it needs to decide; the
# more records there are, the smaller a fraction of them that is.

sizes, usage = [5_000, 10_000, 20_000, 50_000, 100_000], []
for size in sizes:
    X, edges = tacit.datasets.make_dependency_tree(size, 40, random_state=1)
    mist = tacit.DependencyTree("mist", random_state=0).fit(X)
    usage.append(mist.edge_usage_)
    print(f"{size:7,} records: {usage[-1]:6.1%} read, right: {np.array_equal(mist.edges_, edges)}")

_, axes = plt.subplots()
axes.plot(sizes, usage, marker="o")
axes.set(xlabel="records", ylabel="fraction of (record, pair) read", ylim=(0, None))
plt.show()
