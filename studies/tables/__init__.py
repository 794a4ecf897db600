"""Transition tables: the papers' experiments and our own."""
