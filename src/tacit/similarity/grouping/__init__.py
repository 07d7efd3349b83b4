"""Groups of objects that are all but identical."""
