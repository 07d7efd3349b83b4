"""Bayes nets: score, time, and inference against peers."""
