"""CSV files: their lines, the types of their columns, all of a file or ranges of it."""

from tacit.io.csv.file import open_csv, read_csv
from tacit.io.csv.ranges import CsvFiles, CsvScan
from tacit.io.csv.sniff import CsvOptions

__all__ = ["CsvFiles", "CsvOptions", "CsvScan", "open_csv", "read_csv"]
