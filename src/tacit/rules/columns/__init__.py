"""The columns that rules are about, as the kernels scan them."""
