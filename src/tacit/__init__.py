"""Fast learning from sparse and discrete data.

What equals its column's default is never stored and never visited; counts of it are derived.
"""

from tacit import datasets
from tacit.counts import ContingencyTable, OneWay, Pairs, TwoWay
from tacit.errors import FileError, InputError
from tacit.schema import Column, Labels, Schema
from tacit.select import BestSubset
from tacit.store import load
from tacit.table import (
    MDL,
    Edges,
    EqualFrequency,
    EqualWidth,
    Summary,
    Table,
    as_table,
    read,
    read_arff,
    read_baskets,
    read_csv,
    read_msweb,
    read_svmlight,
)

__version__ = "0.1.0"

__all__ = [
    "MDL",
    "BestSubset",
    "Column",
    "ContingencyTable",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "FileError",
    "InputError",
    "Labels",
    "OneWay",
    "Pairs",
    "Schema",
    "Summary",
    "Table",
    "TwoWay",
    "as_table",
    "datasets",
    "load",
    "read",
    "read_arff",
    "read_baskets",
    "read_csv",
    "read_msweb",
    "read_svmlight",
]
