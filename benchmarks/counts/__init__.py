"""Counting against NumPy, SciPy and frames."""
