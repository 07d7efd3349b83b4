"""From the entries of a sparse ARFF file to labels and codes, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.table.discretise import MDL, apply_cuts, as_spec, bin_labels, cut_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.io.arff.header import Attribute

__all__ = ["Entries", "code_entries"]


@dataclass
class Entries:
    """What a sparse file holds, by column.

    Attributes
    ----------
    attributes : list of Attribute
    n_records : int
    rows : int64 array
        The record of each entry.
    bounds : int64 array
        Where the entries of each column begin, and where they end.
    data : float64 array
        The code of a nominal or text value, or a number; NaN where it is missing.
    texts : dict
        For each text column, its values in code order.
    """

    attributes: list[Attribute]
    n_records: int
    rows: NDArray[np.int64]
    bounds: NDArray[np.int64]
    data: NDArray[np.float64]
    texts: dict[int, dict[str, int]]

    def own(self, c: int) -> slice:
        """Return where the entries of a column are."""
        return slice(int(self.bounds[c]), int(self.bounds[c + 1]))

    def dense(self, c: int) -> NDArray[np.float64]:
        """Return one column in full: what is left out is zero."""
        full = np.zeros(self.n_records)
        full[self.rows[self.own(c)]] = self.data[self.own(c)]
        return full


def code_entries(
    entries: Entries, missing: str, discretise: Any, target: str | None
) -> tuple[Schema, NDArray[np.int64]]:
    """Give every column its labels, and every entry its code.

    Returns
    -------
    schema : Schema
        Its defaults are the codes of what is left out.
    codes : int64 array
    """
    names = [attribute.name for attribute in entries.attributes]
    places = {name: c for c, name in enumerate(names)}
    if target is not None and target not in places:
        raise InputError(f"target: there is no column {target!r}")
    specs = _specs(entries, places, discretise, target)
    lost = np.isnan(entries.data)
    if missing == "error" and lost.any():
        k = int(np.argmax(lost))
        name = names[int(np.searchsorted(entries.bounds, k, side="right")) - 1]
        raise InputError(
            f"column {name!r} has a missing value at record {entries.rows[k]}, and missing='error'"
        )
    classes = None
    if any(isinstance(spec, MDL) for spec in specs.values()):
        assert target is not None  # _specs saw to it
        classes = np.unique(entries.dense(places[target]), return_inverse=True)[1]
    codes = np.where(lost, 0, entries.data).astype(np.int64)
    omitted = np.zeros(len(names), np.int64)
    labels = []
    shared: dict[Any, Labels] = {}
    for c, attribute in enumerate(entries.attributes):
        own = entries.own(c)
        dtype = "String"
        items: tuple[Any, ...]
        if attribute.kind == "nominal":
            items, dtype = attribute.labels, "Enum"
        elif attribute.kind == "text":
            known = entries.texts.get(c, {})
            items = tuple(sorted(known))
            ranks = np.argsort([known[text] for text in items]) if items else np.zeros(0, np.int64)
            codes[own] = np.where(lost[own], 0, np.append(ranks, 0)[codes[own]])
        elif c in specs:
            cuts = cut_points(entries.dense(c), specs[c], target=classes, column=attribute.name)
            items = bin_labels(cuts)
            codes[own] = apply_cuts(entries.data[own], cuts)
            omitted[c] = apply_cuts([0.0], cuts)[0]
        else:
            present = entries.data[own][~lost[own]]
            values = np.unique(np.append(present, 0.0)) + 0.0  # no -0.0
            items, dtype = tuple(values.astype(np.int64).tolist()), "Int64"
            codes[own] = np.searchsorted(values, entries.data[own])
            omitted[c] = np.searchsorted(values, 0.0)
        if own.stop > own.start and (gone := lost[own]).any():
            codes[own] = np.where(gone, len(items), codes[own])
            items = (*items, None)
        key = (dtype, items)
        labels.append(shared.setdefault(key, Labels(items, dtype)))
    return Schema(names, labels, omitted), codes


def _specs(
    entries: Entries, places: dict[str, int], discretise: Any, target: str | None
) -> dict[int, Any]:
    """Return how to cut each column that is cut; complain of real numbers that are not."""
    named = dict(discretise) if isinstance(discretise, Mapping) else {}
    for name in named:
        if name not in places:
            raise InputError(f"discretise: there is no column {name!r}")
        if entries.attributes[places[name]].kind not in ("numeric", "integer"):
            raise InputError(f"discretise: column {name!r} does not hold numbers")
    specs = {places[name]: as_spec(spec) for name, spec in named.items()}
    rest = None if discretise is None or isinstance(discretise, Mapping) else as_spec(discretise)
    for c, attribute in enumerate(entries.attributes):
        if attribute.kind not in ("numeric", "integer"):
            continue
        own = entries.data[entries.own(c)]
        if (bad := np.abs(own) >= 2.0**53).any():  # not to be told apart, or infinite
            k = int(np.argmax(bad))
            record = entries.rows[entries.own(c)][k]
            raise InputError(f"column {attribute.name!r} holds {own[k]} at record {record}")
        real = ~np.isnan(own) & (own != np.floor(own))
        if c in specs or not real.any():
            continue
        if rest is None or attribute.name == target:
            k = int(np.argmax(real))
            record = entries.rows[entries.own(c)][k]
            raise InputError(
                f"column {attribute.name!r} holds real numbers (record {record}: {own[k]}); "
                f"say how to cut it with discretise={{{attribute.name!r}: …}}"
            )
        specs[c] = rest
    if any(isinstance(spec, MDL) for spec in specs.values()) and target is None:
        raise InputError("discretise='mdl' needs target, the column to tell apart")
    return specs
