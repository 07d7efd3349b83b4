"""
What if
=======

A Bayes net answers questions about any columns, given any others.
"""

# %%
# It is learnt from data: arcs between columns, found by local search, and a table of probabilities
# for each column given its parents.

import matplotlib.pyplot as plt

import tacit

visits = tacit.datasets.load_visits()
net = tacit.BayesNet(n_restarts=20, random_state=0).fit(visits)
print(net.learning_)

# %%
# Arcs go from left to right. They are no causes: many could as well point the other way.

net.plot()
plt.show()

# %%
# How probable is a purchase?

net.query("checkout")

# %%
# And if something is in the cart, from a phone?

net.query("checkout", given={"cart": True, "device": "phone"})

# %%
# What changes most when a visitor reads about sports? All other columns, at once:

before, after = net.marginals(), net.marginals({"sports": True})
changes = {
    name: answer[True] - before[name][True]
    for name, answer in after.items()
    if True in answer.labels[0]
}
for name in sorted(changes, key=lambda name: -abs(changes[name]))[:5]:
    print(f"{name:10} {before[name][True]:6.1%} → {after[name][True]:6.1%}")

# %%
# A visitor who may exist: records are drawn exactly, whatever is given.

net.sample(5, given={"cart": True}, random_state=0).to_frame().select(
    "region", "device", "electronics", "fashion", "cart", "checkout"
)

# %%
# The same columns are more probable together than each by itself, in visits that were not learnt
# from, too.

train, test = visits.take(range(15_000)), visits.take(range(15_000, 20_000))
alone = tacit.BayesNet(max_parents=0).fit(train).score(test)
together = tacit.BayesNet(n_restarts=20, random_state=0).fit(train).score(test)
print(f"nats of log-likelihood a record: {alone:.2f} alone, {together:.2f} together")
