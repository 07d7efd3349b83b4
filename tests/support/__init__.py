"""Data, strategies and comparisons that tests share."""
