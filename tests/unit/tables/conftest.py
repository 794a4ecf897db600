"""A small collection for tests of clusters, lookup and index: embedded clips, known kinds."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of

KINDS = ("walk", "run", "sneak", "stand", "kick", "punch")


@pytest.fixture(scope="session")
def kinds_motions():
    """Two clips of each kind, which differ in speed of life and place."""
    rng = np.random.Generator(np.random.PCG64(5))
    motions = []
    for kind in KINDS:
        for take in range(2):
            motion = ml.synthetic.clip(kind, seed=take, phase=0.3 * take).motion
            x, z = rng.normal(size=2)
            moved = ml.move(motion, heading=float(rng.normal()), x=float(x), z=float(z))
            motions.append(moved.replace(name=f"{kind}_{take}"))
    return motions


def frames_without_plants(motions):
    """Plants have no influence here; leaving them out saves their detection."""
    plants = [ml.Footplants(np.zeros((m.n_frames, 4), dtype=bool)) for m in motions]
    return frames_of(motions, footplants=plants)


@pytest.fixture(scope="session")
def kinds_frames(kinds_motions):
    return frames_without_plants(kinds_motions)


@pytest.fixture(scope="session")
def frames_in_any_order():
    return frames_without_plants
