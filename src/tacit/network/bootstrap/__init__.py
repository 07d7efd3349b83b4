"""How sure a net is of its arcs: nets of resampled records, and what they have in common."""
