"""Files to clips and back: one file per format, one registry, and only what the file says."""
