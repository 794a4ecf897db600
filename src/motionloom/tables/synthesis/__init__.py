"""Synthesis: the frames of a recipe or of a gap, with feet that stand."""
