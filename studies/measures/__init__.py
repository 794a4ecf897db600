"""Measures that only experiments need."""
