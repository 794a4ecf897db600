"""The command line: one file per command, public API only, no maths."""
