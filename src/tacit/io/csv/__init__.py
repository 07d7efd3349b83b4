"""CSV files: their lines, the types of their columns, all of a file or ranges of it."""

from tacit.io.csv.file import check_dialect, csv_frame, read_csv
from tacit.io.csv.ranges import CsvFiles, CsvScan

__all__ = ["CsvFiles", "CsvScan", "check_dialect", "csv_frame", "read_csv"]
