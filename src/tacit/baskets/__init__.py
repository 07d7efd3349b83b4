"""Baskets and logs: frequent itemsets, association rules, significant rules, recommenders."""

__all__: list[str] = []
