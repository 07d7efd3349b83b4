"""Neighbours, exactly: dense objects and sparse ones, against exact and approximate peers."""
