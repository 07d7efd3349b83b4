"""Sparse computation: pairs, neighbours, cuts, SVM."""
