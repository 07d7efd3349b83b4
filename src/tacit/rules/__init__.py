"""Rules: under which conditions a column has a value."""

from tacit.rules.rule import Rule
from tacit.rules.rule_finder import RuleFinder

__all__ = ["Rule", "RuleFinder"]
