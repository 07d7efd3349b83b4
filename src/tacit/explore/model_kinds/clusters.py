"""Clusters of the selected records, and what sets each of them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.explore.model_kinds.asked import whole_of
from tacit.mixture import NaiveBayesMixture

if TYPE_CHECKING:
    from tacit.table import Table

__all__ = ["check", "learn"]

_MOST_CLUSTERS = 30


def check(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request."""
    return {"clusters": whole_of(request.get("clusters"), "clusters", 2, _MOST_CLUSTERS)}


def learn(table: Table, request: dict[str, Any]) -> tuple[dict[str, Any], None]:
    """Return the sizes of clusters and what sets each of them apart."""
    k, n = request["clusters"], table.n_records
    if n < k:
        raise InputError(f"{n:,} records are too few for {k} clusters: take fewer clusters")
    mixture = NaiveBayesMixture(k, random_state=0).fit(table)
    schema = table.schema
    clusters = []
    for cluster in mixture.profile().traits(top=6):
        traits = [
            {
                "column": schema.position(trait.column),
                "code": schema[trait.column].code(trait.label),
                "probability": trait.probability,
                "overall": trait.overall,
                "lift": trait.lift,
                "low": trait.lower,
                "high": trait.upper,
            }
            for trait in (*cluster.over, *cluster.under)
        ]
        clusters.append({"size": cluster.size, "traits": traits})
    return {"clusters": clusters}, None
