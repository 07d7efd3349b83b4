"""Support vectors on a sparse kernel matrix."""
