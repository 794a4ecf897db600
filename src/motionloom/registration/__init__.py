"""Registration curves, after Kovar & Gleicher 2003. Timing, alignment and constraints, found."""
