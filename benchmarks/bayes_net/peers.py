"""Structure learning by other libraries, each with its own defaults beside what all share.

A learner takes a frame of strings and the most parents of a node, and returns arcs as pairs of
column names. Turning the frame into what a library wants takes no part in the time.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Arcs: TypeAlias = list[tuple[str, str]]
    Learner: TypeAlias = tuple[Callable[[Any], Any], Callable[[Any, int], Arcs]]


def version(package: str) -> str:
    return importlib.metadata.version(package)


def peers() -> tuple[dict[str, Learner], list[str]]:
    """Return the learners that are at hand, by name and version, and why others are not."""
    known: dict[str, tuple[str, dict[str, Learner]]] = {
        "pyagrum": (
            "pyAgrum",
            {
                "greedy hill climbing": (_agrum_frame, _agrum_greedy),
                "tabu list": (_agrum_frame, _agrum_tabu),
                "extended hill climbing": (_agrum_frame, _agrum_extended),
            },
        ),
        "pgmpy": (
            "pgmpy",
            {"hill climbing": (_categories, _pgmpy_hill)},
        ),
        "pybnesian": ("PyBNesian", {"hill climbing": (_categories, _pybnesian_hill)}),
    }
    found: dict[str, Learner] = {}
    absent = []
    for module, (name, learners) in known.items():
        if importlib.util.find_spec(module) is None:
            absent.append(f"{name} is not installed")
            continue
        for kind, learner in learners.items():
            found[f"{name} {version(module)}, {kind}"] = learner
    return found, absent


def _categories(frame: Any) -> Any:
    """Return a pandas frame of categories, all labels declared."""
    import pandas as pd

    return pd.DataFrame(
        {
            k: pd.Categorical(frame[k].to_list(), sorted(set(frame[k].to_list())))
            for k in frame.columns
        }
    )


def _agrum_frame(frame: Any) -> Any:
    import pandas as pd
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    return pd.DataFrame({k: frame[k].to_list() for k in frame.columns}, dtype=object)


def _agrum(frame: Any, max_parents: int, kind: str, *settings: int) -> Arcs:
    import pyagrum as gum

    learner = gum.BNLearner(frame)
    learner.setNumberOfThreads(1)
    learner.useScoreBIC()
    learner.setMaxIndegree(max_parents)
    getattr(learner, f"use{kind}")(*settings)
    dag = learner.learnDAG()
    names = learner.names()
    return [(names[a], names[b]) for a, b in dag.arcs()]


def _agrum_greedy(frame: Any, max_parents: int) -> Arcs:
    return _agrum(frame, max_parents, "GreedyHillClimbing")


def _agrum_tabu(frame: Any, max_parents: int) -> Arcs:
    return _agrum(frame, max_parents, "LocalSearchWithTabuList", 100, 2)


def _agrum_extended(frame: Any, max_parents: int) -> Arcs:
    return _agrum(frame, max_parents, "ExtendedGreedyHillClimbing")


def _pgmpy_hill(frame: Any, max_parents: int) -> Arcs:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("pgmpy").setLevel(logging.ERROR)
        from pgmpy.estimators import HillClimbSearch

        net = HillClimbSearch(frame).estimate(
            scoring_method="bic-d", max_indegree=max_parents, max_iter=10**6, show_progress=False
        )
    return list(net.edges())


def _pybnesian_hill(frame: Any, max_parents: int) -> Arcs:
    import pybnesian

    net = pybnesian.hc(
        frame,
        bn_type=pybnesian.DiscreteBNType(),
        operators=["arcs"],  # required for discrete nets: there are no default ones
        score="bic",
        max_indegree=max_parents,
    )
    return [tuple(arc) for arc in net.arcs()]
