"""Which pairs of columns a dependency tree joins: exact, or by the red rule."""
