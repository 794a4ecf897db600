"""Transition tables: quick transitions between any frames of a collection (Ikemoto et al.)."""
