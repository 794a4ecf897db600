"""Files that are whole at every moment: atomic replacement, clean-up after kills, locks, leases."""
