"""Two tables as one, with a column that says which a record is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.counts.formatting import free_name
from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["beside"]


def beside(named: Sequence[tuple[str, Table]]) -> tuple[Table, str]:
    """Return two tables as one, and the state that compares the first with the second.

    Parameters
    ----------
    named : sequence of (str, Table)
        Both must have the same columns, in any order.

    Examples
    --------
    >>> import tacit
    >>> may, june = tacit.Table({"rain": [True, False]}), tacit.Table({"rain": [True]})
    >>> table, start = beside([("may", may), ("june", june)])
    >>> table.schema.names, start
    (('rain', 'file'), 'a=1:0&b=1:1&against=b&view=difference')
    """
    (first, one), (second, two) = named
    if set(one.schema.names) != set(two.schema.names):
        odd = sorted(set(one.schema.names) ^ set(two.schema.names))
        raise InputError(f"against: the files have different columns, such as {odd[0]!r}")
    both = Table.concat([one, two.select(list(one.schema.names))])
    old = both.schema
    names = [first, second if second != first else f"{second} (2)"]
    schema = Schema(
        (*old.names, free_name("file", old.names)),
        (*old.labels, Labels(names, "String")),
        (*old.defaults.tolist(), 0),
    )
    is_second = np.arange(both.n_records) >= one.n_records
    indptr = np.concatenate(([0], np.cumsum(np.diff(both.indptr) + is_second)))
    values = np.insert(both.values.astype(np.int64), both.indptr[1:][is_second], old.n_values)
    table = Table.from_stored(schema, indptr, values, both.weights)
    c = len(old.names)
    return table, f"a={c}:0&b={c}:1&against=b&view=difference"
