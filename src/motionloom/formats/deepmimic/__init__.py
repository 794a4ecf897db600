"""DeepMimic motions and their characters."""
