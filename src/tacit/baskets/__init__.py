"""Baskets and logs: frequent itemsets, association rules, significant rules, recommenders."""

from tacit.baskets.association_rules import AssociationRules
from tacit.baskets.evaluation import evaluate_recommender
from tacit.baskets.figures import RecommenderEvaluation
from tacit.baskets.frequent_itemsets import FrequentItemsets
from tacit.baskets.itemset_list import Itemsets
from tacit.baskets.recommender import Recommender
from tacit.baskets.significant.rule import SignificantRule
from tacit.baskets.significant.significant_rules import SignificantRules

__all__ = [
    "AssociationRules",
    "FrequentItemsets",
    "Itemsets",
    "Recommender",
    "RecommenderEvaluation",
    "SignificantRule",
    "SignificantRules",
    "evaluate_recommender",
]
