"""Baskets and logs: frequent itemsets, association rules, significant rules, recommenders."""

from tacit.baskets.significant.rule import SignificantRule
from tacit.baskets.significant.significant_rules import SignificantRules

__all__ = ["SignificantRule", "SignificantRules"]
