"""Options of commands that grow trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import typer

__all__ = ["GrowthOptions", "growth_option"]

growth_option = partial(typer.Option, rich_help_panel="How trees grow")


def _read_kappa(value: str) -> Any:
    if value == "auto":
        return value
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise typer.BadParameter("must be auto, or a number above 0 and at most 1")
    return number


@dataclass(frozen=True)
class GrowthOptions:
    """How trees grow, as estimators of trees name it: an option for each field."""

    splits: Annotated[
        Literal["binary", "complete", "both"],
        growth_option(
            help="One value against the rest, a branch for each value, or whichever is better."
        ),
    ] = "binary"
    prior: Annotated[
        Literal["k2", "bdeu"],
        growth_option(
            help="Every leaf has the prior's weight for each label, or a fraction of it."
        ),
    ] = "k2"
    prior_weight: Annotated[
        float | None,
        growth_option(min=0, help="The weight of the prior; by default a half or 1."),
    ] = None
    kappa: Annotated[
        Any,
        growth_option(
            parser=_read_kappa,
            metavar="auto|NUMBER",
            help="What bayes_factor and bic pay for a tree: for choosing each split among all, or "
            "this factor, above 0 and at most 1, for each parameter.",
        ),
    ] = "auto"
    max_leaf_nodes: Annotated[
        int | None, growth_option(min=1, help="The most leaves of a tree.")
    ] = None
    max_depth: Annotated[int | None, growth_option(min=1, help="The most questions in a row.")] = (
        None
    )
    min_samples_leaf: Annotated[
        int, growth_option(min=1, help="The fewest records (or weight) of a leaf.")
    ] = 1
