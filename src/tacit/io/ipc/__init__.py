"""Arrow IPC files: the record batches that they list as partitions."""
