"""Density of binary records: mixtures of trees beside circuits."""
