"""Clusters of records: naive-Bayes mixtures by EM."""

from tacit.mixture.expected import ExpectedCounts
from tacit.mixture.naive_bayes_mixture import NaiveBayesMixture

__all__ = ["ExpectedCounts", "NaiveBayesMixture"]
