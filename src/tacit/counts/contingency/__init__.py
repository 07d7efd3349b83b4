"""Contingency tables: counts of all label combinations of a few columns."""
