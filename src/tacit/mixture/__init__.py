"""Clusters of records: naive-Bayes mixtures by EM, k-means, and what sets clusters apart."""

from tacit.mixture.expected import ExpectedCounts
from tacit.mixture.kmeans import KMeans
from tacit.mixture.naive_bayes_mixture import NaiveBayesMixture
from tacit.mixture.profile import Profile
from tacit.mixture.traits import ClusterTraits, Trait

__all__ = ["ClusterTraits", "ExpectedCounts", "KMeans", "NaiveBayesMixture", "Profile", "Trait"]
