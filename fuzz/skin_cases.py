"""Cases of the fourth mutator: small characters, their trees or bytes changed."""

from __future__ import annotations

from functools import cache

import numpy as np

from attempt import SKIN, Case
from box_man import box_man, box_man_glb
from box_man_fbx import box_man_items
from fbx_mutate import changed_scene
from motionloom.formats.fbx.fbx_encode import Item
from motionloom.motion.skeleton import Skeleton
from mutate import change_glb, mutated

FORMS = ("glb", "binary", "glb", "text")


@cache
def small_character() -> tuple[bytes, list[Item]]:
    """A man of two boxes with a hat: a GLB, and the items of an FBX."""
    places = np.array([[0.0, 0.9, 0.0], [0.0, 0.5, 0.0], [0.0, -0.5, 0.0]])
    man = box_man(Skeleton(("Hips", "Head", "Foot"), np.array([-1, 0, 0]), places))
    return box_man_glb(man), box_man_items(man)


class Skins:
    """Half glTF, a quarter each of binary and ASCII FBX; one in six also spoiled by its bytes."""

    def __init__(self, seed: int, only: str | None) -> None:
        self.seed, self.only = seed, only

    def case(self, number: int) -> Case:
        """A changed file."""
        rng = np.random.Generator(np.random.PCG64([self.seed, number]))
        form = FORMS[number % len(FORMS)]
        if self.only is not None:
            form = "glb" if self.only == "glb" else ("binary", "text")[number % 2]
        glb, items = small_character()
        if form == "glb":
            name, data = "glb", glb
            for _ in range(int(rng.integers(1, 4))):
                data = change_glb(rng, data)
        else:
            name, data = "fbx", changed_scene(rng, form, (items,))
        if rng.random() < 1 / 6:
            data = mutated(rng, data, "scene")
        return Case(number, name, SKIN, data)
