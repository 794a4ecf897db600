"""Fixtures of the tests of tables, for the studies of them."""

from tests.unit.tables.conftest import frames_in_any_order, kinds_frames, kinds_motions

__all__ = ["frames_in_any_order", "kinds_frames", "kinds_motions"]
