"""The command line: one file per command, each on the public names alone."""

import gc

gc.set_threshold(20_000)
"""Imported libraries make many lasting objects: looking through them took a tenth of a command."""
