"""ARFF files, dense and sparse."""

from tacit.io.arff.read import read_arff

__all__ = ["read_arff"]
