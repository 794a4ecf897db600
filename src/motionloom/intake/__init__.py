"""Load a clip from a file, detect its unit, axes and faults, and save it to a file."""
