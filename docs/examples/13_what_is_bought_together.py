"""
What is bought together
=======================

Sets of items that many baskets hold, rules between them, which of those are not chance, and what to
recommend: four questions of the same records.
"""

# %%
# Visitors of a web site, and the areas that each of them saw: a visit is a basket of areas.

import matplotlib.pyplot as plt

import tacit

visits = tacit.datasets.load_visits()
areas = visits.select(visits.schema.names[3:])  # what was seen, not by whom

# %%
# Every set of areas that one visit in a hundred holds. A closed set is one that any further area
# would make rarer; they tell the counts of all others.

sets = tacit.FrequentItemsets(min_support=0.01).fit(areas)
print(sets.to_text(top=8))

# %%
# Rules say which area follows from which. Rules with spare conditions are left out.

rules = sets.rules(min_confidence=0.3)
print(rules.strongest(8, by="lift").to_text())

# %%
# All of them at once: how many visits they are about, how sure they are, and how much they say.

rules.plot()
plt.show()

# %%
# And as a network.

rules.strongest(15, by="leverage").plot(kind="network")
plt.show()

# %%
# Among so many rules some are always striking by chance. ``SignificantRules`` looks at all
# conjunctions, too, and answers for the whole search: of twenty such lists, one at most has a rule
# in it that is not there.

sure = tacit.SignificantRules(max_size=2, random_state=0).fit(areas, "recipes")
print(sure.to_text(top=6))

# %%
# What would a visitor want to see next? The recommender learns from all areas of a visit together,
# and finds items that were hidden from it more often than popularity does.

found = tacit.evaluate_recommender(
    {
        "recommender": tacit.Recommender("linear", random_state=0),
        "cosines": tacit.Recommender("neighbors"),
        "popularity": tacit.Recommender("popularity"),
    },
    areas,
    n=3,
)
found

# %%
# What it says to one visitor, and why.

linear = tacit.Recommender("linear", random_state=0).fit(areas)
linear.recommend(["sports", "news"], n=3)

# %%
linear.explain(["sports", "news"], "scores")
