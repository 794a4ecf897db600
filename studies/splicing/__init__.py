"""Splices against captured truth and the naive methods."""
