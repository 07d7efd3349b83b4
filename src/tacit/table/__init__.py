"""Tables of discrete records, and the many ways to make one."""

from tacit.table.discretise import MDL, Edges, EqualFrequency, EqualWidth
from tacit.table.gateway import as_table
from tacit.table.summary import Summary
from tacit.table.table import Table

__all__ = [
    "MDL",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "Summary",
    "Table",
    "as_table",
]
