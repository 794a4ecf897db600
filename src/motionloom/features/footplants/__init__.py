"""Footplants: when heel and ball of each foot stand, and the signals that show it."""
