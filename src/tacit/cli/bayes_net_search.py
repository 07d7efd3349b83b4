"""Options of the search for a Bayes net."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.bayes_net_texts import parse_arcs

if TYPE_CHECKING:
    from tacit.network import BayesNet
    from tacit.schema import Schema

__all__ = ["SearchOptions"]

_search_option = partial(typer.Option, rich_help_panel="How the net is found")


@dataclass(frozen=True)
class SearchOptions:
    """How a net is found, as :class:`tacit.BayesNet` names it: an option for each field.

    What is not said is left to BayesNet, so that it shows what was said about a net, too.
    """

    criterion: Annotated[
        Literal["bic", "aic", "bdeu", "bds", "k2", "penalized"] | None,
        _search_option(help="The score that the search maximises; bic unless said."),
    ] = None
    algorithm: Annotated[
        Literal["auto", "climb", "exact"] | None,
        _search_option(
            help="Go from net to net by arcs (climb), look at orders of the columns, too (auto), "
            "or prove which net is the best of all (exact); auto unless said."
        ),
    ] = None
    n_restarts: Annotated[
        int | None,
        _search_option(
            min=0, help="How often the search starts anew; as long as that helps, unless said."
        ),
    ] = None
    max_parents: Annotated[
        int | None, _search_option(min=0, help="Parents of a column, at most; 5 unless said.")
    ] = None
    prior_weight: Annotated[
        float | None,
        _search_option(
            help="How many records the prior is worth, in criteria and tables that have one; 1 "
            "unless said."
        ),
    ] = None
    parameters: Annotated[
        Literal["bdeu", "k2", "mle"] | None,
        _search_option(
            help="How tables are estimated: with a prior, or as fractions of the records alone; "
            "bdeu unless said."
        ),
    ] = None
    start: Annotated[
        Literal["empty", "branching"] | None,
        _search_option(
            help="Begin without arcs, or with the best one parent of each column; empty unless "
            "said."
        ),
    ] = None
    require: Annotated[
        list[str] | None,
        _search_option(metavar="A->B", help="An arc that the net has to have; can be repeated."),
    ] = None
    forbid: Annotated[
        list[str] | None,
        _search_option(metavar="A->B", help="An arc that it must not have; can be repeated."),
    ] = None
    ignore_missing: Annotated[
        bool,
        _search_option(
            "--ignore-missing",
            help="Missing values are no label of their own: a record counts wherever it lacks "
            "nothing.",
        ),
    ] = False
    max_seconds: Annotated[float | None, _search_option(help="End the search after so long.")] = (
        None
    )

    def said(self) -> dict[str, Any]:
        """Return what was said, by the name of the option."""
        options = asdict(self).items()
        return {k: x for k, x in options if x is not None and x is not False and x != []}

    def estimator(self, schema: Schema, random_state: int, n_jobs: int, verbose: int) -> BayesNet:
        """Return the estimator for a table."""
        settings = {name: value for name, value in asdict(self).items() if value is not None}
        return tacit.BayesNet(
            required=parse_arcs(schema, settings.pop("require", []), "--require"),
            forbidden=parse_arcs(schema, settings.pop("forbid", []), "--forbid"),
            missing="ignore" if settings.pop("ignore_missing") else "state",
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            **settings,
        )
