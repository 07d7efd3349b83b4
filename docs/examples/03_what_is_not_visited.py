"""
What is not visited
===================

All tables in this example have the same number of records and of columns, and so the same number of
values. They differ in how many of these are stored. How long does it take to count all pairs?
"""

# %%
# A table of 20,000 records and 200 columns has four million values. We draw nine of them, in which
# between 1 in 1,000 and 1 in 4 values differ from the default.

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import tacit

RECORDS, COLUMNS = 20_000, 200
FRACTIONS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25]


# %%
# What would one do without tacit? For a table X of zeros and ones, the pair counts are the product
# XᵀX, and NumPy's product of float matrices is about the fastest way to compute with a dense table.
# That is the yardstick, with one thread for each side. Before times are compared, we make sure that
# the counts are the same.

rng = np.random.default_rng(1)
tables, floats = [], []
for fraction in FRACTIONS:
    X = rng.random((RECORDS, COLUMNS), dtype=np.float32) < fraction
    tables.append(tacit.Table(sparse.csr_array(X.astype(np.int8))))
    floats.append(X.astype(np.float32))
    assert np.array_equal(tables[-1].pairs().stored, floats[-1].T @ floats[-1])

# %%
# Each time is the shortest of nine, taken in rounds, so that whatever else the machine is doing
# does not hit one table only.

WAYS = {
    "tacit": lambda k: tables[k].pairs(),
    "within records": lambda k: tables[k].pairs(method="outer"),
    "bitmaps": lambda k: tables[k].pairs(method="bitmap"),
    "dense": lambda k: floats[k].T @ floats[k],
}
best = {way: np.full(len(FRACTIONS), np.inf) for way in WAYS}
with threadpool_limits(1):
    for _ in range(9):
        for k in range(len(FRACTIONS)):
            for way, work in WAYS.items():
                work(k)  # so that each finds the caches as it left them
                start = time.perf_counter()
                work(k)
                best[way][k] = min(best[way][k], 1000 * (time.perf_counter() - start))

stored = np.array([table.n_stored for table in tables])
for k, values in enumerate(stored):
    print(f"{values:>9,} stored: {best['tacit'][k]:6.2f} ms, dense {best['dense'][k]:6.2f} ms")

# %%
# The dense product does the same work however empty the table is. tacit's work shrinks with what is
# stored. It has two ways to count: one visits each pair of values of a record, the other compares
# bitmaps, whose cost depends less on what they hold. ``pairs`` estimates both and takes
# the one that looks cheaper.

fig, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
ax.plot(stored, best["dense"], color="0.45", lw=2, marker="s", ms=4)
ax.plot(stored, best["within records"], color="tab:orange", lw=1.3, ls="--")
ax.plot(stored, best["bitmaps"], color="tab:green", lw=1.3, ls="--")
ax.plot(stored, best["tacit"], color="tab:blue", lw=2.5, marker="o", ms=5)


def label(way, k, text, color, offset, ha="center"):
    """Write beside the k-th point of a line what it is."""
    at = (stored[k], best[way][k])
    ax.annotate(text, at, offset, textcoords="offset points", color=color, ha=ha, va="center")


label("dense", 3, "dense product: visits every value", "0.35", (0, 18))
label("bitmaps", 1, "by bitmaps", "tab:green", (0, 10))
label("tacit", 2, "tacit: visits stored values", "tab:blue", (8, -20), ha="left")
label("within records", 5, "by pairs within records", "tab:orange", (10, -10), ha="left")


def percent(values):
    return 100 * values / (RECORDS * COLUMNS)


def values(percent):
    return percent * RECORDS * COLUMNS / 100


ax.set(xscale="log", yscale="log", xlabel="stored values", ylabel="milliseconds to count all pairs")
ax.set_title(f"{RECORDS:,} records × {COLUMNS} columns: always {RECORDS * COLUMNS:,} values")
ax.xaxis.set_major_formatter("{x:,.0f}")
ax.yaxis.set_major_formatter("{x:g}")
fractions = ax.secondary_xaxis("top", functions=(percent, values))
fractions.set_xlabel("fraction of the table that is stored")
fractions.xaxis.set_major_formatter("{x:g} %")
ax.spines[["right"]].set_visible(False)
ax.margins(x=0.05, y=0.16)
plt.show()

# %%
# In a log of visits or a set of baskets, one value in a hundred is stored, or fewer. That is the
# left half of the picture.

ratio = best["dense"][0] / best["tacit"][0]
print(
    f"With {stored[0]:,} of {RECORDS * COLUMNS:,} values stored, "
    f"counting is {ratio:,.0f} times as fast as the dense product."
)
