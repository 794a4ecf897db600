"""A clip as USD text: a SkelRoot with a Skeleton, a SkelAnimation and a small mesh.

One time code per frame, one sample per time code. The animation is in single precision, as its
schema demands; a figure far from the origin is moved there by its SkelRoot, in double precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.figures import rest_world
from motionloom.formats.file_clip import FileClip
from motionloom.formats.keys import far_origin, single_quats
from motionloom.formats.meshes import bone_mesh
from motionloom.formats.text import end_names
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

FARTHEST = 1e9
AXES = {"y": "Y", "z": "Z"}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write the clip as ``.usda``."""
    motion, unit_m = clip.motion, clip.unit_m or 1.0
    up = AXES.get(clip.up or "y")
    if up is None:
        raise FormatError(
            f"USD knows the up axes y and z, got {clip.up}.", fix='Pass up="y" or up="z".'
        )
    skeleton = motion.skeleton
    for lengths in (skeleton.offsets, skeleton.end_offsets, motion.root_positions):
        if np.abs(lengths).max(initial=0.0) > FARTHEST:
            raise FormatError(
                f"USD animation is in single precision: lengths must be below {FARTHEST:g}.",
                fix="Check the unit, or move the clip to the origin.",
            )
    origin = far_origin(motion.root_positions, unit_m)
    motion = _as_stored(motion, origin)
    rest = rest_world(skeleton, origin)
    parts = (
        _header(clip, unit_m, up),
        _skel_root(motion, origin),
        _skeleton(skeleton, rest, origin),
        _animation(motion, origin),
        _mesh(skeleton, (rest[0] - origin, rest[1]), unit_m),
        "}\n",
    )
    for part in parts:
        stream.write(part.encode("utf-8", "replace"))


def _header(clip: FileClip, unit_m: float, up: str) -> str:
    motion = clip.motion
    name = str(clip.clip or clip.detail.get("animation") or motion.name or "")
    label = f"        string clip = {quoted_text(name)}\n" if name else ""
    return f"""#usda 1.0
(
    customLayerData = {{
{label}        string generator = "motionloom"
    }}
    defaultPrim = "figure"
    endTimeCode = {motion.n_frames - 1}
    framesPerSecond = {number(motion.fps)}
    metersPerUnit = {number(unit_m)}
    startTimeCode = 0
    timeCodesPerSecond = {number(motion.fps)}
    upAxis = "{up}"
)

"""


def _skel_root(motion: Motion, origin: FloatArray) -> str:
    points = np.concatenate([motion.world_positions(), motion.end_positions()], axis=1) - origin
    flat = points.reshape(-1, 3).astype(np.float32)
    extent = tuples_of(np.stack([flat.min(axis=0), flat.max(axis=0)]))
    moved = ""
    if np.any(origin):
        moved = f"""    double3 xformOp:translate = {tuples_of(origin[None])[1:-1]}
    uniform token[] xformOpOrder = ["xformOp:translate"]
"""
    return f"""def SkelRoot "figure" (
    prepend apiSchemas = ["SkelBindingAPI"]
    kind = "component"
)
{{
    float3[] extent = {extent}
    rel skel:animationSource = </figure/motion>
    rel skel:skeleton = </figure/skeleton>
{moved}
"""


def _skeleton(skeleton: Skeleton, rest: tuple[FloatArray, FloatArray], origin: FloatArray) -> str:
    n_ends = len(skeleton.end_parents)
    names = [*skeleton.names, *end_names(skeleton)]
    offsets = np.concatenate([skeleton.offsets, skeleton.end_offsets])
    offsets[0] -= origin
    turns = np.concatenate([skeleton.rest_quats, np.tile(quat.IDENTITY, (n_ends, 1))])
    return f"""    def Skeleton "skeleton"
    {{
        uniform matrix4d[] bindTransforms = {matrices_of(_matrices(rest[0] - origin, rest[1]))}
        uniform token[] jointNames = {quoted_list(names)}
        uniform token[] joints = {quoted_list(joint_paths(skeleton))}
        uniform matrix4d[] restTransforms = {matrices_of(_matrices(offsets, turns))}
        custom uniform int motionloom:endSites = {n_ends}
        custom uniform quatd[] motionloom:restRotations = {tuples_of(skeleton.rest_quats)}
    }}

"""


def _animation(motion: Motion, origin: FloatArray) -> str:
    skeleton = motion.skeleton
    moving = motion.joint_translations
    places = np.zeros((motion.n_frames, skeleton.n_joints, 3))
    places[:] = skeleton.offsets if moving is None else moving
    places[:, 0] = motion.root_positions - origin
    turns = single_quats(motion.local_quats)
    ones = ", ".join(["(1, 1, 1)"] * skeleton.n_joints)
    return f"""    def SkelAnimation "motion"
    {{
        uniform token[] joints = {quoted_list(joint_paths(skeleton)[: skeleton.n_joints])}
        quatf[] rotations.timeSamples = {{
{_samples([tuples_of(rows) for rows in turns])}
        }}
        half3[] scales = [{ones}]
        float3[] translations.timeSamples = {{
{_samples([tuples_of(rows) for rows in places.astype(np.float32)])}
        }}
    }}

"""


def _samples(values: list[str]) -> str:
    return "\n".join(f"            {frame}: {value}," for frame, value in enumerate(values))


def _mesh(skeleton: Skeleton, rest: tuple[FloatArray, FloatArray], unit_m: float) -> str:
    mesh = bone_mesh(skeleton, rest[0] * unit_m, rest[1])
    points = (mesh.points / unit_m).astype(np.float32)
    extent = tuples_of(np.stack([points.min(axis=0), points.max(axis=0)]))
    corners = ", ".join(map(str, mesh.triangles.ravel().tolist()))
    return f"""    def Mesh "bones" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {{
        uniform bool doubleSided = 1
        float3[] extent = {extent}
        int[] faceVertexCounts = [{", ".join(["3"] * len(mesh.triangles))}]
        int[] faceVertexIndices = [{corners}]
        point3f[] points = {tuples_of(points)}
        color3f[] primvars:displayColor = [(0.28, 0.4, 0.52)]
        matrix4d primvars:skel:geomBindTransform = {matrices_of(np.eye(4)[None])[1:-1]}
        int[] primvars:skel:jointIndices = [{", ".join(map(str, mesh.owners.tolist()))}] (
            elementSize = 1
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [{", ".join(["1"] * len(mesh.owners))}] (
            elementSize = 1
            interpolation = "vertex"
        )
        uniform token subdivisionScheme = "none"
    }}
"""


def joint_paths(skeleton: Skeleton) -> list[str]:
    """``"hips/spine/head"`` of every joint, then of every end site."""
    names = identifiers([*skeleton.names, *end_names(skeleton)])
    paths: list[str] = []
    for name, parent in zip(names, [*skeleton.parents, *skeleton.end_parents], strict=True):
        paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
    return paths


def _as_stored(motion: Motion, origin: FloatArray) -> Motion:
    """The motion in the precision of the file, as its reader will have it."""
    moving = motion.joint_translations
    return motion.replace(
        root_positions=(motion.root_positions - origin).astype(np.float32) + origin,
        local_quats=single_quats(motion.local_quats).astype(np.float64),
        joint_translations=None if moving is None else moving.astype(np.float32),
    )


def _matrices(places: FloatArray, turns: FloatArray) -> FloatArray:
    matrices = np.tile(np.eye(4), (len(places), 1, 1))
    matrices[:, :3, :3] = quat.to_matrix(turns)
    matrices[:, :3, 3] = places
    return matrices


def quoted_text(text: str) -> str:
    """A string between double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for character, code in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"), ("\0", "")):
        escaped = escaped.replace(character, code)
    return f'"{escaped}"'


def quoted_list(texts: Iterable[str]) -> str:
    """A list of strings."""
    return f"[{', '.join(quoted_text(text) for text in texts)}]"


def tuples_of(rows: npt.NDArray[np.floating]) -> str:
    """Rows (N, K) as ``[(a, b), (c, d)]``: float32 in 9 digits at most, float64 in 17."""
    n_rows, width = rows.shape
    whole = rows + np.zeros(1, rows.dtype)  # -0.0 becomes 0.0
    if rows.dtype == np.float32:
        texts = whole.ravel().astype("U24").tolist()
    else:
        texts = [number(value) for value in whole.ravel().tolist()]
    starts = range(0, n_rows * width, width)
    rows_text = (", ".join(texts[at : at + width]) for at in starts)
    return f"[{', '.join(f'({row})' for row in rows_text)}]"


def matrices_of(matrices: FloatArray) -> str:
    """Matrices (N, 4, 4) for column vectors, as USD writes them: for row vectors."""
    rows = (tuples_of(matrix.T)[1:-1] for matrix in matrices)
    return f"[{', '.join(f'( {row} )' for row in rows)}]"


def number(value: float) -> str:
    """A double, whole numbers without a fraction."""
    whole = abs(value) < 1e15 and value == int(value)
    return str(int(value)) if whole else repr(float(value))


def identifiers(names: Iterable[str]) -> list[str]:
    """Unique names of prims: letters, digits and underscores."""
    taken: set[str] = set()
    result = []
    for index, name in enumerate(names):
        base = _NOT_IN_NAMES.sub("_", name) or f"joint_{index}"
        if base[0].isdigit():
            base = f"_{base}"
        unique, again = base, 2
        while unique in taken:
            unique, again = f"{base}_{again}", again + 1
        taken.add(unique)
        result.append(unique)
    return result
