"""CSV files: their lines, the types of their columns, the file as a whole and ranges of it."""
