"""
What depends on what
====================

Who looks at scores? And what else would a visitor of these pages want to see?
"""

# %%
# A decision tree tells one column from all others. It stops by itself where another question would
# not pay; here it is kept small on top of that.

import matplotlib.pyplot as plt

import tacit

visits = tacit.datasets.load_visits()
tree = tacit.DecisionTreeClassifier(max_leaf_nodes=6).fit(visits, "scores")
print(tree.to_text())

# %%
# Each box has the number of records and the fractions of the classes; edges are as wide as they
# have records.

tree.plot()
plt.show()

# %%
# Leaves are rules.

tree.to_frame()

# %%
# A dependency network has such a tree for every column. Its arcs say what predicts what, and how
# strongly.

web = tacit.DependencyNetwork(n_jobs=2).fit(visits)
web.strongest(top=10)

# %%
# The strongest of them as a graph. ``web.to_html()`` is a page of it that can be explored.

web.plot(top=25)
plt.show()

# %%
# What goes with a basket?

web.recommend(["home", "sports"], n=5)

# %%
# The network knows more than each column by itself: how probable are the values of other visitors,
# each given the rest of the record?

train, test = visits.take(range(15_000)), visits.take(range(15_000, 20_000))
alone = tacit.DependencyNetwork(max_leaf_nodes=1).fit(train).score(test)
together = tacit.DependencyNetwork().fit(train).score(test)
print(f"log-likelihood of a record in nats: {alone:.2f} alone, {together:.2f} together")
