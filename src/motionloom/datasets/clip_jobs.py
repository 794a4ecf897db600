"""What is done with one clip of a data set: it is measured, or cleaned, written and measured."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.footskate import clean_footskate
from motionloom.datasets.clip_measures import Figure, Measures, measure_clip, rate_figure
from motionloom.datasets.clip_reading import ClipReading, content_digest
from motionloom.datasets.duplicates import make_fingerprint, pack_fingerprint
from motionloom.datasets.frame_rate import RateVerdict
from motionloom.datasets.reports import FIXES, LIMITS
from motionloom.errors import FlawedResultError, MotionLoomError
from motionloom.features.glitches.glitch_frames import body_joints
from motionloom.findings import Finding
from motionloom.intake.floor import ground
from motionloom.intake.save import save
from motionloom.motion.edit import resample
from motionloom.motion.motion import Motion, Skeleton

TIMEOUT_S = 600.0
"""Longest time for one clip: a file that hangs a reader must not stop the run."""
MAX_MEMORY = 4 << 30
"""Bytes that a worker may use beyond what its libraries take."""
POSES = 16
"""Poses of a thumbnail, over the whole clip in equal times."""
MOST_JOINTS = 40
"""Joints of a thumbnail: a few hundred bytes, for pages of thousands of clips."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that all clips of a run have in common."""

    reading: ClipReading = field(default_factory=ClipReading)
    limits: dict[str, float] = field(default_factory=lambda: dict(LIMITS))
    strict_root: bool = False
    """Whether a root bone that lies still is a fault, not a note."""
    timeout_s: float = TIMEOUT_S
    max_memory: int = MAX_MEMORY
    clean: dict[str, Any] = field(default_factory=dict)
    """Of a clean-up: ``stretch``, ``allow_flawed``, ``ground``, ``fps``; empty for a check."""

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold."""
        limits = {name: str(value) for name, value in self.limits.items()}
        return {**dataclasses.asdict(self), "reading": self.reading.json(), "limits": limits}

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Settings:
        """From :meth:`json`."""
        limits = {name: float(text) for name, text in values["limits"].items()}
        reading = ClipReading.of_json(values["reading"])
        return cls(**{**values, "reading": reading, "limits": limits})

    @property
    def key(self) -> dict[str, Any]:
        """What decides the figures of a clip."""
        values = self.json()
        return {name: values[name] for name in values if name not in ("timeout_s", "max_memory")}


def run_job(task: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The row of a clip; whatever goes wrong is a row too.

    Parameters
    ----------
    task
        ``path``; for a clean-up also ``output``.
    settings
        Of the run.
    """
    flawed = False
    try:
        if "output" in task:
            return _clean(task, settings)
        motion = settings.reading.load(task["path"])
        return {**_described(motion, task["path"], settings), "path": task["path"]}
    except MotionLoomError as error:
        text, flawed = str(error), isinstance(error, FlawedResultError)
    except MemoryError:
        text = "It takes more memory than a worker may use."
    except Exception as error:  # of thousands of files one may show a mistake of ours
        text = f"{type(error).__name__}: {error}"
    return failed_row(task, text, flawed=flawed)  # out here the clip takes no memory any more


def failed_row(
    task: Mapping[str, Any], text: str, *, fix: str = "", flawed: bool = False
) -> dict[str, Any]:
    """The row of a clip that gave none."""
    path = task["path"]
    if Path(path.rpartition("#")[0] or path).name not in text:
        text = f"{path}: {text}"
    row = {"path": path, "error": f"{text} {fix}".rstrip(), "flawed": flawed}
    row["digest"] = content_digest(path)
    return row | ({"output": task["output"]} if "output" in task else {})


def _clean(task: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Clean a clip, write it, and measure the result."""
    path, output, options = task["path"], task["output"], settings.clean
    motion = settings.reading.load(path)
    faults = [each for each in motion.source.findings if each.level != "note"]
    if options.get("fps") is not None and abs(motion.fps - options["fps"]) > 1e-3 * motion.fps:
        motion = resample(motion, fps=options["fps"])
    body = settings.reading.body_of(motion)
    before = measure_clip(motion, body, settings.limits)
    cleanup = clean_footskate(motion, body=body, stretch=bool(options.get("stretch")))
    result = cleanup.motion
    if options.get("ground"):
        result = ground(result, body=body)
    verification = cleanup.verification
    if not verification.passed and not options.get("allow_flawed"):
        raise FlawedResultError(
            f"{output} was not written: the result fails its quality check "
            f"({verification.describe()}). Allow flawed results to write it."
        )
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    save(result, output)
    report = cleanup.report
    return {
        **_described(result, path, settings, body=body),
        "path": path,
        "output": output,
        "output_digest": content_digest(output),
        "before": _values(before.figures),
        "cleanup": report.summary,
        "cleanup_facts": report.json(),
        "verification": verification.json(),
        "file_warnings": [*(str(each) for each in faults), *report.notes],
    }


def _described(
    motion: Motion, path: str, settings: Settings, *, body: BodyMap | None = None
) -> dict[str, Any]:
    """What the summary and the page need to know of a clip."""
    body = settings.reading.body_of(motion) if body is None else body
    measures = measure_clip(motion, body, settings.limits)
    if settings.reading.fps_of(path) is not None:
        measures.rate = RateVerdict(1.0, None, "", True)  # the caller knows it
        measures.figures["frame_rate"] = rate_figure(measures.rate, settings.limits["frame_rate"])
    findings = _add_file_faults(measures, motion.source.findings, settings)
    positions = motion.world_positions()
    return {
        "digest": content_digest(path),
        "error": None,
        "frames": motion.n_frames,
        "fps": motion.fps,
        "seconds": motion.duration_s,
        "planted": measures.planted,
        "values": _values(measures.figures),
        "limits": {name: _number(figure.limit) for name, figure in measures.figures.items()},
        "defects": _defects(measures.figures, settings),
        "findings": findings,
        "quality": _quality(measures),
        "likely_fps": None if measures.rate.fps is None else round(measures.rate.fps, 2),
        "rate_agrees": measures.rate.agrees,
        "skeleton": _skeleton_digest(motion),
        "fingerprint": pack_fingerprint(make_fingerprint(positions, motion.skeleton, body)),
        "thumbnail": make_thumbnail(positions, motion.skeleton, body),
    }


def _add_file_faults(
    measures: Measures, findings: tuple[Finding, ...], settings: Settings
) -> list[dict[str, str]]:
    """Put the warnings of a file that no column measures into figures; return those as values."""
    others, starts = [], []
    for each in findings:
        if each.level == "note":
            continue
        if each.problem.startswith("the clip starts badly"):
            starts.append(each)
        elif not _is_measured(each):
            others.append(each)
    if starts:
        old = measures.figures["glitches"]
        texts = [*(each.problem.rstrip(".") for each in starts), *([old.text] if old.text else [])]
        measures.figures["glitches"] = old._replace(
            value=(old.value or 0.0) + len(starts), where=starts[0].where, text="; ".join(texts)
        )
    text = "; ".join(f"{each.where}: {each.problem}".rstrip(".") for each in others)
    where = others[0].where if others else ""
    measures.figures["file"] = Figure(float(len(others)), settings.limits["file"], where, text)
    return [dataclasses.asdict(each) for each in others]


def _is_measured(finding: Finding) -> bool:
    """Whether a column measures what a warning reports."""
    return (
        (finding.where == "frame rate" and "falls at" in finding.problem)
        or "bends backwards" in finding.problem
        or "bent backwards" in finding.problem
        or finding.problem.startswith("the body floats")
    )


def _defects(figures: Mapping[str, Figure], settings: Settings) -> list[dict[str, Any]]:
    """Figures beyond their limits, in the order of the columns."""
    out = []
    for name in LIMITS:
        figure = figures.get(name)
        if figure is None or figure.value is None or not figure.value > figure.limit:
            continue
        is_note = figure.is_note and not settings.strict_root
        out.append(
            {
                "column": name,
                "level": "note" if is_note else "fault",
                "value": figure.value,
                "limit": figure.limit,
                "where": figure.where,
                "text": figure.text,
                "fix": FIXES[name],
            }
        )
    return out


def _values(figures: Mapping[str, Figure]) -> dict[str, float | None]:
    return {name: figures[name].value if name in figures else None for name in LIMITS}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _quality(measures: Measures) -> dict[str, Any] | None:
    if measures.quality is None:
        return None
    values = dataclasses.asdict(measures.quality)
    values["joint_speed_spikes"] = [list(each) for each in measures.quality.joint_speed_spikes[:8]]
    return values


def _skeleton_digest(motion: Motion) -> str:
    """The same for clips on one skeleton at one stated rate."""
    whole = np.round(1e4 * motion.skeleton.offsets).astype("<i8").tobytes()
    names = "\n".join(motion.skeleton.names).encode("utf-8", "backslashreplace")
    rate = f"{motion.fps:.3f}".encode()
    return hashlib.blake2b(b"\0".join([names, whole, rate]), digest_size=8).hexdigest()


def make_thumbnail(positions: FloatArray, skeleton: Skeleton, body: BodyMap) -> dict[str, Any]:
    """Poses of a body seen from the side that shows most of its travel.

    Parameters
    ----------
    positions : (F, J, 3)
        Joints in the world, metres.
    skeleton
        Of the clip.
    body
        Its roles; fingers and props are left out.

    Returns
    -------
    dict
        ``bones``, pairs of points; ``head``, a point or None; ``poses``, base64 of bytes: across
        and up of every point of every pose, from 0 to 255 over the picture, 255 high.
    """
    joints = body_joints(skeleton, body)[:MOST_JOINTS]
    row = {joint: n for n, joint in enumerate(joints)}
    bones = [
        [row[int(skeleton.parents[joint])], row[joint]]
        for joint in joints
        if int(skeleton.parents[joint]) in row
    ]
    frames = np.round(np.linspace(0, len(positions) - 1, POSES)).astype(np.int64)
    poses = positions[frames][:, joints]
    middle = poses.mean(axis=1)
    around = poses - middle[:, None]
    across = _side(around, joints, body)
    flat = np.stack([around @ across, poses[..., 1] - poses[..., 1].min()], axis=-1)
    size = max(float(flat[..., 1].max()), 2.0 * float(np.abs(flat[..., 0]).max()), 1e-6)
    flat[..., 0] = 0.5 + flat[..., 0] / size
    flat[..., 1] = flat[..., 1] / size
    whole = np.clip(np.round(255.0 * flat), 0, 255).astype(np.uint8)
    poses_text = base64.b64encode(whole.tobytes()).decode("ascii")
    head = None if body.head is None else row.get(body.head)
    return {"bones": bones, "head": head, "poses": poses_text}


def _side(around: FloatArray, joints: list[int], body: BodyMap) -> FloatArray:
    """The level direction (3,) in which a body, half from the side, is drawn across."""
    left, right = body.left_hip, body.right_hip
    if left in joints and right in joints:
        line = around[:, joints.index(left)] - around[:, joints.index(right)]
        line = line / np.maximum(np.linalg.norm(line, axis=1, keepdims=True), 1e-9)
        mean = line.mean(axis=0)
        angle = np.arctan2(-mean[2], mean[0]) + 0.3 * np.pi
        return np.array([np.sin(angle), 0.0, np.cos(angle)])
    return np.array([1.0, 0.0, 0.0])
