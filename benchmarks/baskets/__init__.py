"""Baskets: itemsets, rules and recommendations, beside their peers."""
