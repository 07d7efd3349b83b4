"""Baskets and logs: frequent itemsets, association rules, significant rules, recommenders."""

from tacit.baskets.evaluation import evaluate_recommender
from tacit.baskets.figures import RecommenderEvaluation
from tacit.baskets.recommender import Recommender

__all__ = ["Recommender", "RecommenderEvaluation", "evaluate_recommender"]
