"""Baskets and logs: frequent itemsets, association rules, significant rules, recommenders."""

from tacit.baskets.association_rules import AssociationRules
from tacit.baskets.frequent_itemsets import FrequentItemsets
from tacit.baskets.items import Items
from tacit.baskets.itemset_list import Itemsets
from tacit.baskets.mining import Forecast

__all__ = ["AssociationRules", "Forecast", "FrequentItemsets", "Items", "Itemsets"]
