"""Parquet files: the row groups of their footer as partitions."""
