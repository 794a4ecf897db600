"""Judging: scores held against labels and verdicts."""
