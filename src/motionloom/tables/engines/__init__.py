"""Engines: where a search runs. One interface, one answer."""
