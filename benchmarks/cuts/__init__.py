"""Cuts of numbers: which default holds on records that it has not seen."""
