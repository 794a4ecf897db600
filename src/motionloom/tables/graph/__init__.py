"""Rivals: motion graphs, motion matching and learned judges to compare with."""
