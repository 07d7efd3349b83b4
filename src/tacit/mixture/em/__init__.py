"""Expectation maximisation: starts, steps, and how many clusters."""
