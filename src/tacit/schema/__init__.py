"""Columns, their labels, and the numbering of stored values."""

from tacit.schema.labels import Label, Labels
from tacit.schema.query import check_query
from tacit.schema.schema import Column, Schema

__all__ = ["Column", "Label", "Labels", "Schema", "check_query"]
