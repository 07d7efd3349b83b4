"""Rules: found, boosted and covering, against peers."""
