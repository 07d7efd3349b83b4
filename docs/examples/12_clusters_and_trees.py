"""
Clusters and trees
==================

A tree says which columns go together, clusters say which records are alike. A mixture of dependency
trees says both, and is better at telling how probable new records are.
"""

# %%
# Three quarters of the visits to learn from, a quarter to test on.

import matplotlib.pyplot as plt
import numpy as np

import tacit

visits = tacit.datasets.load_visits()
train, test = visits.take(np.arange(15_000)), visits.take(np.arange(15_000, 20_000))

# %%
# The mixture holds a tenth of the records out. They choose how many clusters there are.

mix = tacit.TreeMixture(random_state=0).fit(train)
print(mix.to_text(top=5))
mix.selection_

# %%
# How much is won over either of its parents, and by averaging several? All on the same new records.

models = {
    "independent columns": tacit.NaiveBayesMixture(1).fit(train),
    "a tree": tacit.DependencyTree().fit(train),
    "clusters": tacit.NaiveBayesMixture(random_state=0).fit(train),
    "clusters of trees": mix,
    "20 of them": tacit.TreeMixture(
        mix.n_clusters_, smoothing=mix.smoothing_, n_estimators=20, random_state=0
    ).fit(train),
}
scores = {name: model.score(test) for name, model in models.items()}

figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
bars = axes.barh(list(scores), [score - min(scores.values()) for score in scores.values()])
axes.bar_label(bars, [f"{score:.3f}" for score in scores.values()], padding=3)
axes.invert_yaxis()
axes.margins(x=0.15)
axes.set(xlabel="nats a record more than independent columns, on new records")
plt.show()

# %%
# Within clusters, some columns still say much of each other: these are the edges.

mix.plot()
plt.show()

# %%
# It is one distribution, and can be asked anything: what do readers of sports look at?

told = mix.marginals({"sports": True})
base = mix.marginals()
lifts = {name: told[name][True] / base[name][True] for name in ("scores", "football", "stocks")}
{name: round(float(lift), 2) for name, lift in lifts.items()}
