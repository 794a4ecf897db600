"""Foot plants by a learned detector, after Ikemoto, Arikan and Forsyth's plant classifier."""

from __future__ import annotations

from motionloom.errors import ArrayError
from motionloom.features.footplants import detect_footplants
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

__all__ = ["METHODS", "plants_by"]

METHODS = ("thresholds",)


def plants_by(method: str, motion: Motion, body: BodyMap) -> Footplants:
    """Plants of a motion by ``"thresholds"``."""
    if method == "thresholds":
        return detect_footplants(motion, body=body)
    raise ArrayError(f"`plants` must be 'thresholds', got {method!r}.")
