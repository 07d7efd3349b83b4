"""Dependency trees, branchings and Bayes nets."""
