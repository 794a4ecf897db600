"""BVH: read, written, in every dialect."""
