"""The best rules about a value, by exhaustive search."""
