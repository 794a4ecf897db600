"""Embedded clips: people that walk, run and act on paths, with exact ground truth."""

from __future__ import annotations

from motionloom.synthetic.clips import SyntheticClip, clip, kinds
from motionloom.synthetic.synthetic_skeleton import skeleton

__all__ = ["SyntheticClip", "clip", "kinds", "skeleton"]
