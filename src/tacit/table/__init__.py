"""Tables of discrete records, and the many ways to make one."""

from tacit.table.cuts import with_edges
from tacit.table.discretise import MDL, Auto, Edges, EqualFrequency, EqualWidth
from tacit.table.gateway import as_table
from tacit.table.summary import ColumnSummary, Summary
from tacit.table.table import Table

__all__ = [
    "Auto",
    "ColumnSummary",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "MDL",
    "Summary",
    "Table",
    "as_table",
    "with_edges",
]
