"""Capture glitches: found frame by frame, and repaired before motion is made of a clip."""
