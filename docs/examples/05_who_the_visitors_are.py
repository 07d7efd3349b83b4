"""
Kinds of visitors
=================

Twenty thousand visitors of a web site, 27 things known of each, most of them "did not go there".
What kinds of visitors are there?
"""

# %%
# A mixture finds kinds of records. How many there are can be left to it: it begins with one and
# splits while that pays.

import matplotlib.pyplot as plt

import tacit

visits = tacit.datasets.load_visits()
mix = tacit.NaiveBayesMixture("auto", max_clusters=20, random_state=0).fit(visits)
mix.selection_

# %%
# The curve says what each number of clusters was worth.

curve = mix.selection_.group_by("clusters").max().sort("clusters")
plt.plot(curve["clusters"], curve["cheeseman_stutz"], marker="o")
plt.xlabel("clusters")
plt.ylabel("log marginal likelihood, approximately (nats)")
plt.show()

# %%
# What are they? A profile says for each cluster how large it is, and what its members do more or
# less often than others.

print(mix.profile().to_text(top=3))

# %%
# The same at a glance: lifts of the most characteristic values.

mix.plot()
plt.show()

# %%
# New visitors get a cluster, or the probability of each.

newcomers = mix.sample(3, random_state=0)
mix.predict_proba(newcomers).round(2)
