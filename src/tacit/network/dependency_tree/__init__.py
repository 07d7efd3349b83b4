"""Dependency trees as estimators and as distributions."""
