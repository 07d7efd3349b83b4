"""Nets in files that :func:`tacit.load` reads."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.network.nets.definition import fix_rows
from tacit.network.nets.graph import find_cycle
from tacit.network.parameters.estimate import table_shapes
from tacit.network.search.learning import Learning
from tacit.table.schema_json import schema_from_json, schema_to_json

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.network.nets.bayes_net import BayesNet

__all__ = ["write_net"]

_KIND = "bayes_net"


def write_net(path: str | os.PathLike[str], net: BayesNet) -> None:
    """Write all of a net but the trace of how it was found."""
    flat = [np.array(own, np.int64) for own in net.parents]
    arrays: dict[str, NDArray[Any]] = {
        "schema": np.frombuffer(schema_to_json(net.schema), np.uint8),
        "n_parents": np.array([len(own) for own in flat], np.int64),
        "parents": np.concatenate(flat),
        "tables": np.concatenate([table.ravel() for table in net.tables]),
    }
    if net.report_ is not None:
        facts = asdict(net.report_)
        arrays["family_scores"] = facts.pop("family_scores")
        del facts["trace"]
        arrays["report"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    store.write_arrays(path, _KIND, arrays)


@store.loads(_KIND)
def _load(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]]) -> BayesNet:
    """Make a net of a file's arrays, after checking that they go together."""
    try:
        return _make(arrays)
    except KeyError as error:
        raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise FileError(path, f"is damaged: {error}") from None


def _make(arrays: dict[str, NDArray[Any]]) -> BayesNet:
    from tacit.network.nets.bayes_net import BayesNet

    schema = schema_from_json(arrays["schema"].tobytes())
    sizes, flat, numbers = arrays["n_parents"], arrays["parents"], arrays["tables"]
    for array, dtype in ((sizes, np.int64), (flat, np.int64), (numbers, np.float64)):
        if array.dtype != dtype or array.ndim != 1:
            raise InputError("its arrays have the wrong types")
    n = len(schema)
    if n == 0 or len(sizes) != n or (sizes < 0).any() or (sizes > n).any():
        raise InputError("it has not parents for each column")
    if int(sizes.sum()) != len(flat) or ((flat < 0) | (flat >= n)).any():
        raise InputError("it has a parent that is no column")
    parents = tuple(tuple(own.tolist()) for own in np.split(flat, np.cumsum(sizes)[:-1]))
    if any(len(set(own)) < len(own) for own in parents) or find_cycle(parents) is not None:
        raise InputError("its arcs form a cycle, or are there twice")
    shapes = table_shapes(schema.arities, parents)
    ends = np.cumsum([rows * arity for rows, arity in shapes])
    if ends[-1] != len(numbers):
        raise InputError("its tables have not the size of its columns")
    tables = []
    for part, shape in zip(np.split(numbers, ends[:-1]), shapes, strict=True):
        table = part.reshape(shape).copy()
        fault = fix_rows(table)
        if fault is not None:
            raise InputError(f"a row of a table {fault[1]}")
        tables.append(table)
    return BayesNet._of(schema, parents, tuple(tables), _report(arrays, n))


def _report(arrays: dict[str, NDArray[Any]], n_columns: int) -> Learning | None:
    if "report" not in arrays:
        return None
    scores = arrays["family_scores"]
    if scores.dtype != np.float64 or scores.shape != (n_columns,):
        raise InputError("it has not a score for each column")
    facts = json.loads(arrays["report"].tobytes())
    return Learning(**facts, family_scores=scores, trace=[])
