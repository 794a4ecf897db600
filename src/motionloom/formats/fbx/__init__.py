"""FBX 7: read from binary and ASCII files, written as binary 7.4."""
