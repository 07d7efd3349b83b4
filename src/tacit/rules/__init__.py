"""Rules: under which conditions a column has a value, and rules that predict."""

from tacit.rules.boosted import saving as boosted_saving  # noqa: F401 - registers its loader
from tacit.rules.boosted.estimators import BoostedRulesClassifier, BoostedRulesRegressor
from tacit.rules.boosted.explanation import Explanation
from tacit.rules.boosted.rule_set import BoostedRule, RuleSet
from tacit.rules.covering import saving as covering_saving  # noqa: F401 - registers its loader
from tacit.rules.covering.decision_list import CoveringRule, DecisionList
from tacit.rules.covering.estimator import CoveringRulesClassifier
from tacit.rules.finder.rule import Rule
from tacit.rules.finder.rule_finder import RuleFinder

__all__ = [
    "BoostedRule",
    "BoostedRulesClassifier",
    "BoostedRulesRegressor",
    "CoveringRule",
    "CoveringRulesClassifier",
    "DecisionList",
    "Explanation",
    "Rule",
    "RuleFinder",
    "RuleSet",
]
