"""Footskate clean-up: a motion and its footplants in, a motion whose feet stand out."""
