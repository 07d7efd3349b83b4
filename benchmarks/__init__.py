"""Benchmarks: one file a claim. ``make bench`` runs all, ``python -m benchmarks counts`` one."""
