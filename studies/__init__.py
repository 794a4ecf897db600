"""Experiments of the papers and our own; run by ``./study`` and ``./bench``."""
