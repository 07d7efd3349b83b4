"""Slow, obvious answers that kernels and models are compared with."""
