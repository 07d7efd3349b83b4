"""Partitions: growth, memory limits, Dask."""
