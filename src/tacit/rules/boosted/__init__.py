"""Boosted rules: gradients, rules, probabilities."""
