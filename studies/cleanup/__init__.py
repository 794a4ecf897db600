"""Footskate clean-up against other methods."""
