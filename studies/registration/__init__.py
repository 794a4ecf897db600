"""Registration: timing, alignment, constraints and transitions against known truth."""
