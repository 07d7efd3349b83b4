"""
What goes together
==================

Twenty thousand people visited a web site with 24 areas. Which areas are seen by the same people?
Counting all pairs answers that in one go.
"""

# %%
# The data come with tacit. They are invented, so we can see whether the answers make sense.

import matplotlib.pyplot as plt
import numpy as np

import tacit

visits = tacit.datasets.load_visits()
visits.summary()

# %%
# One call counts every column against every other.

pairs = visits.pairs()
pairs["sports", "scores"]

# %%
# ``strongest`` ranks pairs by how many more people had both than one would expect if the two had
# nothing to do with each other.

top = pairs.strongest(top=14)
top

# %%
# A picture says it faster. The open circle is what independence would give, the full one is what
# happened.

fig, ax = plt.subplots(figsize=(7.5, 5.4), layout="constrained")
place = np.arange(len(top))[::-1]
ax.hlines(place, top["expected"], top["count"], color="tab:blue", lw=2, zorder=1)
ax.scatter(
    top["expected"], place, s=42, facecolor="white", edgecolor="0.45", lw=1.5, zorder=2,
    label="expected of independent columns",
)  # fmt: skip
ax.scatter(top["count"], place, s=48, color="tab:blue", zorder=2, label="counted")
for y, count, lift in zip(place, top["count"], top["lift"], strict=True):
    ax.annotate(
        f"× {lift:.1f}", (count, y), xytext=(9, 0), textcoords="offset points", va="center",
        color="0.35", fontsize=9,
    )  # fmt: skip
ax.set_yticks(place, [f"{a}  +  {b}" for a, b in zip(top["a"], top["b"], strict=True)])
ax.set(xlabel="visitors who had both", title="The pairs that stand out most")
ax.set_xlim(0, 1.14 * max(top["count"]))
ax.tick_params(axis="y", length=0)
ax.grid(axis="x", color="0.92")
ax.set_axisbelow(True)
ax.spines[["top", "right", "left"]].set_visible(False)
ax.legend(loc="lower right", frameon=False)
plt.show()

# %%
# In words, for the first few:

for row in top.head(4).iter_rows(named=True):
    print(
        f"{row['a']} and {row['b']}: {row['count']:,} visitors saw both, "
        f"{row['lift']:.1f} times as many as expected."
    )

# %%
# Ranked by lift, the ratio, rare pairs come to the fore. ``min_count`` keeps out those that are too
# rare to mean anything.

pairs.strongest(top=6, by="lift", min_count=100)

# %%
# The whole site on one map: pairs in red share more visitors than expected, pairs in blue fewer.
# The counts of stored values are in ``pairs.stored``, and the schema knows which row is whose.

schema = visits.schema
names = [name for name in schema.names if name not in ("region", "device", "subscriber")]
ids = [schema.values_of(schema.position(name))[0] for name in names]

count = pairs.stored[np.ix_(ids, ids)]
alone = pairs.singles.stored[ids]
lift = count * pairs.total / np.outer(alone, alone)
doublings = np.log2(np.maximum(lift, 1 / 16))
np.fill_diagonal(doublings, np.nan)

fig, ax = plt.subplots(figsize=(7.5, 6.6), layout="constrained")
image = ax.imshow(doublings, cmap="RdBu_r", vmin=-3, vmax=3)
ax.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
ax.set_yticks(range(len(names)), names, fontsize=8)
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
ax.set_title("Who sees one, sees the other?")
bar = fig.colorbar(image, shrink=0.7, ticks=[-3, -2, -1, 0, 1, 2, 3])
bar.ax.set_yticklabels(["⅛ or less", "¼", "½", "as expected", "2 ×", "4 ×", "8 × or more"])
bar.outline.set_visible(False)
plt.show()

# %%
# A pair that stands out is a reason to look closer, at one subset for instance: does the north look
# at the weather because it uses phones more?

for device in ("phone", "desktop", "tablet"):
    table = visits.contingency(["region", "weather"], given={"device": device})
    fractions = {
        region: table[region, True] / (table[region, True] + table[region, False])
        for region in table.columns[0].labels
    }
    print(f"{device:>8}:", ", ".join(f"{region} {s:.0%}" for region, s in fractions.items()))

# %%
# No: on each device, the north does so more than others.
