"""Columns, their labels, the numbering of stored values, and what queries ask of them."""

from tacit.schema.labels import KINDS, Kind, Label, Labels
from tacit.schema.names import NumberedNames, check_names
from tacit.schema.query import (
    Between,
    CodeRanges,
    Exclude,
    between,
    check_query,
    complement,
    exclude,
)
from tacit.schema.schema import Column, Schema

__all__ = [
    "KINDS",
    "Between",
    "CodeRanges",
    "Column",
    "Exclude",
    "Kind",
    "Label",
    "Labels",
    "NumberedNames",
    "Schema",
    "between",
    "check_names",
    "check_query",
    "complement",
    "exclude",
]
