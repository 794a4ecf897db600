"""Footplants against marked, corrupted and independent ones."""
