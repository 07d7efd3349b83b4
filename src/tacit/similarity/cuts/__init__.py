"""Minimum and normalised cuts of the graph, and the classifier by them."""
