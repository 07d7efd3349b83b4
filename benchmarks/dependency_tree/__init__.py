"""Dependency trees: exact and by the red rule."""
