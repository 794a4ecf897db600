"""Digests of what every folder of the package returns and says: ``python -m tests.digests``."""
