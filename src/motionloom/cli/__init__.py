"""The command line: one file per command, each on the public names alone."""
