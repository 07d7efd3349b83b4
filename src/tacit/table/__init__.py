"""Tables of discrete records, and the many ways to make one."""

from tacit.table.discretise import MDL, Edges, EqualFrequency, EqualWidth
from tacit.table.gateway import as_table
from tacit.table.read import (
    MultiLabelData,
    can_discretise,
    read,
    read_arff,
    read_arff_frame,
    read_baskets,
    read_csv,
    read_frame,
    read_msweb,
    read_multilabel,
    read_svmlight,
    read_what,
)
from tacit.table.summary import Summary
from tacit.table.table import Table

__all__ = [
    "MDL",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "MultiLabelData",
    "Summary",
    "Table",
    "as_table",
    "read",
    "read_arff",
    "read_arff_frame",
    "read_baskets",
    "read_csv",
    "read_frame",
    "read_msweb",
    "read_multilabel",
    "read_svmlight",
    "read_what",
    "can_discretise",
]
