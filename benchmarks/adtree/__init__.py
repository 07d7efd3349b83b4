"""ADtrees against reading records and against peers."""
