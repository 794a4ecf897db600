"""From a file of anybody's to a Motion: load, detect, say what was detected; and back."""
