"""
More than memory
================

A month of visits, a file a day. No pass holds more than a few of them, and the answers are those of
one table in memory.
"""

# %%
# Files first. In real life they are there already.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tacit

folder = Path(tempfile.mkdtemp())
visits = tacit.datasets.load_visits()
days = np.array_split(np.arange(visits.n_records), 30)
for day, records in enumerate(days, 1):
    frame = visits.take(records).to_frame("polars")
    frame.write_parquet(folder / f"day-{day:02}.parquet")

# %%
# Nothing is read yet but what the files say of themselves.

logs = tacit.scan(folder / "day-*.parquet", partition_records=2_000, memory="200MB")
logs

# %%
# The first question takes a pass that finds labels and defaults, and then one pass more.
# Dictionaries of files may differ; labels are matched by what they are.

print(logs.summary())
logs.contingency(["news", "weather"])

# %%
# Coded once, the records are mapped into memory. Further passes parse nothing.

kept = logs.materialise(folder / "kept")
mix = tacit.NaiveBayesMixture(4, n_init=3, random_state=0).fit(kept)
print(mix.to_text(top=3))
print(kept.cost)

# %%
# Every step of EM is one pass, shared by all starts, and each pass is a sum over partitions. So a
# Dask cluster gives the same mixture: ``with tacit.scale.on_dask(client): …``.
#
# What a model says of new records comes partition by partition, too.

fractions = np.array(
    [
        np.bincount(labels, minlength=4) / len(labels)
        for labels in kept.map(tacit.scale.Predict(mix))
    ]
)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.stackplot(np.arange(len(fractions)), fractions.T, labels=[f"cluster {k}" for k in range(4)])
axes.set(
    xlabel="partition", ylabel="fraction of records", ylim=(0, 1), xlim=(0, len(fractions) - 1)
)
axes.legend(loc="lower right", ncols=4)
plt.show()
