"""k-means on sparse records."""
