"""Dependency networks: a decision tree for every column given all others."""
