"""How far contacts are apart on a curve, and the paper's one reference."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.registration import many_clips
from motionloom.registration.many_clips import Edge, cheapest_tree
from studies.registration.registration_tree import contacts_apart, one_reference

WALK = ml.synthetic.clip("walk", duration_s=3.0)


def test_contacts_of_the_same_clip_are_not_apart_and_late_ones_are() -> None:
    plants = WALK.footplants.planted
    late = ml.Footplants(np.concatenate([plants[:4], plants[:-4]]))
    curve = ml.register(
        [WALK.motion, WALK.motion], footplants=[WALK.footplants, late], ends="match"
    )
    assert np.median(contacts_apart(curve, [0, 1])) == pytest.approx(4.0, abs=1e-6)
    same = ml.register([WALK.motion] * 2, footplants=[WALK.footplants] * 2, ends="match")
    assert contacts_apart(same, [0, 1]).max() < 1e-6


def test_one_reference_registers_every_clip_with_it() -> None:
    with one_reference():
        edges = many_clips.cheapest_tree(np.zeros((3, 3)), 1)
    assert edges == [Edge(1, 0), Edge(1, 2)]
    assert many_clips.cheapest_tree is cheapest_tree
