"""Skins for the stage: the mesh of a clip's file, and the poses that bend it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from motionloom.motion.motion import Motion
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.skin import Skin, skin_of
from motionloom.studio.clips.stage_clip import Arrays

STORED_SKINS = 4


class Skins:
    """Skins of the library's clips; the last ones are cached."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._stored: OrderedDict[tuple[str, int], Skin | None] = OrderedDict()

    def arrays(self, clips: Sequence[str], motions: Mapping[str, Motion]) -> Arrays:
        """Arrays that draw motions with a skin; none where no clip has one that fits.

        Parameters
        ----------
        clips
            Clips with skins; the first one with the joints of the motions is used.
        motions
            All on one skeleton, by the prefix of their arrays' names.
        """
        names = next(iter(motions.values())).skeleton.names
        for clip in clips:
            if self.library.open(clip).motion.skeleton.names != names:
                continue
            skin = self._find(clip)
            if skin is None:
                continue
            drawn = _skin_arrays(skin)
            for prefix, motion in motions.items():
                places, turns = motion.world_pose()
                poses = np.concatenate([places, turns], axis=-1)
                drawn[f"{prefix}poses"] = poses[:, skin.joints]
            return drawn
        return {}

    def _find(self, clip: str) -> Skin | None:
        key = self.library.version(clip)
        if key not in self._stored:
            self._stored[key] = self._read(clip)
            while len(self._stored) > STORED_SKINS:
                self._stored.popitem(last=False)
        return self._stored[key]

    def _read(self, clip: str) -> Skin | None:
        own = self.library.skin(clip)
        if own is not None:
            return own  # read together with the uploaded file
        if self.library.file(clip) is None:
            return None
        return skin_of(self.library.open(clip).motion)


def _skin_arrays(skin: Skin) -> Arrays:
    """The arrays of a skin."""
    return {
        "skin.points": skin.points,
        "skin.normals": skin.normals,
        "skin.triangles": skin.triangles,
        "skin.bones": skin.bones.astype(np.uint8),
        "skin.weights": skin.weights,
        "skin.binds": skin.binds.reshape(len(skin.binds), 12),
    }
