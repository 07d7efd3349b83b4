"""How trees grow: what fit is given, as the kernel takes it, and what it returns."""
