"""Clusters of records: naive-Bayes mixtures by EM, and k-means."""

from tacit.mixture.expected import ExpectedCounts
from tacit.mixture.kmeans import KMeans
from tacit.mixture.naive_bayes_mixture import NaiveBayesMixture

__all__ = ["ExpectedCounts", "KMeans", "NaiveBayesMixture"]
