"""Rules: under which conditions a column has a value, and rules that predict."""

from tacit.rules.boosted.estimators import BoostedRulesClassifier, BoostedRulesRegressor
from tacit.rules.boosted.explanation import Explanation
from tacit.rules.boosted.rule_set import BoostedRule, RuleSet
from tacit.rules.conditions import Condition
from tacit.rules.covering.decision_list import CoveringRule, DecisionList
from tacit.rules.covering.estimator import CoveringRulesClassifier
from tacit.rules.finder.rule import Rule
from tacit.rules.finder.rule_finder import RuleFinder

__all__ = [
    "BoostedRule",
    "BoostedRulesClassifier",
    "BoostedRulesRegressor",
    "Condition",
    "CoveringRule",
    "CoveringRulesClassifier",
    "DecisionList",
    "Explanation",
    "Rule",
    "RuleFinder",
    "RuleSet",
]
