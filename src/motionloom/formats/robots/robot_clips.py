"""Robot clips in files: CSV of Unitree G1 (BONES-SEED) and our own, ``.npz`` of mjlab and our own.

BONES-SEED: ``Frame``, ``root_translateX/Y/Z`` (centimetres), ``root_rotateX/Y/Z`` (degrees, about
fixed axes, X first), and one ``<joint>_dof`` column per hinge in degrees. Ours: ``time`` (seconds),
``root_x/y/z`` (metres), ``root_qw/qx/qy/qz`` and one column per hinge in radians. Z up. Bones are
in the robot's MuJoCo model. Files without a header are refused: some tools write quaternions as
wxyz, others as xyzw, and numbers do not tell which.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import Budget
from motionloom.findings import Finding
from motionloom.formats.archives.npz import Bundle
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.robots.mjcf import read_mjcf
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.formats.text import LARGEST, MARK, decoded, quoted, read_bounded
from motionloom.rotation import euler

SEED_FPS = 120.0
"""Rate of BONES-SEED, whose files state none."""
SEED_UNIT_M = 0.01
MOST_COLUMNS = 4096
_SEED = tuple(f"root_{kind}{axis}" for kind in ("translate", "rotate") for axis in "XYZ")
_OWN = tuple(f"root_{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz"))
_NUMBER_BYTES = 96
KEYS = ("qpos", "joint_pos")


def sniff(head: bytes) -> bool:
    """Whether these bytes begin with a header of one of the two layouts."""
    first = head.removeprefix(MARK).split(b"\n", 1)[0].replace(b'"', b"").replace(b" ", b"")
    names = first.strip().split(b",")
    return {b"root_translateX", b"root_rotateX"} <= set(names) or {b"time", b"root_qw"} <= set(
        names
    )


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in a CSV file, on the robot of the model that belongs to it."""
    limits = options.limits
    budget = Budget.of(stream, limits)
    data = read_bounded(stream, limits, budget)
    budget.take(4 * len(data) + _NUMBER_BYTES * (data.count(b",") + 1), "its rows")
    lines = decoded(data).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    names = [name.strip().strip('"') for name in lines[0].split(",", MOST_COLUMNS)]
    seed = set(_SEED) <= set(names)
    if not seed and not {"time", *_OWN} <= set(names):
        raise FormatError(
            f"The first line must name the columns ({_SEED[0]} ... or time, {_OWN[0]} ...), got "
            f"{quoted(lines[0])}.",
            where="line 1",
            fix="Files without a header are read by naming the order of their quaternions: "
            'ml.load_robot("robot.xml").motion(numpy.loadtxt(FILE, delimiter=","), fps=30, '
            'quat_order="xyzw").',
        )
    if len(set(names)) != len(names) or len(names) > MOST_COLUMNS:
        raise FormatError("Every column must have its own name.", where="line 1")
    rows = _rows(lines, len(names), limits.max_frames)
    tree = RobotTree.of(read_mjcf(_model_of(options)))
    if tree.skeleton.n_joints > limits.max_joints:
        raise FormatError(f"At most {limits.max_joints} joints can be read.")
    budget.check_poses(len(rows), tree.skeleton.n_joints, sliding=tree.slides)
    columns = dict(zip(names, rows.T, strict=True))
    findings: list[Finding] = []
    qpos = _qpos(tree, columns, findings, seed=seed)
    fps = SEED_FPS if seed else _rate(columns["time"])
    try:
        motion = tree.motion(qpos, fps)
    except ArrayError as error:
        raise FormatError(str(error)) from error
    return FileClip(motion, unit_m=1.0, up="z", fps_stated=not seed, findings=tuple(findings))


def _rows(lines: list[str], width: int, max_frames: int) -> FloatArray:
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        cells = line.split(",", width)
        if len(cells) != width:
            raise FormatError(
                f"A row must have {width} values, got {min(len(cells), width + 1)}.",
                where=f"line {number}",
            )
        try:
            rows.append([float(cell) for cell in cells])
        except ValueError as error:
            raise FormatError(f"Numbers are needed ({error}).", where=f"line {number}") from None
        if len(rows) > max_frames:
            raise FormatError(f"At most {max_frames} frames can be read.")
    if not rows:
        raise FormatError("The file has a header and no rows.", where="line 2")
    values = np.array(rows)
    if not np.all(np.abs(values) < LARGEST):
        frame = int(np.argmin(np.all(np.abs(values) < LARGEST, axis=1)))
        raise FormatError(f"Numbers must be finite and below {LARGEST:g}.", where=f"row {frame}")
    return values


def _model_of(options: ReadOptions) -> Path:
    """The model that was named, else the one next to the clip."""
    if options.skeleton is not None:
        return options.skeleton
    if options.path is not None:
        same = options.path.with_suffix(".xml")
        try:
            near = [same] if same.is_file() else sorted(options.path.parent.glob("*.xml"))
        except OSError:
            near = []
        if len(near) == 1:
            return near[0]
    raise FormatError(
        "The file holds joint angles; the robot's bones are in its MuJoCo model.",
        fix='Pass it: ml.load(FILE, skeleton="g1.xml"), or put it next to the clip.',
    )


def _qpos(
    tree: RobotTree, columns: dict[str, FloatArray], findings: list[Finding], *, seed: bool
) -> FloatArray:
    n_frames = len(next(iter(columns.values())))
    qpos = np.zeros((n_frames, tree.n_qpos))
    used = {"Frame", "time", *_SEED, *_OWN}
    missing = []
    for joint, at in zip(tree.model.joints, tree.columns, strict=True):
        if joint.type == "free":
            qpos[:, at] = _root(columns, seed=seed)
            continue
        parts = (
            [f"{joint.name}_q{part}" for part in "wxyz"] if joint.type == "ball" else [joint.name]
        )
        present = [name for part in parts for name in (f"{part}_dof", part) if name in columns]
        used.update(present)
        if len(present) != len(parts):
            missing.append(joint.name)
            qpos[:, at.start] = 1.0 if joint.type == "ball" else joint.reference
        elif joint.type == "ball":
            qpos[:, at] = np.stack([columns[name] for name in present], axis=1)
        else:
            values = columns[present[0]]
            if seed:
                values = SEED_UNIT_M * values if joint.type == "slide" else np.radians(values)
            qpos[:, at.start] = values
    if len(missing) == sum(joint.type != "free" for joint in tree.model.joints):
        raise FormatError(
            f"No column is a joint of the model, whose first is {quoted(missing[0])}.",
            fix="Pass the model that the file was made for.",
        )
    unknown = [name for name in columns if name not in used]
    for problem, names in (("without a column", missing), ("columns of no joint", unknown)):
        if names:
            listed = ", ".join(quoted(name) for name in names[:6])
            text = f"{len(names)} {'joints ' if names is missing else ''}{problem}: {listed}."
            findings.append(Finding("warning", "columns", text, "Check that the model is right."))
    return qpos


def _root(columns: dict[str, FloatArray], *, seed: bool) -> FloatArray:
    if not seed:
        return np.stack([columns[name] for name in _OWN], axis=1)
    places = SEED_UNIT_M * np.stack([columns[name] for name in _SEED[:3]], axis=1)
    angles = np.radians(np.stack([columns[name] for name in _SEED[3:]], axis=1))
    # X first about fixed axes is Z, Y, X about axes that move along.
    return np.concatenate([places, euler.euler_to_quat(angles[:, ::-1], "ZYX")], axis=1)


def _rate(times: FloatArray) -> float:
    if len(times) < 2:
        return SEED_FPS
    steps = np.diff(times)
    step = float((times[-1] - times[0]) / (len(times) - 1))
    if not step > 1e-6 or np.abs(steps - step).max() > 0.01 * step:
        raise FormatError(
            f"Times must grow evenly, got steps of {steps.min():g} to {steps.max():g}."
        )
    return float(f"{1.0 / step:.9g}")


def write_csv(stream: BinaryIO, columns: tuple[str, ...], qpos: FloatArray, fps: float) -> None:
    """Write ``time`` and ``qpos``, every number in the shortest form that gives it back."""
    stream.write((",".join(["time", *columns]) + "\n").encode())
    for frame, row in enumerate(qpos.tolist()):
        stream.write((",".join(map(repr, [frame / fps, *row])) + "\n").encode())


def read_robot(bundle: Bundle, options: ReadOptions) -> FileClip:
    """The clip in a bundle with ``qpos``, or with mjlab's ``joint_pos`` and ``body_pos_w``."""
    if options.skeleton is None:
        raise FormatError(
            "The file holds joint positions; the robot's bones are in its MuJoCo model.",
            fix='Pass it: ml.load(FILE, skeleton="g1.xml").',
        )
    tree = RobotTree.of(read_mjcf(options.skeleton))
    if tree.skeleton.n_joints > bundle.limits.max_joints:
        raise FormatError(f"At most {bundle.limits.max_joints} joints can be read.")
    _check_names(bundle, tree)
    qpos = _qpos_of_arrays(bundle, tree)
    if len(qpos) > bundle.limits.max_frames or not len(qpos):
        raise FormatError(f"1 to {bundle.limits.max_frames} frames can be read, got {len(qpos)}.")
    bundle.budget.check_poses(len(qpos), tree.skeleton.n_joints, sliding=tree.slides)
    try:
        motion = tree.motion(qpos, bundle.number("fps"))
    except ArrayError as error:
        raise FormatError(str(error)) from error
    return FileClip(motion, unit_m=1.0, up="z")


def _check_names(bundle: Bundle, tree: RobotTree) -> None:
    if "joint_names" not in bundle.keys:
        return
    names = bundle.texts("joint_names")
    wanted = [joint.name for joint in tree.model.joints if joint.type != "free"]
    if names != wanted:
        raise FormatError(
            f"The joints must be those of the model ({', '.join(wanted[:4])} ...), got "
            f"{', '.join(names[:4])} ...",
            where="array 'joint_names'",
            fix="Pass the model that the file was made for.",
        )


def _qpos_of_arrays(bundle: Bundle, tree: RobotTree) -> FloatArray:
    """``qpos``, or put together of the first body's pose and the joints."""
    order = bundle.texts("quat_order") if "quat_order" in bundle.keys else ["wxyz"]
    if order != ["wxyz"]:
        raise FormatError(f"Quaternions must be wxyz, the file says {order}.")
    if "qpos" in bundle.keys:
        return np.asarray(bundle.numbers("qpos", (None, tree.n_qpos)), dtype=np.float64)
    free = tree.model.joints[0].type == "free"
    joints = bundle.numbers("joint_pos", (None, tree.n_qpos - (7 if free else 0)))
    if not free:
        return np.asarray(joints, dtype=np.float64)
    n_bodies = len(tree.model.names)
    places = bundle.numbers("body_pos_w", (len(joints), n_bodies, 3))[:, 0]
    turns = bundle.numbers("body_quat_w", (len(joints), n_bodies, 4))[:, 0]
    return np.concatenate([places, turns, joints], axis=1).astype(np.float64)


FORMAT = Format(
    name="robot",
    title="robot joints (CSV)",
    suffixes=(".csv",),
    sniff=sniff,
    read=read,
    unit_m=1.0,
    up="z",
)
