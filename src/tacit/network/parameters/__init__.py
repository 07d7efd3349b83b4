"""Probability tables of a Bayes net, from counts or by EM."""
