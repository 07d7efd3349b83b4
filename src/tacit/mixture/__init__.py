"""Clusters of records: k-means."""

from tacit.mixture.kmeans import KMeans

__all__ = ["KMeans"]
