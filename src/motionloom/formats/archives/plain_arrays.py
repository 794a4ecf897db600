"""Plain numpy: an ``.npz`` with one array for positions, one for rotations, and so on.

Needed are ``root_positions`` (F, 3), ``local_quats`` (F, J, 4), ``parents`` (J,) and ``offsets``
(J, 3). Wanted are ``fps`` and ``names`` (J,). Welcome are ``rest_quats`` (J, 4), ``end_parents``
(E,), ``end_offsets`` (E, 3), ``joint_translations`` (F, J, 3), ``quat_order`` (``wxyz`` unless it
says ``xyzw``), ``unit_m`` (metres per unit) and ``up`` (``y``, ``z``, ...).

Written for training as well, and ignored when read: ``world_positions`` (F, J, 3), ``world_quats``
(F, J, 4), ``linear_velocities`` and ``angular_velocities`` (F, J, 3) in the world, per second, each
the difference between the next frame and the one before over the time between them; and, of a body
with feet, ``contacts`` (F, 4) with ``contact_names``. Of a result, ``provenance_sources``,
``provenance_changed`` (F,) and, for its P parts with up to K clips in a frame, ``provenance_parts``
(P,), ``provenance_clip`` (-1 for none), ``provenance_time`` in seconds and ``provenance_weight``
(P, F, K).
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import unit_of_length
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats import amass
from motionloom.formats.archives.npz import Bundle, first_member, write_members
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.robots import robot_clips
from motionloom.motion.motion import KINDS, Motion, Skeleton, angular_velocities, velocities
from motionloom.motion.provenance import Provenance

ASSUMED_FPS = 30.0
CONTACTS = "contacts"
"""Detail of a clip to write: which foot points stand, of shape (F, 4)."""
PROVENANCE = "provenance"
"""Detail of a clip to write: its :class:`Provenance`. And what names of its arrays begin with."""
UPS = ("x", "y", "z", "-x", "-y", "-z")


def sniff(head: bytes) -> bool:
    """Whether these bytes begin a zip of numpy arrays."""
    name = first_member(head)
    return name is not None and name.endswith(".npy")


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in a plain ``.npz``."""
    bundle = Bundle(stream, options.limits)
    if "local_quats" not in bundle.keys and "poses" in bundle.keys:
        return amass.read_bundle(bundle)
    if "local_quats" not in bundle.keys and any(key in bundle.keys for key in robot_clips.KEYS):
        return robot_clips.read_robot(bundle, options)
    return read_bundle(bundle)


def read_bundle(bundle: Bundle) -> FileClip:
    """The clip in an ``.npz`` that is open already."""
    quats = bundle.numbers("local_quats", (None, None, 4))
    n_frames, n_joints = quats.shape[:2]
    limits = bundle.limits
    if n_joints > limits.max_joints or n_frames > limits.max_frames:
        raise FormatError(
            f"At most {limits.max_joints} joints and {limits.max_frames} frames can be read, "
            f"got {n_joints} and {n_frames}.",
            where="array 'local_quats'",
        )
    sliding = "joint_translations" in bundle.keys
    bundle.budget.check_poses(n_frames, n_joints, sliding=sliding)
    findings: list[Finding] = []
    wanted: dict[str, tuple[int | None, ...]] = {
        "rest_quats": (n_joints, 4),
        "end_parents": (None,),
        "end_offsets": (None, 3),
        "joint_translations": (n_frames, n_joints, 3),
    }
    extra = {key: bundle.numbers(key, s) for key, s in wanted.items() if key in bundle.keys}
    turn = _to_wxyz(bundle)
    if "rest_quats" in extra:
        extra["rest_quats"] = extra["rest_quats"][..., turn]
    moving = extra.pop("joint_translations", None)
    fps = bundle.number("fps") if "fps" in bundle.keys else ASSUMED_FPS
    if "fps" not in bundle.keys:
        findings.append(
            Finding(
                "warning",
                "array 'fps'",
                f"The file says no frame rate; {ASSUMED_FPS:g} fps is only a guess.",
                "Say fps=RATE, or add fps to the file.",
            )
        )
    try:
        skeleton = Skeleton(
            tuple(_names(bundle, n_joints, findings)),
            bundle.numbers("parents", (n_joints,)),
            bundle.numbers("offsets", (n_joints, 3)),
            **extra,
        )
        root = bundle.numbers("root_positions", (n_frames, 3))
        turned = quats if turn == [0, 1, 2, 3] else quats[..., turn]
        motion = Motion(skeleton, root, turned, fps, moving)
        unit_m = (
            unit_of_length(bundle.number("unit_m"), "unit_m") if "unit_m" in bundle.keys else None
        )
    except ArrayError as error:
        raise FormatError(str(error)) from error
    return FileClip(
        motion,
        unit_m=unit_m,
        up=_up(bundle),
        fps_stated="fps" in bundle.keys,
        findings=tuple(findings),
    )


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write the clip as plain arrays, quaternions wxyz."""
    motion, skeleton = clip.motion, clip.motion.skeleton
    arrays: dict[str, npt.NDArray[Any]] = {
        "fps": np.array(motion.fps),
        "names": np.array(skeleton.names, dtype=np.str_),
        "parents": skeleton.parents,
        "offsets": skeleton.offsets,
        "rest_quats": skeleton.rest_quats,
        "end_parents": skeleton.end_parents,
        "end_offsets": skeleton.end_offsets,
        "quat_order": np.array("wxyz"),
        "unit_m": np.array(1.0 if clip.unit_m is None else clip.unit_m),
        "up": np.array(clip.up or "y"),
        "root_positions": motion.root_positions,
        "local_quats": motion.local_quats,
    }
    if motion.joint_translations is not None:
        arrays["joint_translations"] = motion.joint_translations
    places, turns = motion.world_pose()
    arrays |= {
        "world_positions": places,
        "world_quats": turns,
        "linear_velocities": velocities(places, motion.fps),
        "angular_velocities": angular_velocities(turns, motion.fps),
    }
    contacts = clip.detail.get(CONTACTS)
    if isinstance(contacts, np.ndarray):
        arrays |= {"contacts": contacts, "contact_names": np.array(KINDS)}
    made_of = clip.detail.get(PROVENANCE)
    if isinstance(made_of, Provenance):
        arrays |= {f"{PROVENANCE}_{key}": each for key, each in made_of.arrays().items()}
    write_members(stream, {f"{key}.npy": array for key, array in arrays.items()})


def read_provenance(stream: BinaryIO, options: ReadOptions) -> Provenance:
    """The provenance in a plain ``.npz``; refused where it holds none."""
    bundle = Bundle(stream, options.limits)
    if f"{PROVENANCE}_clip" not in bundle.keys:
        raise FormatError(
            "The file does not say what its frames were made from.",
            fix="Save the result itself, not its motion alone.",
        )
    shape = (None, None, None)
    numbers = {key: bundle.numbers(f"{PROVENANCE}_{key}", shape)
               for key in ("clip", "time", "weight")}  # fmt: skip
    try:
        return Provenance.of_arrays(
            sources=bundle.texts(f"{PROVENANCE}_sources"),
            parts=bundle.texts(f"{PROVENANCE}_parts"),
            fps=bundle.number("fps"),
            changed=bundle.array(f"{PROVENANCE}_changed"),
            **numbers,
        )
    except ArrayError as error:
        raise FormatError(str(error), where=PROVENANCE) from error


def _to_wxyz(bundle: Bundle) -> list[int]:
    order = bundle.texts("quat_order") if "quat_order" in bundle.keys else ["wxyz"]
    if order == ["wxyz"]:
        return [0, 1, 2, 3]
    if order == ["xyzw"]:
        return [3, 0, 1, 2]
    raise FormatError(
        f"The order of quaternions must be wxyz or xyzw, got {order}.", where="array 'quat_order'"
    )


def _names(bundle: Bundle, n_joints: int, findings: list[Finding]) -> list[str]:
    if "names" in bundle.keys:
        return bundle.texts("names")
    findings.append(
        Finding(
            "warning",
            "array 'names'",
            "The file names no joints; they are numbered.",
            "Add names to the file, so that feet and knees can be found.",
        )
    )
    return [f"joint_{j}" for j in range(n_joints)]


def _up(bundle: Bundle) -> str | None:
    if "up" not in bundle.keys:
        return None
    texts = bundle.texts("up")
    if len(texts) != 1 or texts[0] not in UPS:
        raise FormatError(f"Up must be one of {', '.join(UPS)}, got {texts}.", where="array 'up'")
    return texts[0]


FORMAT = Format(
    name="arrays",
    title="plain numpy arrays",
    suffixes=(".npz",),
    sniff=sniff,
    read=read,
    write=write,
    unit_m=1.0,
    up="y",
    details=(CONTACTS, PROVENANCE),
)
