"""Kinds of models that the page can learn; ``explore/models.py`` says what a module has."""
