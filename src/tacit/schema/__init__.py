"""Columns, their labels, and the numbering of stored values."""

from tacit.schema.labels import KINDS, Kind, Label, Labels
from tacit.schema.names import NumberedNames
from tacit.schema.query import check_query
from tacit.schema.schema import Column, Schema

__all__ = ["KINDS", "Column", "Kind", "Label", "Labels", "NumberedNames", "Schema", "check_query"]
