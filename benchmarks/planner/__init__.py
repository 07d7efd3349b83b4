"""The planner against the best engine for a whole workload."""
