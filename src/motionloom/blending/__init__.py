"""Using a registration curve: blends, transitions, live control, loops and parameters."""
