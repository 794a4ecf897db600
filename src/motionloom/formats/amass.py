"""AMASS ``.npz``: SMPL, SMPL-H and SMPL-X poses, read without the licensed body model.

A file holds rotations and the pelvis path but no bone lengths: those live in the SMPL model, which
cannot be shipped. The bones here are a stand-in from published anthropometry (segment lengths as
parts of stature, Drillis and Contini 1966 as tabulated by Winter), so rotations are the subject's
and proportions are not. Unverified on real files: none could be had under a free licence.

Written are the 22 body joints alone, as the first columns of SMPL-H poses with hands at rest; shape
and soft tissue are zeros. ``trans`` is the pelvis itself: a body model adds its own pelvis offset.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats.archives.npz import Bundle, first_member, write_members
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

STATURE = 1.70
"""Metres, between the mean heights of women and men: the file does not say."""
ASSUMED_FPS = 120.0
BODY_COLUMNS = 66
SMPLH_COLUMNS, N_BETAS, N_DMPLS = 156, 16, 8
REST_ANGLE = 1e-6
"""Radians by which a joint's rest rotation may differ from SMPL's."""
BONE_COSINE = 0.5
"""Of the angle between a bone at rest and the same bone of SMPL: proportions may differ."""
WIDTHS = {66: "SMPL body", 72: "SMPL", 156: "SMPL-H", 165: "SMPL-X"}
RATE_KEYS = ("mocap_framerate", "mocap_frame_rate")
KEYS = frozenset(
    (
        *("poses", "trans", "betas", "gender", "dmpls", *RATE_KEYS, "mocap_time_length"),
        *("surface_model_type", "num_betas", "root_orient", "pose_body", "pose_hand", "pose_jaw"),
        *("pose_eye", "markers_latent", "latent_labels", "markers_latent_vids"),
        *("marker_data", "marker_labels"),
    )
)
"""The names AMASS uses; numpy writes them in no fixed order, so any may come first."""
# Joint, parent, place in the parent as parts of stature: x to the subject's left, y up, z forward.
# Vertical and arm lengths are the published segment lengths; where SMPL has more joints than the
# tables (spine, collars, ball of the foot) the segment is split, and the hip centres lie at half
# of the published hip breadth.
_BODY: tuple[tuple[str, int, tuple[float, float, float]], ...] = (
    ("pelvis", -1, (0.0, 0.530, 0.0)),
    ("left_hip", 0, (0.0478, 0.0, 0.0)),
    ("right_hip", 0, (-0.0478, 0.0, 0.0)),
    ("spine1", 0, (0.0, 0.072, 0.0)),
    ("left_knee", 1, (0.0, -0.245, 0.0)),
    ("right_knee", 2, (0.0, -0.245, 0.0)),
    ("spine2", 3, (0.0, 0.072, 0.0)),
    ("left_ankle", 4, (0.0, -0.246, 0.0)),
    ("right_ankle", 5, (0.0, -0.246, 0.0)),
    ("spine3", 6, (0.0, 0.072, 0.0)),
    ("left_foot", 7, (0.0, -0.029, 0.070)),
    ("right_foot", 8, (0.0, -0.029, 0.070)),
    ("neck", 9, (0.0, 0.072, 0.0)),
    ("left_collar", 9, (0.040, 0.052, 0.0)),
    ("right_collar", 9, (-0.040, 0.052, 0.0)),
    ("head", 12, (0.0, 0.052, 0.0)),
    ("left_shoulder", 13, (0.089, 0.020, 0.0)),
    ("right_shoulder", 14, (-0.089, 0.020, 0.0)),
    ("left_elbow", 16, (0.186, 0.0, 0.0)),
    ("right_elbow", 17, (-0.186, 0.0, 0.0)),
    ("left_wrist", 18, (0.146, 0.0, 0.0)),
    ("right_wrist", 19, (-0.146, 0.0, 0.0)),
)
_ENDS: tuple[tuple[int, tuple[float, float, float]], ...] = (
    (10, (0.0, 0.0, 0.046)),
    (11, (0.0, 0.0, 0.046)),
    (15, (0.0, 0.130, 0.0)),
    (20, (0.108, 0.0, 0.0)),
    (21, (-0.108, 0.0, 0.0)),
)


def body_of_stature(stature: float = STATURE) -> Skeleton:
    """The 22 SMPL body joints with bones from anthropometry, standing upright where Z is up."""
    rest = np.tile(quat.IDENTITY, (len(_BODY), 1))
    # The body's own frame is Y up and the file's world is Z up: the root's rest turns one to other.
    rest[0] = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.pi / 2)
    offsets = stature * np.array([offset for _, _, offset in _BODY])
    offsets[0] = [0.0, 0.0, offsets[0, 1]]
    return Skeleton(
        tuple(name for name, _, _ in _BODY),
        np.array([parent for _, parent, _ in _BODY]),
        offsets,
        rest_quats=rest,
        end_parents=np.array([joint for joint, _ in _ENDS]),
        end_offsets=stature * np.array([offset for _, offset in _ENDS]),
    )


def sniff(head: bytes) -> bool:
    """Whether these bytes begin a zip whose first array has a name that AMASS uses."""
    name = first_member(head)
    return name is not None and name.endswith(".npy") and name[:-4] in KEYS


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in an AMASS ``.npz``, on a body of anthropometric proportions."""
    return read_bundle(Bundle(stream, options.limits))


def read_bundle(bundle: Bundle) -> FileClip:
    """The clip in an AMASS ``.npz`` that is open already."""
    poses = bundle.numbers("poses", (None, None))
    n_frames, width = poses.shape
    if width not in WIDTHS:
        models = ", ".join(f"{n} ({model})" for n, model in WIDTHS.items())
        raise FormatError(f"Poses must have {models} columns, got {width}.", where="array 'poses'")
    if n_frames > bundle.limits.max_frames:
        raise FormatError(
            f"At most {bundle.limits.max_frames} frames can be read, got {n_frames}.",
            where="array 'poses'",
        )
    bundle.budget.check_poses(n_frames, len(_BODY))
    trans = bundle.numbers("trans", (n_frames, 3))
    vectors = poses[:, :BODY_COLUMNS].reshape(n_frames, len(_BODY), 3).astype(np.float64)
    findings = _notes(width, bundle)
    rate_key = next((key for key in RATE_KEYS if key in bundle.keys), None)
    if rate_key is None:
        findings.append(
            Finding(
                "warning",
                "array 'mocap_framerate'",
                f"The file says no frame rate; {ASSUMED_FPS:g} fps is only a guess.",
                "Say fps=RATE.",
            )
        )
    fps = ASSUMED_FPS if rate_key is None else bundle.number(rate_key)
    if fps <= 0.0:
        raise FormatError(
            f"The frame rate must be above 0, got {fps:g}.",
            where=f"array {rate_key!r}",
            fix="Correct the array: AMASS states frames per second.",
        )
    try:
        motion = Motion(body_of_stature(), trans, quat.exp(vectors), fps)
    except ArrayError as error:
        raise FormatError(str(error)) from error
    return FileClip(
        motion, unit_m=1.0, up="z", fps_stated=rate_key is not None, findings=tuple(findings)
    )


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write a clip on the SMPL body joints, in metres with Z up."""
    motion = clip.motion
    if clip.unit_m not in (None, 1.0) or clip.up not in (None, "z"):
        raise FormatError("AMASS is in metres with Z up.", fix="Leave out unit and up.")
    problem = _why_not_smpl(motion)
    if problem:
        raise FormatError(
            f"AMASS needs the 22 SMPL body joints in their rest pose: {problem}.",
            fix="Carry the clip over first: ml.retarget(motion, ml.smpl_skeleton()).",
        )
    n_frames = motion.n_frames
    poses = np.zeros((n_frames, SMPLH_COLUMNS))
    poses[:, :BODY_COLUMNS] = quat.log(motion.local_quats).reshape(n_frames, -1)
    arrays: dict[str, npt.NDArray[Any]] = {
        "trans": motion.root_positions,
        "gender": np.array("neutral"),
        "mocap_framerate": np.array(motion.fps),
        "betas": np.zeros(N_BETAS),
        "dmpls": np.zeros((n_frames, N_DMPLS)),
        "poses": poses,
    }
    write_members(stream, {f"{key}.npy": array for key, array in arrays.items()})


def _why_not_smpl(motion: Motion) -> str:
    """How a skeleton differs from SMPL's; empty where it does not."""
    skeleton, body = motion.skeleton, body_of_stature()
    if not skeleton.same_joints(body):
        missing = [name for name in body.names if name not in skeleton.names]
        more = [name for name in skeleton.names if name not in body.names]
        if missing:
            return f"missing are {', '.join(missing[:4])}{' ...' if len(missing) > 4 else ''}"
        return f"unknown are {', '.join(more[:4])}" if more else "their order or parents differ"
    if motion.joint_translations is not None:
        return "bones change their lengths"
    if np.abs(quat.angle_between(skeleton.rest_quats, body.rest_quats)).max() > REST_ANGLE:
        return "joints rest at other rotations"
    bones, wanted = skeleton.offsets[1:], body.offsets[1:]
    lengths = np.linalg.norm(bones, axis=1) * np.linalg.norm(wanted, axis=1)
    cosines = np.sum(bones * wanted, axis=1) / np.maximum(lengths, 1e-12)
    if cosines.min() < BONE_COSINE:
        return f"the bone to {skeleton.names[1 + int(cosines.argmin())]} points another way at rest"
    return ""


def _notes(width: int, bundle: Bundle) -> list[Finding]:
    notes = [
        Finding(
            "note",
            "skeleton",
            f"{WIDTHS[width]} poses on 22 body joints of a {STATURE:g} m person from published "
            "anthropometry: proportions are not the subject's, because the SMPL model is "
            "licensed, and the model's constant pelvis offset is left out. "
            "Reading AMASS is unverified on real files.",
        )
    ]
    if width > 72:
        notes.append(
            Finding("note", "array 'poses'", f"Left out: {(width - 66) // 3} hand and face joints.")
        )
    if "gender" in bundle.keys:
        try:
            gender = "".join(bundle.texts("gender"))
            notes.append(Finding("note", "array 'gender'", f"The subject is {gender}."))
        except FormatError as error:
            notes.append(Finding("note", "array 'gender'", f"Not read: {error.problem}"))
    return notes


FORMAT = Format(
    name="amass",
    title="AMASS (SMPL, SMPL-H, SMPL-X)",
    suffixes=(".npz",),
    sniff=sniff,
    read=read,
    write=write,
    unit_m=1.0,
    up="z",
    only_read=(".npz",),  # the suffix alone picks plain arrays; this one is asked for by name
)
