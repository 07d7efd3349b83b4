"""Trees of partitioned tables: leaves are counted in passes, level by level."""
