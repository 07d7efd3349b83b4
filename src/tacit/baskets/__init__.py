"""Baskets and logs: frequent itemsets, association rules, significant rules, recommenders."""

from tacit.baskets.recommender import Recommender

__all__ = ["Recommender"]
