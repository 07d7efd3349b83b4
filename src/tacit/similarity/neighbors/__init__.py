"""The nearest objects, and the classifier by them."""
