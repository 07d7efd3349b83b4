"""A graph of near objects, checked once: neighbours, components, labels that spread."""
