"""Departures from the paper, each switched off: what gets worse, or does not.

    ./study splicing departures

The paper's own way stands in for ours, one departure at a time, in splices of walks whose right
answer is known (the pairs of ``truth``), and of clips as captured (those of ``captured``).
``docs/papers/splicing.md`` names the departures by the numbers that the figures begin with. Phases
come from the ankles alone (``gait_phase``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from unittest import mock

import numpy as np

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.motion.edit import sample
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.registration.splines import adjust_increasing, fit_spline
from motionloom.rotation import quat
from motionloom.splicing import assembly, lean, posture, timing
from motionloom.splicing.body_parts import Part
from motionloom.splicing.posture import Posed, nearest_rotation
from studies.captured_clips import loaded
from studies.report import Figure
from studies.splicing.gait_phase import phases
from studies.splicing.splicing_captured import arm_turns
from studies.splicing.splicing_truth import body_of, lean_kept, protocol, truth

Patch = Callable[[Motion, Motion], list]
"""What is replaced for a splice of an action on a locomotion."""
ITSELF = ("143_11", "69_69", "16_11", "16_17")
"""Clips that are spliced onto themselves."""


@dataclass(frozen=True)
class Row:
    """One splice."""

    torso: float
    """Mean distance of spine, neck and shoulders from the truth, cm; NaN without one."""
    arms: float
    phase: float
    """Mean offset of the action's gait from the locomotion's, percent of a cycle; NaN without."""
    fastest: float
    """Fastest turn of an arm joint over that in the part of the action used."""
    rate: float
    """Fastest rate at which the action is played."""
    lean: float
    """Degrees between the mean directions of the action's torso and the splice's."""
    passed: bool


def departure_figures(folder: Path) -> list[Figure]:
    """All figures."""
    plan = protocol("captured")
    captured = [(upper, lower) for upper in plan["upper"] for lower in plan["lower"]]
    walks = [tuple(pair) for pair in protocol("truth")["pairs"]]
    standing = [pair for pair in captured if pair[0] in plan["stand"]]
    stairs = [pair for pair in captured if plan["lower"][pair[1]] == "stairs"]
    figures = []
    for way, patch in WAYS.items():
        sets = {"walks": walks, "captured": captured}
        if way.startswith("7"):
            sets = {"captured, action standing": standing}
        if way.startswith("6"):
            sets["captured, stairs"] = stairs
        figures += [
            figure
            for name, pairs in sets.items()
            for figure in compared(folder, f"departure {way}, {name}", pairs, patch)
        ]
    return [
        *figures,
        *itself_figures(folder),
        *horn_figures(folder, walks),
        *pelvis_figures(folder),
        *bend_figures(folder, captured),
    ]


# What the paper does


def _as_they_are(points: np.ndarray, fps: float, *, travel: bool) -> np.ndarray:
    """Heights and sizes as captured."""
    level = np.ones(3) if travel else np.array([0.0, 1.0, 0.0])
    return points - points[:, :1] * (1.0 - level)


def _travelling(points: np.ndarray, fps: float, *, travel: bool) -> np.ndarray:
    """The root counts also where one clip stays on its spot."""
    return COMPARABLE(points, fps, travel=True)


def _any_length(*arguments: object, at_least: int, **options: object) -> object:
    return END_PATH(*arguments, at_least=2, **options)  # type: ignore[arg-type]


def _over_lower(cells: np.ndarray, lower: Motion, first: int, stride: int) -> np.ndarray:
    """The path fitted as the action's time over the locomotion's."""
    path = cells.astype(np.float64)
    along = path[:, 0] - path[0, 0]
    knot = max(timing.KNOT_S * lower.fps / stride, 1.0)
    n_points = 2 + max(1, int(np.ceil(along[-1] / knot)))
    ends = path[[0, -1]]
    spline = fit_spline(along / along[-1] * (n_points - 2), path, n_points, ends=ends)
    spline = adjust_increasing(spline, epsilon=timing.SLOWEST, ends=ends)
    t = np.arange(min(lower.n_frames, int(ends[1, 0] + 1) * stride)) / stride
    return stride * (timing._go_on(spline, t) + first)


def _rough_about_hips(spliced: Posed, part: Part, body: BodyMap, turn: np.ndarray) -> np.ndarray:
    """The posture's turn about hip axes that are not smoothed."""
    with mock.patch.object(posture, "without_shake", lambda quats, fps: quats):
        return TURNED(spliced, part, body, turn)


def _pelvis_axes(posed: Posed, body: BodyMap) -> np.ndarray:
    """Rotation from the world into hip axes whose roll is that of the pelvis joint. (F, 4)"""
    across = posed.positions[:, body.left_hip] - posed.positions[:, body.right_hip]
    x = across / np.linalg.norm(across, axis=-1, keepdims=True)
    up = quat.rotate(posed.quats[:, body.pelvis], np.array([0.0, 1.0, 0.0]))
    y = up - np.sum(up * x, axis=-1, keepdims=True) * x
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return quat.from_matrix(np.stack([x, y, np.cross(x, y)], axis=1))


def _seen_from_pelvis(posed: Posed, part: Part, body: BodyMap) -> np.ndarray:
    relative = posed.positions[:, part.held] - posed.positions[:, [part.pivot]]
    return quat.rotate(_pelvis_axes(posed, body)[:, None], relative)


def _turned_about_pelvis(spliced: Posed, part: Part, body: BodyMap, turn: np.ndarray) -> np.ndarray:
    with mock.patch.object(posture, "hip_frames", lambda *_: _pelvis_axes(spliced, body)):
        return TURNED(spliced, part, body, turn)


def _rolled_with_joint(*_: Motion) -> list:
    """The frame of the posture rolls with the pelvis joint."""
    return [
        mock.patch.object(lean, "_seen", _seen_from_pelvis),
        mock.patch.object(assembly, "turned_about_hips", _turned_about_pelvis),
    ]


def _whole_posture(upper: Motion, lower: Motion) -> list:
    """Mean postures over whole clips, not over the frames that meet."""

    def turn(
        action: Posed, reference: Posed, part: Part, body: BodyMap, *, walks: bool
    ) -> np.ndarray:
        whole = ml.resample(upper, fps=lower.fps)
        return POSTURE_TURN(Posed.of(whole), reference, part, body, walks=walks)

    return [mock.patch.object(assembly, "posture_turn", turn)]


COMPARABLE, END_PATH = timing.comparable, timing.find_end_path
TURNED, POSTURE_TURN = assembly.turned_about_hips, assembly.posture_turn


def _replaced(owner: object, name: str, other: object) -> Patch:
    return lambda *_: [mock.patch.object(owner, name, other)]


WAYS: dict[str, Patch] = {
    "2: posture seen from the pelvis joint": _rolled_with_joint,
    "6: heights and sizes as they are": _replaced(timing, "comparable", _as_they_are),
    "7: actions without gait matched too": _replaced(timing, "marches", lambda *_: True),
    "8: spline over the locomotion's time": _replaced(timing, "_smooth_times", _over_lower),
    "10: posture of whole clips": _whole_posture,
    "20: single frames compared": _replaced(timing, "HALF_WINDOW", 0),
    "20: paths of any length": _replaced(timing, "find_end_path", _any_length),
    "20: the root counts where one clip stays": _replaced(timing, "comparable", _travelling),
    "21: no point in the middle": _replaced(lean, "_with_middle", lambda points: points),
    "21: hip axes not smoothed": _replaced(assembly, "turned_about_hips", _rough_about_hips),
}


# Splices with and without


def measured(folder: Path, upper: str, lower: str, *, has_truth: bool) -> Row:
    body, above, below = body_of(folder, lower), loaded(folder, upper), loaded(folder, lower)
    result = ml.splice(above, below, body=body)
    source, frames = ml.resample(above, fps=below.fps), result.timewarp.frames
    n = result.motion.n_frames
    torso = arms = float("nan")
    if has_truth:
        right = truth(sample(source, frames), below[:n], body)
        off = 100.0 * np.linalg.norm(result.motion.world_positions() - right, axis=-1)
        trunk = [*body.spine[1:], body.neck, body.left_shoulder, body.right_shoulder]
        limbs = [body.left_elbow, body.left_wrist, body.right_elbow, body.right_wrist]
        torso, arms = float(off[:, trunk].mean()), float(off[:, limbs].mean())
    used = source[int(frames[0]) : int(np.ceil(frames[-1])) + 1]
    own = gait(folder, upper, below.fps)[np.round(frames).astype(int)]
    apart = np.abs(np.mod(own - gait(folder, lower, below.fps)[:n] + 0.5, 1.0) - 0.5)
    fastest = arm_turns(result.motion, body).max() / arm_turns(used, body).max()
    return Row(
        torso,
        arms,
        float("nan") if result.timewarp.kept_own_time else 100.0 * float(apart.mean()),
        float(fastest),
        float(np.diff(frames).max()),
        lean_kept(sample(source, frames), result.motion, body),
        result.verification.passed,
    )


@lru_cache(maxsize=100)
def gait(folder: Path, name: str, fps: float) -> np.ndarray:
    """Phase of a clip's gait at another rate. (F,)"""
    return phases(ml.resample(loaded(folder, name), fps=fps), body_of(folder, name))


def rows_of(folder: Path, pairs: list, patch: Patch | None) -> list[Row | None]:
    rows: list[Row | None] = []
    with_truth = {tuple(pair) for pair in protocol("truth")["pairs"]}
    for upper, lower in pairs:
        patches = [] if patch is None else patch(loaded(folder, upper), loaded(folder, lower))
        for each in patches:
            each.start()
        try:
            rows.append(measured(folder, upper, lower, has_truth=(upper, lower) in with_truth))
        except ml.MotionLoomError:
            rows.append(None)
        finally:
            for each in patches:
                each.stop()
    return rows


_OURS: dict[tuple, list[Row | None]] = {}


def compared(folder: Path, name: str, pairs: list, patch: Patch) -> list[Figure]:
    key = tuple(pairs)
    if key not in _OURS:
        _OURS[key] = rows_of(folder, pairs, None)
    both = [
        (a, b)
        for a, b in zip(rows_of(folder, pairs, patch), _OURS[key], strict=True)
        if a is not None and b is not None
    ]

    def mean(field: str, side: int) -> float:
        values = np.array([getattr(pair[side], field) for pair in both])
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")

    def worst(field: str, side: int) -> float:
        return max(getattr(pair[side], field) for pair in both)

    figures = [
        Figure(f"{name}: {what}", mean(field, 0), unit, "ours", mean(field, 1),
               lower_is_better=True, note=f"{len(both)} splices")
        for field, what, unit in (
            ("torso", "torso off the truth", "cm"),
            ("arms", "arms off the truth", "cm"),
            ("phase", "phase of the action off the locomotion's", "% of a cycle"),
            ("lean", "mean lean of the action lost", "degrees"),
        )
        if np.isfinite(mean(field, 0)) and np.isfinite(mean(field, 1))
    ]  # fmt: skip
    passed = [sum(pair[side].passed for pair in both) for side in (0, 1)]
    return [
        *figures,
        Figure(
            f"{name}: splices that pass the check", passed[0], f"of {len(both)}", "ours", passed[1],
            note=f"fastest arm {worst('fastest', 0):.2f} times the action's own, ours "
            f"{worst('fastest', 1):.2f}; fastest rate {worst('rate', 0):.2f}, ours "
            f"{worst('rate', 1):.2f}; {len(pairs) - len(both)} not made by one of both",
        ),
    ]  # fmt: skip


def itself_figures(folder: Path) -> list[Figure]:
    """A clip spliced onto its first half: what comes out must be that half."""
    off: dict[str, list[float]] = {"ours": [], "whole": []}
    for name in ITSELF:
        clip = loaded(folder, name)
        short = clip[: clip.n_frames // 2]
        for way in off:
            patches = _whole_posture(clip, short) if way == "whole" else []
            for each in patches:
                each.start()
            spliced = ml.splice(clip, short).motion
            for each in patches:
                each.stop()
            apart = spliced.world_positions() - short[: spliced.n_frames].world_positions()
            off[way].append(100.0 * float(np.linalg.norm(apart, axis=-1).max()))
    return [
        Figure(
            "departure 10: posture of whole clips: a clip on its own first half, farthest joint",
            max(off["whole"]),
            "cm",
            "ours",
            max(off["ours"]),
            lower_is_better=True,
            note=f"{len(ITSELF)} clips; " + ", ".join(f"{value:.2f}" for value in off["whole"]),
        )
    ]


# Horn's rotation (3), a pelvis joint (4)


def horn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rotation that carries points b nearest to a, by Horn's quaternion matrix. (N, 4)"""
    m = np.einsum("npi,npj->nij", b, a)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(m, 0, -1)
    matrix = np.array(
        [
            [xx + yy + zz, yz - zy, zx - xz, xy - yx],
            [yz - zy, xx - yy - zz, xy + yx, zx + xz],
            [zx - xz, xy + yx, yy - xx - zz, yz + zy],
            [xy - yx, zx + xz, yz + zy, zz - xx - yy],
        ]
    )
    return np.linalg.eigh(np.moveaxis(matrix, -1, 0))[1][..., -1]


def horn_figures(folder: Path, walks: list) -> list[Figure]:
    """Torsos of walks laid over each other, frame by frame, in both ways."""
    largest = frames = 0
    for upper, lower in walks:
        body = body_of(folder, lower)
        joints = [*body.spine[1:], body.left_shoulder, body.right_shoulder]
        clouds = [
            positions[:, joints] - positions[:, [body.spine[0]]]
            for positions in (loaded(folder, name).world_positions() for name in (lower, upper))
        ]
        n = min(map(len, clouds))
        ours, theirs = (turn(clouds[0][:n], clouds[1][:n]) for turn in (nearest_rotation, horn))
        off = quat.multiply(quat.conjugate(ours), theirs)
        angle = 2.0 * np.arctan2(np.linalg.norm(off[:, 1:], axis=-1), np.abs(off[:, 0]))
        largest, frames = max(largest, float(np.degrees(angle.max()))), frames + n
    return [
        Figure(
            "departure 3: Horn's quaternion: rotations apart, largest",
            largest,
            "degrees",
            note=f"{frames} frames",
        )
    ]


def with_pelvis(motion: Motion, body: BodyMap) -> tuple[Motion, BodyMap]:
    """The motion with a joint between root and spine, as the paper's skeleton has one."""
    skeleton, joint = motion.skeleton, body.spine[0]

    def later(index: int | None) -> int | None:
        return index if index is None or index < joint else index + 1

    parents = [later(int(p)) for p in skeleton.parents]
    parents.insert(joint, parents[joint])
    parents[joint + 1] = joint
    offsets = np.insert(skeleton.offsets, joint, skeleton.offsets[joint], axis=0)
    offsets[joint + 1] = 0.0
    names = list(skeleton.names)
    names.insert(joint, "between")
    roles = {
        field.name: later(value) if isinstance(value := getattr(body, field.name), int) else value
        for field in dataclasses.fields(body)
        if field.name != "spine" and field.init
    }
    spine = (joint, *(later(each) for each in body.spine))
    quats = np.insert(motion.local_quats, joint, quat.IDENTITY, axis=1)
    motion = Motion(
        Skeleton(tuple(names), np.array(parents), offsets), motion.root_positions, quats, motion.fps
    )
    return motion, dataclasses.replace(body, **roles, spine=spine)


def pelvis_figures(folder: Path) -> list[Figure]:
    """Splices of walks with a pelvis joint between root and spine, and without."""
    off = []
    for upper, lower in protocol("truth")["pairs"][:10]:
        body = body_of(folder, lower)
        clips = [loaded(folder, name) for name in (upper, lower)]
        plain = ml.splice(*clips, method="time+space", body=body).motion.world_positions()
        (above, roles), (below, _) = (with_pelvis(clip, body) for clip in clips)
        other = ml.splice(above, below, method="time+space", body=roles).motion.world_positions()
        other = np.delete(other, body.spine[0], axis=1)
        n = min(len(plain), len(other))
        off.append(100.0 * float(np.linalg.norm(plain[:n] - other[:n], axis=-1).max()))
    return [
        Figure(
            "departure 4: a pelvis joint added: joints apart, largest",
            max(off),
            "cm",
            note=f"{len(off)} splices, time and space; median {np.median(off):.3f}",
        )
    ]


# Bends that are lost (11)


def bend_figures(folder: Path, pairs: list) -> list[Figure]:
    """Splices that report a lost bend, and the same with the bend kept."""
    lost, passed, with_bend = [], 0, 0
    for upper, lower in pairs:
        clips, body = [loaded(folder, name) for name in (upper, lower)], body_of(folder, lower)
        try:
            result = ml.splice(*clips, body=body)
        except ml.MotionLoomError:
            continue
        notes = [note for note in result.notes if "bends its torso" in note]
        if not notes:
            continue
        deep, left = (float(word) for word in notes[0].replace(",", "").split() if word.isdigit())
        lost.append(deep - left)
        passed += result.verification.passed
        with_bend += ml.splice(*clips, body=body, keep_bend=True).verification.passed
    return [
        Figure(
            "departure 11: splices that lose a deep bend of the action",
            float(len(lost)),
            f"of {len(pairs)}",
            lower_is_better=True,
            note=f"{np.median(lost):.0f} degrees in the median; {passed} pass the check, "
            f"{with_bend} with keep_bend=True",
        )
    ]
