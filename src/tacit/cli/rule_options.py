"""Options of ``tacit rules``: how rules are learnt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.bayes_net_texts import join_names
from tacit.errors import did_you_mean

if TYPE_CHECKING:
    from tacit.cli.labelled import Labelled

__all__ = ["RuleOptions"]

_rules_option = partial(typer.Option, rich_help_panel="How rules are learnt")
_LOSSES_OF_NUMBERS = ("absolute", "quantile", "poisson")
_SIGNS = {"1": 1, "+1": 1, "-1": -1, "0": 0}
_INTERACTIONS = ("pairwise", "no_interactions")
_OF_NUMBERS = ("quantile",)  # options that go with --regress alone


@dataclass(frozen=True)
class RuleOptions:
    """How rules are learnt, as their estimators name it: an option for each field."""

    covering: Annotated[
        bool,
        _rules_option(
            "--covering",
            help="A list of which the first rule that holds decides, not scores that add up.",
        ),
    ] = False
    regress: Annotated[bool, _rules_option("--regress", help="The target is a number.")] = False
    max_conditions: Annotated[
        int | None,
        _rules_option(min=1, max=255, help="The most of a rule: 4, or 10 of covering rules."),
    ] = None
    min_support: Annotated[
        float | None, _rules_option(help="Records that a rule covers at least; 1 if not said.")
    ] = None
    criterion: Annotated[
        Literal["f_measure", "precision", "laplace", "m_estimate", "kulczynski", "foil_gain"]
        | None,
        _rules_option(help="What makes a covering rule good."),
    ] = None
    n_optimisations: Annotated[
        int | None,
        _rules_option(min=0, help="How often covering rules of a class are gone over again: 2."),
    ] = None
    heads: Annotated[
        Literal["single", "partial", "complete"] | None,
        _rules_option(help="A rule adds to the score of one class or label, of some, or of all."),
    ] = None
    loss: Annotated[
        Literal[
            "auto", "logistic", "squared", "squared_hinge", "example_logistic", "softmax",
            "absolute", "quantile", "poisson",
        ]
        | None,
        _rules_option(
            help="What boosted rules minimise; the last three, and squared, with --regress: "
            "medians, a --quantile, counts."
        ),
    ] = None  # fmt: skip
    quantile: Annotated[
        float | None,
        _rules_option(help="The fraction of numbers to be below predictions, for --loss quantile."),
    ] = None
    class_weight: Annotated[
        list[str] | None,
        _rules_option(
            metavar="balanced|CLASS=WEIGHT",
            help="All classes weigh the same in sum, or one weighs so much more; can be repeated.",
        ),
    ] = None
    learning_rate: Annotated[
        float | None, _rules_option(help="The factor of each rule's score.")
    ] = None
    l2: Annotated[float | None, _rules_option("--l2", help="Ridge penalty of scores.")] = None
    algorithm: Annotated[
        Literal["exact", "histogram"] | None,
        _rules_option(help="Try all thresholds, or those of bins."),
    ] = None
    feature_fraction: Annotated[
        str | None,
        _rules_option(
            metavar="N|FRACTION|sqrt|log2",
            help="How many columns each condition is sought among; all unless given.",
        ),
    ] = None
    monotonic_cst: Annotated[
        list[str] | None,
        _rules_option(
            metavar="COLUMN=1|-1",
            help="Scores never fall (1) or never rise (-1) as a column rises; can be repeated.",
        ),
    ] = None
    interaction_cst: Annotated[
        list[str] | None,
        _rules_option(
            metavar="pairwise|no_interactions|COLUMN,COLUMN",
            help="Columns that may stand together in a rule: two at most, one at most, or those of "
            "a list; can be repeated.",
        ),
    ] = None
    sample: Annotated[
        Literal["none", "bagging", "subsample"] | None,
        _rules_option(help="Learn each rule of all records, or of some drawn."),
    ] = None
    max_seconds: Annotated[
        float | None, _rules_option(help="End the search for boosted rules after so long.")
    ] = None
    warm_start: Annotated[
        Path | None,
        _rules_option(
            metavar="MODEL.tacit",
            help="Add rules to those of a model of the same records, until there are --n-rules; "
            "learnt as they were, but for what is said.",
        ),
    ] = None
    prediction: Annotated[
        Literal["hamming", "subset", "example_f1"] | None,
        _rules_option(help="What labels of a record are chosen to get right."),
    ] = None

    def estimator(self, **others: Any) -> Any:
        """Return the estimator that is asked for, after a look at options that it does not have."""
        given = {**vars(self), **others}
        covering, regress = given.pop("covering"), given.pop("regress")
        path = given.pop("warm_start")
        if covering and path is not None:
            raise typer.BadParameter("does not go with --covering", param_hint="--warm-start")
        given["feature_fraction"] = _fraction(self.feature_fraction)
        given["class_weight"] = _class_weight(self.class_weight)
        given["monotonic_cst"] = _signs(self.monotonic_cst)
        if covering and regress:
            raise typer.BadParameter("is for classes, not with --regress", param_hint="--covering")
        if regress and self.loss == "auto":
            del given["loss"]
        elif self.loss not in (None, "squared") and regress != (self.loss in _LOSSES_OF_NUMBERS):
            text = f"{self.loss} {'does not go with' if regress else 'is for'} --regress"
            raise typer.BadParameter(text, param_hint="--loss")
        model: Any
        if covering:
            model = tacit.CoveringRulesClassifier()
            given["max_rules"] = given.pop("n_rules")
        else:
            model = tacit.BoostedRulesRegressor() if regress else tacit.BoostedRulesClassifier()
        if path is not None:
            model = _read_model(path, type(model))
        known, which = model.get_params(), "--regress" if regress else "--covering"
        for name, value in given.items():
            if value is not None and name not in known:
                wanted = "--regress" if name in _OF_NUMBERS else "--covering"
                text = f"does not go with {which}" if covering or regress else f"is for {wanted}"
                raise typer.BadParameter(text, param_hint=f"--{name.replace('_', '-')}")
        return model.set_params(**{name: x for name, x in given.items() if x is not None})

    def settle(self, model: Any, records: Labelled) -> None:
        """Set what depends on the records: weights of their classes, groups of their columns."""
        texts = self.interaction_cst
        if texts is not None:
            table = isinstance(records.X, tacit.Table)
            names = records.X.schema.names if table else records.X.columns
            word = texts[0] if len(texts) == 1 and texts[0] in _INTERACTIONS else None
            groups = [join_names(text, lambda name: name in names) for text in texts]
            model.set_params(interaction_cst=word or groups)
        given = getattr(model, "class_weight", None)
        if isinstance(given, dict) and not records.several:  # fit refuses those of labels
            model.set_params(class_weight=_of_classes(given, records.y))


def _read_model(path: Path, kind: type) -> Any:
    """Return a model that is to go on."""
    model: Any = tacit.load(path)
    held = type(model).__name__
    if held != kind.__name__:
        raise typer.BadParameter(
            f"{path} holds a {held}, not a {kind.__name__}", param_hint="--warm-start"
        )
    fresh: Any = kind()
    return model.set_params(n_rules=fresh.n_rules, warm_start=True)


def _signs(texts: list[str] | None) -> dict[str, int] | None:
    """Read which way scores go with columns.

    >>> _signs(["age=1", "a=b=-1"])
    {'age': 1, 'a=b': -1}
    """
    if texts is None:
        return None
    signs = {}
    for text in texts:
        name, _, sign = text.rpartition("=")
        if not name or sign not in _SIGNS:
            raise typer.BadParameter(
                f"{text!r} is neither COLUMN=1 nor COLUMN=-1", param_hint="--monotonic-cst"
            )
        signs[name] = _SIGNS[sign]
    return signs


def _class_weight(texts: list[str] | None) -> Any:
    """Read "balanced", or weights of classes as they are written."""
    if not texts or texts == ["balanced"]:
        return texts[0] if texts else None
    weights = {}
    for text in texts:
        label, _, weight = text.rpartition("=")
        try:
            weights[label] = float(weight)
        except ValueError:
            label = ""
        if not label:
            raise typer.BadParameter(
                f"{text!r} is neither balanced nor CLASS=WEIGHT", param_hint="--class-weight"
            )
    return weights


def _of_classes(weights: dict[str, float], y: Any) -> dict[Any, float]:
    """Return weights by the classes themselves instead of how they are written."""
    classes = {str(label): label for label in y.unique().to_list() if label is not None}
    for label in weights:
        if label not in classes:
            raise typer.BadParameter(
                f"there is no class {label!r}{did_you_mean(label, classes)}",
                param_hint="--class-weight",
            )
    return {classes[label]: weight for label, weight in weights.items()}


def _fraction(text: str | None) -> Any:
    if text is None or text in ("sqrt", "log2"):
        return text
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is none of a number, a fraction such as 0.5, sqrt and log2",
            param_hint="--feature-fraction",
        ) from None
