"""The page about a classifier by similarity."""
