"""Covering rules: an ordered list, learnt by separate and conquer."""
