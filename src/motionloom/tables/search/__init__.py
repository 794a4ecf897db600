"""Searching: all blends between representatives, and the best of a few."""
