"""The explorer: any cut of the data in the browser, and in one file."""

from tacit.explore.explorer import Explorer

__all__ = ["Explorer"]
