"""Motion onto another skeleton, by body roles, with plants kept."""
