"""
Rules that add up
=================

Boosted rules predict by adding up what short rules say. The records here are sparse: most numbers
are zero, and the search never reads a zero.
"""

import matplotlib.pyplot as plt
import numpy as np

import tacit

X, labels = tacit.datasets.make_labelled_records(6000, 300, 0.02, 5, random_state=0)
X = X.tocsr()
train, test = slice(0, 4000), slice(4000, None)
print(f"{X.nnz:,} of {X.shape[0] * X.shape[1]:,} numbers are stored")

# %%
# Several labels at once. Each rule adds to the label where that helps most.
model = tacit.BoostedRulesClassifier(n_rules=600, max_conditions=3, random_state=0)
model.fit(X[train], labels[train])
print(model.to_text(top=8))
model.plot(top=8)

# %%
# How many rules does it take? Labels are turned over at random, 2 % of them: no model does better.
sizes = [100, 200, 400, 800, 1600]
wrong = []
for n_rules in sizes:
    some = tacit.BoostedRulesClassifier(n_rules=n_rules, max_conditions=3, random_state=0)
    predicted = some.fit(X[train], labels[train]).predict(X[test])
    wrong.append(np.mean(predicted != labels[test]))
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.plot(sizes, wrong, "o-")
axes.axhline(0.02, color="grey", linestyle=":")
axes.set(xscale="log", xlabel="rules", ylabel="fraction of wrong labels", ylim=(0, None))
axes.set_xticks(sizes, [str(size) for size in sizes], minor=False)
axes.minorticks_off()

# %%
# Why? The rules that cover one record, and what each of them adds.
record = X[[int(np.argmax(labels[:, 0]))]]
print(model.explain(record))

# %%
# An ordered list of rules for one label alone: the first that holds decides.
listed = tacit.CoveringRulesClassifier(random_state=0).fit(X[train], labels[train, 0])
print(listed.to_text())
print(f"accuracy {listed.score(X[test], labels[test, 0]):.3f}")
plt.show()
