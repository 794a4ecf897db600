"""The command line: one file per command, each on the public names alone."""

import gc

gc.set_threshold(20_000)
"""Libraries that are imported make many objects that stay: looking through them took a tenth of a command."""
