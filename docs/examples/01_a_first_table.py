"""
A first table
=============

Make a table, see what is stored, count, and say in plain words what the counts mean.
"""

# %%
# Twelve orders of a bicycle shop. Most customers come in person, pay by card and want nothing
# repaired, so most values are the same from order to order.

import polars as pl

import tacit

orders = pl.DataFrame(
    [
        ("shop", "card", "none", False),
        ("shop", "card", "none", False),
        ("web", "card", "none", True),
        ("shop", "cash", "brakes", False),
        ("shop", "card", "none", False),
        ("shop", "card", "none", False),
        ("shop", "card", "none", True),
        ("shop", "card", "tyre", False),
        ("web", "card", "none", True),
        ("shop", "card", "brakes", False),
        ("web", "card", "none", False),
        ("shop", "cash", "none", False),
    ],
    schema=["channel", "payment", "repair", "helmet"],
    orient="row",
)
orders.head(4)

# %%
# A :class:`~tacit.Table` is made of the frame as it is.

table = tacit.Table(orders)
table.summary()

# %%
# Of 48 values, only those that differ from their column's default are stored. The default is what
# the column says most often.

for column in table.columns:
    others = [label for label in column.labels if label != column.default_label]
    print(f"{column.name}: {column.default_label!r} goes without saying; stored are {others}")

# %%
# This is all that the table keeps of the first six records.

for record in range(6):
    stored = table.values[table.indptr[record] : table.indptr[record + 1]]
    print(record, [table.schema.value_label(int(v)) for v in stored])

# %%
# How often does each label occur? Stored values are counted, and a default gets the rest of the
# records.

table.one_way().to_frame()

# %%
# How do two columns go together?

pair = table.contingency(["channel", "helmet"])
pair

# %%
# In words:

for channel in pair.columns[0].labels:
    bought, all_orders = pair[channel, True], pair[channel, True] + pair[channel, False]
    print(f"Of {all_orders} orders by {channel}, {bought} had a helmet in them.")

# %%
# One question at a time works, too. A query maps columns to labels, and all of them have to match.

cash = table.count({"payment": "cash"})
both = table.count({"payment": "cash", "repair": "brakes"})
print(f"{cash} customers paid cash, and {both} of them had their brakes repaired.")

# %%
# The numbers stay the same whatever the defaults are. Poor ones only cost memory and time.

poor = table.with_defaults({"channel": "web", "payment": "cash", "helmet": True})
print(f"{table.n_stored} stored values, or {poor.n_stored} with poor defaults")
print("same counts:", (poor.one_way().counts == table.one_way().counts).all())
