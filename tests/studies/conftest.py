"""Fixtures that studies share with the tests of tables."""

from tests.unit.tables.conftest import frames_in_any_order, kinds_frames, kinds_motions

__all__ = ["frames_in_any_order", "kinds_frames", "kinds_motions"]
