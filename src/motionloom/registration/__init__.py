"""Room 1: registration curves, Kovar & Gleicher 2003. Timing, alignment and constraints, found."""
