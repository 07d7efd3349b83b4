"""Near objects: neighbours, clusters and support vectors, beside exact and approximate peers."""
