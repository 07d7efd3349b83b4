"""CSV files: their lines, the types of their columns, all of a file or ranges of it."""

from tacit.io.csv.ranges import CsvScan
from tacit.io.csv.read import check_dialect, csv_frame, read_csv
from tacit.io.csv.scan import CsvFiles

__all__ = ["CsvFiles", "CsvScan", "check_dialect", "csv_frame", "read_csv"]
