"""Clusters of records: naive-Bayes mixtures by EM, k-means, and what sets clusters apart."""

from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.kmeans.estimator import KMeans
from tacit.mixture.naive_bayes_mixture import NaiveBayesMixture
from tacit.mixture.profile.profile import Profile
from tacit.mixture.profile.traits import ClusterTraits, Trait

__all__ = ["ClusterTraits", "ExpectedCounts", "KMeans", "NaiveBayesMixture", "Profile", "Trait"]
