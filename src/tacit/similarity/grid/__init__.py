"""The grid: which block an object is in, which blocks touch, and what that will cost."""
