"""Parquet files: all of a file, or row groups as partitions."""

from tacit.io.parquet.file import ParquetFile, open_parquet

__all__ = ["ParquetFile", "open_parquet"]
