"""Zips of arrays: motionloom's own archive, and plain numpy."""
