"""Rules: under which conditions a column has a value, and rules that predict."""

from tacit.rules import (  # so that files of rules can be loaded
    boosted_saving,  # noqa: F401
    covering_files,  # noqa: F401
)
from tacit.rules.boosted import BoostedRulesClassifier, BoostedRulesRegressor
from tacit.rules.covering import CoveringRulesClassifier
from tacit.rules.decision_list import CoveringRule, DecisionList
from tacit.rules.explanation import Explanation
from tacit.rules.rule import Rule
from tacit.rules.rule_finder import RuleFinder
from tacit.rules.rule_set import BoostedRule, RuleSet

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
