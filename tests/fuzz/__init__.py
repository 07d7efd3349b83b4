"""Inputs that nobody would write: damaged, crafted and lying, at every reader and public call.

An input is a number of a target: `python -m fuzz parquet --first 12345 --count 1` makes it again.
"""
