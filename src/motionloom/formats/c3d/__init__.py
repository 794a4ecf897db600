"""C3D: markers of optical motion capture, as points without a skeleton."""
