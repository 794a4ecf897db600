"""Baselines: other methods that results are compared with."""
