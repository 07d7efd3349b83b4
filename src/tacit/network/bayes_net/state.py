"""Nets as the named arrays that files hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.network.bayes_net.definition import fix_rows
from tacit.network.bayes_net.graph import find_cycle
from tacit.network.inference.net import Net
from tacit.network.parameters.estimate import table_shapes
from tacit.table.schema_json import schema_from_json, schema_to_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.store import State

__all__ = ["net_from_state", "net_to_state"]


def net_to_state(net: Net) -> dict[str, NDArray[Any]]:
    """Return columns, arcs and tables as arrays."""
    parents = [np.array(above, np.int64) for above in net.parents]
    return {
        "schema": np.frombuffer(schema_to_json(net.schema), np.uint8),
        "n_parents": np.array([len(above) for above in parents], np.int64),
        "parents": np.concatenate(parents),
        "tables": np.concatenate([table.ravel() for table in net.tables]),
    }


def net_from_state(state: State) -> Net:
    """Return a net, after checking that its arrays go together."""
    schema = schema_from_json(state["schema"].tobytes())
    sizes, flat, numbers = state["n_parents"], state["parents"], state["tables"]
    for array, dtype in ((sizes, np.int64), (flat, np.int64), (numbers, np.float64)):
        if array.dtype != dtype or array.ndim != 1:
            raise InputError("its arrays have the wrong types")
    n = len(schema)
    if n == 0 or len(sizes) != n or (sizes < 0).any() or (sizes > n).any():
        raise InputError("it has not parents for each column")
    if int(sizes.sum()) != len(flat) or ((flat < 0) | (flat >= n)).any():
        raise InputError("it has a parent that is no column")
    parents = tuple(tuple(above.tolist()) for above in np.split(flat, np.cumsum(sizes)[:-1]))
    if any(len(set(above)) < len(above) for above in parents) or find_cycle(parents) is not None:
        raise InputError("its arcs form a cycle, or are there twice")
    shapes = table_shapes(schema.arities, parents)
    ends = np.cumsum([rows * arity for rows, arity in shapes])
    if ends[-1] != len(numbers):
        raise InputError("its tables have not the size of its columns")
    tables = []
    for block, shape in zip(np.split(numbers, ends[:-1]), shapes, strict=True):
        table = block.reshape(shape).copy()
        fault = fix_rows(table)
        if fault is not None:
            raise InputError(f"a row of a table {fault[1]}")
        tables.append(table)
    return Net(schema, parents, tuple(tables))
