"""Reading files: logs into tables, and CSV into frames, against Polars."""
