"""Rules: searched, boosted and covering, against peers."""
