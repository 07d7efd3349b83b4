"""Options of commands that grow trees."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal, TypeAlias

import typer

__all__ = [
    "Kappa",
    "MaxDepth",
    "MaxLeafNodes",
    "MinSamplesLeaf",
    "Prior",
    "PriorWeight",
    "Splits",
    "option",
]

option = partial(typer.Option, rich_help_panel="How trees grow")


def _check_kappa(value: float) -> float:
    if not 0 < value <= 1:
        raise typer.BadParameter("must be above 0 and at most 1")
    return value


Splits: TypeAlias = Annotated[
    Literal["binary", "complete", "both"],
    option(help="One value against the rest, a branch for each value, or whichever is better."),
]
Prior: TypeAlias = Annotated[
    Literal["k2", "bdeu"],
    option(help="Every leaf has the prior's weight for each label, or a fraction of it."),
]
PriorWeight: TypeAlias = Annotated[float, option(min=0, help="The weight of the prior.")]
Kappa: TypeAlias = Annotated[
    float,
    option(
        callback=_check_kappa,
        help="The price of a parameter for bayes_factor, above 0 and at most 1: smaller makes "
        "smaller trees.",
    ),
]
MaxLeafNodes: TypeAlias = Annotated[int | None, option(min=1, help="The most leaves of a tree.")]
MaxDepth: TypeAlias = Annotated[int | None, option(min=1, help="The most questions in a row.")]
MinSamplesLeaf: TypeAlias = Annotated[
    int, option(min=1, help="The fewest records (or weight) of a leaf.")
]
