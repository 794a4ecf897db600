"""From a clip as its file tells it to a Motion, and what was found on the way."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motionloom._arrays import FloatArray, flag, of_kind, positive
from motionloom._paths import printable
from motionloom.body.body_map import BodyMap
from motionloom.body.proportions import stature
from motionloom.features.glitches.glitch_frames import find_sudden_turns, sudden_turn_findings
from motionloom.findings import Finding
from motionloom.formats.file_clip import FileClip
from motionloom.intake import axes, floating, floor, gravity, root_bone, t_pose, units, upright
from motionloom.intake import backward_knees as knees
from motionloom.intake import leg_tracks as legs
from motionloom.intake.plausible import refuse_absurd
from motionloom.motion.edit import pick
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.motion.source import Floor, Source

_POSES_LOOKED_AT = 80


@dataclass(frozen=True, slots=True)
class Stated:
    """What the caller of load says about a file; None is left to the file and to detection.

    Wrong values are the caller's mistake, not the file's, and raise before a file is opened.
    """

    fps: float | None = None
    unit_m: float | None = None
    up: str | None = None
    body: BodyMap | None = None
    keep_t_pose: bool = False

    @classmethod
    def checked(
        cls,
        fps: float | None,
        unit: str | float | None,
        up: str | None,
        body: BodyMap | None,
        keep_t_pose: bool = False,
    ) -> Stated:
        """The options of load, checked."""
        return cls(
            None if fps is None else positive(fps, "fps"),
            None if unit is None else units.unit_metres(unit),
            None if up is None else axes.checked_up(up),
            None if body is None else of_kind(body, BodyMap, "body"),
            flag(keep_t_pose, "keep_t_pose"),
        )


def normalize_clip(clip: FileClip, format_name: str, path: str, stated: Stated) -> Motion:
    """The clip in metres and Y up, with everything that is known about it in its source."""
    refuse_absurd(clip.motion, stated.fps)
    findings = [*_reader_findings(clip, stated.fps), *_clip_findings(clip)]
    roles = BodyMap.guess(clip.motion.skeleton) if stated.body is None else stated.body
    roles.checked_for(clip.motion.skeleton)
    axis, up_finding = _normal_up(clip, roles, stated.up)
    standing = axes.skeleton_to_world(_mean_skeleton(clip.motion), up=axis, unit_m=1.0)
    if axis != "y" and stated.body is None:
        # Guessing looks at which bones point down, and only now does down mean down.
        roles = BodyMap.guess(standing)
    unit_m, unit_finding = _normal_unit(clip, _stature(standing, roles), stated.unit_m)
    findings += [unit_finding, up_finding]

    motion = axes.to_world(clip.motion, up=axis, unit_m=unit_m)
    held = t_pose.count_t_pose_frames(motion, roles)
    skipped = 0 if stated.keep_t_pose else held
    motion = motion[skipped:]
    if held:
        findings.append(_t_pose_finding(held, stays=stated.keep_t_pose))
    if stated.fps is not None:
        motion = motion.replace(fps=stated.fps)
    # A T-pose that stays jumps into the motion, and a finding reports that already.
    turns = tuple(each for each in find_sudden_turns(motion) if each.frame > held - skipped)
    findings += sudden_turn_findings(turns)
    findings += _body_findings(roles)
    findings += knees.knee_findings(motion, roles)
    findings += root_bone.root_bone_findings(motion, roles)
    ground, notes = _ground_findings(motion, roles, rate_stated=stated.fps is not None)
    source = Source(
        format=format_name,
        path=printable(path),
        clip=clip.clip,
        unit_m=unit_m,
        up=axis,
        fps=clip.motion.fps if clip.fps_stated else None,
        skipped_frames=skipped,
        floor=ground,
        detail=clip.detail,
        findings=tuple(findings + notes),
    )
    return motion.replace(source=source, name=motion.name or _title(source))


def normalize_own(clip: FileClip, format_name: str, path: str, stated: Stated) -> Motion:
    """A clip from an archive of ours, which says all there is to say: nothing is detected."""
    refuse_absurd(clip.motion, stated.fps)
    unit_m = (clip.unit_m or 1.0) if stated.unit_m is None else stated.unit_m
    axis = axes.checked_up(clip.up or "y") if stated.up is None else stated.up
    motion = axes.to_world(clip.motion, up=axis, unit_m=unit_m)
    source = dataclasses.replace(
        motion.source, path=printable(path), format=motion.source.format or format_name
    )
    return motion.replace(source=source, fps=motion.fps if stated.fps is None else stated.fps)


def _normal_up(clip: FileClip, roles: BodyMap, up: str | None) -> tuple[str, Finding]:
    if up is not None:
        return up, Finding("note", "up axis", f"{up}, as the caller says.")
    if clip.up is not None:
        axis = axes.checked_up(clip.up)
        return axis, Finding("note", "up axis", f"{axis}, as the format says.")
    return upright.detect_up(_some_positions(clip.motion), roles)


def _normal_unit(
    clip: FileClip, height: float | None, unit_m: float | None
) -> tuple[float, Finding]:
    if unit_m is not None:
        return unit_m, units.stature_finding(height, unit_m, stated_by="caller")
    if clip.unit_m is not None:
        return clip.unit_m, units.stature_finding(height, clip.unit_m, stated_by="format")
    return units.detect_unit(height)


def _some_positions(motion: Motion) -> FloatArray:
    """World positions (N, J, 3) of a few hundred frames spread over the clip."""
    step = -(-motion.n_frames // _POSES_LOOKED_AT)
    return pick(motion, slice(None, None, step)).world_positions()


def _mean_skeleton(motion: Motion) -> Skeleton:
    """The skeleton with the offsets that a motion with sliding joints really uses."""
    if motion.joint_translations is None:
        return motion.skeleton
    step = -(-motion.n_frames // _POSES_LOOKED_AT)
    offsets = np.median(motion.joint_translations[::step], axis=0)
    return dataclasses.replace(motion.skeleton, offsets=offsets)


def _stature(skeleton: Skeleton, roles: BodyMap) -> float | None:
    """Standing height in the skeleton's unit, None where it has no two legs to stand on."""
    needed = (roles.pelvis, roles.left_ankle, roles.right_ankle)
    if any(joint is None for joint in needed):
        return None
    return stature(skeleton, roles)


def _ground_findings(
    motion: Motion, roles: BodyMap, *, rate_stated: bool
) -> tuple[Floor | None, list[Finding]]:
    """The floor, where there are feet to tell it by, and what feet and flights tell."""
    tracks = legs.track_legs(motion, roles)
    fitted = None if tracks is None else floor.fit_floor(tracks)
    if tracks is None or fitted is None:
        return None, []
    ground, n_others = fitted
    findings = [floor.floor_finding(ground, n_others, tracks)]
    findings += floating.floating_findings(floating.find_floating(tracks, ground))
    check = gravity.check_rate(motion, roles, tracks, ground)
    if check is not None:
        findings.append(gravity.rate_finding(check, stated=rate_stated))
    return ground, findings


def _clip_findings(clip: FileClip) -> list[Finding]:
    if len(clip.clips) < 2:
        return []
    listed = ", ".join(repr(name) for name in clip.clips)
    return [
        Finding(
            "note",
            "clips",
            f"the file holds {len(clip.clips)} clips ({listed}); this is {clip.clip!r}.",
            f"Name another as in file#{clip.clips[-1]}, or pass clip=.",
        )
    ]


def _reader_findings(clip: FileClip, fps: float | None) -> list[Finding]:
    """What the reader noticed, and where the rate comes from."""
    on_rate = [finding for finding in clip.findings if "fps=" in finding.fix]
    if fps is not None:
        # Who passes fps= has done what those findings ask for.
        was = f"{clip.motion.fps:.6g}" if clip.fps_stated else "none"
        stated = Finding("note", "frame rate", f"{fps:g}, as the caller says; the file says {was}.")
        return [*(finding for finding in clip.findings if finding not in on_rate), stated]
    if clip.fps_stated or on_rate:
        return list(clip.findings)
    usual = f"the file states none; {clip.motion.fps:g} is usual for its format."
    note = Finding("note", "frame rate", usual, "Pass fps= to set another.")
    return [*clip.findings, note]


def _t_pose_finding(held: int, *, stays: bool) -> Finding:
    frames = "frame 0 is a T-pose" if held == 1 else f"frames 0 to {held - 1} are a T-pose"
    if stays:
        return Finding("note", "frame 0", f"{frames} in front of the motion, kept as asked.")
    left = "it was" if held == 1 else "they were"
    text = f"{frames} in front of the motion; {left} left out."
    return Finding("note", "frame 0", text, "Pass keep_t_pose=True to keep it.")


def _body_findings(roles: BodyMap) -> list[Finding]:
    missing = roles.missing()
    if not missing:
        return []
    return [
        Finding(
            "note",
            "body roles",
            f"not found: {', '.join(missing)}.",
            "Name them with body=, where the skeleton has them.",
        )
    ]


def _title(source: Source) -> str:
    stem = Path(source.path).stem if source.path != "-" else ""
    return f"{stem}#{source.clip}" if source.clip and stem else stem
