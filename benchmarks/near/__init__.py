"""Near things: exact neighbours, clusters and support vectors against peers."""
