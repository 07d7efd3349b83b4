"""Clusters of near objects."""
