"""Acclaim skeletons (ASF) and motions (AMC)."""
