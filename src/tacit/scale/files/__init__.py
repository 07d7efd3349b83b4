"""Files as partitions: where pieces of them lie, and how each becomes a frame."""
