"""Parquet files: all of a file, or row groups as partitions."""

from tacit.io.parquet.file import ParquetFile, parquet_frame, read_parquet

__all__ = ["ParquetFile", "parquet_frame", "read_parquet"]
