"""
Thousands of tables
===================

Which two things say most about whether a visitor looks at the weather? To find out, we need a
table for each pair of columns, and a tree of counts gives them all in no time.
"""

# %%
# An :class:`~tacit.ADTree` caches counts of combinations. It grows as it is asked, or all at once.

import time
from itertools import combinations

import matplotlib.pyplot as plt

import tacit

visits = tacit.datasets.load_visits()
start = time.perf_counter()
tree = tacit.ADTree(visits).build()
print(f"{tree}, built in {1000 * (time.perf_counter() - start):.0f} ms")

# %%
# How large could it have become? Theory has something to say about that.

print(tree.stats())

# %%
# With 27 columns there are 325 pairs of others to put beside the target. ``tables`` counts all of
# them in one call.

target = "weather"
others = [name for name in visits.schema.names if name != target]
triples = [(a, b, target) for a, b in combinations(others, 2)]
start = time.perf_counter()
tables = tree.tables(triples)
seconds = time.perf_counter() - start
print(f"{tables}: {1e6 * seconds / len(tables):.1f} µs for each table")

# %%
# Reading the records gives the same counts. It takes longer, and longer still the more records
# there are.

start = time.perf_counter()
scanned = tacit.counts.Scan(visits).tables(triples)
slower = (time.perf_counter() - start) / seconds
print(f"same counts: {(scanned.counts == tables.counts).all()}; {slower:.0f} times as long")

# %%
# How much information has each pair about the target? Few records make pairs of many labels look
# informative, so we correct for that. The unit is nats.

information = {
    table.names[:2]: table.mutual_information(
        table.names[:2], target, bias_correction="miller_madow"
    )
    for table in tables
}
ranked = sorted(information, key=information.get, reverse=True)
for pair in ranked[:5]:
    print(f"{' and '.join(pair):>20}: {information[pair]:.4f} nats")

# %%
# Each alone has much less information than the two together:

best = ranked[0]
table = tree.table([*best, target])
for name in best:
    alone = table.mutual_information(name, target, bias_correction="miller_madow")
    print(f"{name:>20}: {alone:.4f} nats")

# %%
# Why? A table of two columns draws itself. On the left are visitors who do not look at the weather,
# on the right those who do. Each map adds up to 100 %.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
for ax, looks in zip(axes, (False, True), strict=True):
    tree.table(best, given={target: looks}).plot(ax, normalize="all")
    ax.set_title(f"{target}: {looks}")
plt.show()

# %%
# More than half of those who look at the weather have seen neither of the two pages: they came for
# the weather and left. And few of them saw the news without the front page: who comes for the news
# alone leaves, too. It takes both columns to tell these visitors from those who stroll around.
#
# Conditions cost nothing extra, whichever columns they are about. What do subscribers from each
# region use to read?

tree.table(["region", "device"], given={"subscriber": True}).plot(normalize="rows")
plt.show()
