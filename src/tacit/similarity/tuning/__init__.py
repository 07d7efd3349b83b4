"""Tuning: every combination of parameters, nothing computed twice."""
