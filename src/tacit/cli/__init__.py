"""The command line: summaries, counts and pairs of files, and a demonstration."""

from tacit.cli.app import app, main

__all__ = ["app", "main"]
