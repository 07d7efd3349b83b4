"""Mixtures and k-means against peers."""
