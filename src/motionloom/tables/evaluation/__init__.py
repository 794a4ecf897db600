"""Evaluation: scores against labels and verdicts of people."""
