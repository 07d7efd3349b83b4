"""Options of commands that grow trees."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

__all__ = [
    "GROWTH",
    "Kappa",
    "MaxDepth",
    "MaxLeafNodes",
    "MinSamplesLeaf",
    "Prior",
    "PriorWeight",
    "Splits",
]

GROWTH = "How trees grow"


def _check_kappa(value: float) -> float:
    if not 0 < value <= 1:
        raise typer.BadParameter("must be above 0 and at most 1")
    return value


Splits: TypeAlias = Annotated[
    Literal["binary", "complete", "both"],
    typer.Option(
        help="One value against the rest, a branch for each value, or whichever is better.",
        rich_help_panel=GROWTH,
    ),
]
Prior: TypeAlias = Annotated[
    Literal["k2", "bdeu"],
    typer.Option(
        help="Every leaf has the prior's weight for each label, or a fraction of it.",
        rich_help_panel=GROWTH,
    ),
]
PriorWeight: TypeAlias = Annotated[
    float, typer.Option(min=0, help="The weight of the prior.", rich_help_panel=GROWTH)
]
Kappa: TypeAlias = Annotated[
    float,
    typer.Option(
        callback=_check_kappa,
        help="The price of a parameter for bayes_factor, above 0 and at most 1: smaller makes "
        "smaller trees.",
        rich_help_panel=GROWTH,
    ),
]
MaxLeafNodes: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="The most leaves of a tree.", rich_help_panel=GROWTH)
]
MaxDepth: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="The most questions in a row.", rich_help_panel=GROWTH)
]
MinSamplesLeaf: TypeAlias = Annotated[
    int,
    typer.Option(min=1, help="The fewest records (or weight) of a leaf.", rich_help_panel=GROWTH),
]
