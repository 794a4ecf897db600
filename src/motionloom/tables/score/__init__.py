"""Scoring: what a blend is worth: plants, zero moment point, naturalness."""
