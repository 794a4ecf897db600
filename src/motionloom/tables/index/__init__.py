"""Likeness: windows compared, sorted into clusters, indexed and looked up."""
