"""CSV files: their lines, the types of their columns, all of a file or ranges of it."""

from tacit.io.csv.file import csv_frame, read_csv
from tacit.io.csv.ranges import CsvFiles, CsvScan
from tacit.io.csv.sniff import CsvOptions

__all__ = ["CsvFiles", "CsvOptions", "CsvScan", "csv_frame", "read_csv"]
