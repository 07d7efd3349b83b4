"""Rules about a target with an error rate over all conjunctions that were searched."""
