"""Files in and out: whole files as Tables, or row ranges of them as partitions."""

from tacit.io.arff import read_arff
from tacit.io.baskets import read_baskets
from tacit.io.csv import read_csv
from tacit.io.msweb import read_msweb
from tacit.io.multilabel import MultiLabelData, arff_numbers, read_multilabel
from tacit.io.read import file_kind, read, read_frame, read_what
from tacit.io.scan import scan
from tacit.io.svmlight import read_svmlight

__all__ = [
    "MultiLabelData",
    "arff_numbers",
    "file_kind",
    "read",
    "read_arff",
    "read_baskets",
    "read_csv",
    "read_frame",
    "read_msweb",
    "read_multilabel",
    "read_svmlight",
    "read_what",
    "scan",
]
