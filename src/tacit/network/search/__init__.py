"""The search for the structure of a Bayes net, and what it asks of records."""
