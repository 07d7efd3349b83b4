"""Bayes nets: arcs, tables, search, inference."""
