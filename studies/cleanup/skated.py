"""Clips that skate: what clean-up holds of them, and whether undamaged clips are taken for such.

    ./study skated             figures of the clips that nothing was tuned on
    ./study skated --tuned     of those that constants were tuned on
    ./study skated --all       every clip of the folder as it is: which is taken for skated, and how
                               much of it still slides after clean-up
    ./study skated --strips DIR    strips of some clips before and after

Damage is put into captured clips, whose own contacts are then the truth. The share is of frames in
which a point stands in the undamaged clip, then and one frame later: those in which none of these
is slower than 0.15 m/s. The peer cleans with the contacts that are found without a calmed copy.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from statistics import median

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.footskate import SKATED
from motionloom.features.footplants.plant_edges import foot_tracks
from motionloom.features.footplants.sliding_floor import FAST_M_S, find_floor
from motionloom.motion.motion import KINDS, Motion
from motionloom.rotation import quat
from studies.captured_clips import mocap, protocol
from studies.report import Figure, write_report

PLAN = protocol("skated")
PEER = "contacts of the clip itself"
SUFFIXES = (".bvh", ".glb", ".fbx", ".amc")


def loaded(folder: Path, name: str) -> Motion:
    """The middle of a clip; ``@60`` names the rate that it was captured at."""
    path, _, fps = name.partition("@")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unit = 1e-4 if path.startswith("fbx/") else None  # their own makes bodies of 166 m
        motion = ml.load(folder / path, fps=float(fps) if fps else None, unit=unit)
    n = int(PLAN["seconds"] * motion.fps)
    first = max(0, (motion.n_frames - n) // 2)
    return motion[first : first + n]


def band(rng: np.random.Generator, n: int, columns: int, fps: float, highest: float) -> np.ndarray:
    """Noise (F, C) of unit rms below a frequency."""
    longer = n + int(8 * fps / highest)
    spectrum = np.fft.rfft(rng.standard_normal((longer, columns)), axis=0)
    spectrum *= np.exp(-0.5 * (np.fft.rfftfreq(longer, 1 / fps) / highest) ** 2)[:, None]
    noise = np.fft.irfft(spectrum, longer, axis=0)[:n]
    return np.asarray(noise / np.sqrt(np.mean(noise**2, axis=0)))


def skating(
    motion: Motion, *, drift_m: float, noise_deg: float, drift_hz: float, noise_hz: float
) -> Motion:
    """The motion with a root that drifts and joints that tremble."""
    rng = np.random.Generator(np.random.PCG64(PLAN["seed"]))
    n, joints, fps = motion.n_frames, motion.skeleton.n_joints, motion.fps
    drift = drift_m / np.sqrt(2.0) * band(rng, n, 2, fps, drift_hz)
    root = np.array(motion.root_positions)
    root[:, [0, 2]] += drift - drift[0]
    turns = np.radians(noise_deg) / np.sqrt(3.0) * band(rng, n, 3 * joints, fps, noise_hz)
    turns = turns.reshape(n, joints, 3)
    pelvis = BodyMap.guess(motion.skeleton).pelvis or 0
    turns[:, motion.skeleton.chain(pelvis)[:-1]] = 0.0  # a root bone far off would swing the body
    noisy = quat.multiply(motion.local_quats, quat.exp(turns))
    return motion.replace(root_positions=root, local_quats=noisy)


def share(motion: Motion, truth: np.ndarray) -> float:
    """Share of the frames that stand in ``truth`` (F, 4) in which nothing that should stands."""
    steps = np.linalg.norm(np.diff(foot_points(motion), axis=0)[..., [0, 2]], axis=-1)
    slowest = np.where(truth[1:] & truth[:-1], steps * motion.fps, np.inf).min(axis=1)
    stands = np.isfinite(slowest)
    return float(np.mean(slowest[stands] > FAST_M_S)) if stands.any() else 0.0


def f1(found: np.ndarray, truth: np.ndarray) -> float:
    return 2.0 * float((found & truth).sum()) / max(int(found.sum() + truth.sum()), 1)


def knees(motion: Motion) -> float:
    """99th percentile of the acceleration of knees against the pelvis, m/s2."""
    body = BodyMap.guess(motion.skeleton)
    positions = motion.world_positions()
    knees = body.require("left_knee", "right_knee", task="knees")
    track = positions[:, knees] - positions[:, [body.pelvis or 0]]
    sizes = np.linalg.norm(np.diff(track, 2, axis=0), axis=-1) * motion.fps**2
    return float(np.percentile(sizes, 99))


COLUMNS = (
    "undamaged", "damaged", "cleaned_before", "cleaned", "f1_before", "f1", "calmed",
    "floor_slide", "passed", "knees",
)  # fmt: skip


def row(motion: Motion, damage: dict[str, float]) -> dict[str, float]:
    """One clip with one damage."""
    truth = ml.detect_footplants(motion).planted
    damaged = skating(motion, **damage)
    found = ml.detect_footplants(damaged)
    plain, ours = ml.clean_footskate(damaged, found), ml.clean_footskate(damaged)
    labelled = np.zeros_like(truth)
    for plant in ours.report.plants:
        labelled[plant.first : plant.last + 1, KINDS.index(plant.kind)] = True
    slide = ours.report.floor_slide
    values = (
        share(motion, truth), share(damaged, truth), share(plain.motion, truth),
        share(ours.motion, truth), f1(found.planted, truth), f1(labelled, truth),
        ours.report.calmed, np.nan if slide is None else slide, ours.verification.passed,
        knees(ours.motion) / max(knees(damaged), 1e-9),
    )  # fmt: skip
    return {name: float(value) for name, value in zip(COLUMNS, values, strict=True)}


def figures_of(folder: Path, groups: dict[str, list[str]]) -> tuple[list[Figure], dict[str, str]]:
    """What clean-up does to clips that skate, by group and damage, and a line for each."""
    figures: list[Figure] = []
    table: dict[str, str] = {}
    every: dict[str, list[dict[str, float]]] = {}
    for group, names in groups.items():
        for damage, settings in PLAN["damages"].items():
            rows = []
            for name in names:
                rows.append(row(loaded(folder, name), settings))
                table[f"{name}, {damage}"] = " ".join(f"{k} {v:.2f}" for k, v in rows[-1].items())
                print(f"{name}, {damage}: {table[f'{name}, {damage}']}", flush=True)
            every.setdefault(damage, []).extend(rows)
            figures += group_figures(f"{group}s, {damage}", rows)
    if len(groups) > 1:
        for damage, rows in every.items():
            figures += group_figures(f"all, {damage}", rows)
    return figures, table


def group_figures(name: str, rows: list[dict[str, float]]) -> list[Figure]:
    middle = {key: median(each[key] for each in rows) for key in COLUMNS}
    goal = 0.12 if name.endswith("8 cm, 2 degrees") else None
    before = f"{middle['undamaged']:.2f} undamaged, {middle['damaged']:.2f} before clean-up"
    below = sum(each["cleaned"] <= 0.15 for each in rows)
    return [
        Figure(
            f"{name}: share of standing frames faster than 0.15 m/s, median of {len(rows)}",
            middle["cleaned"], "", PEER, middle["cleaned_before"], lower_is_better=True,
            value_goal=goal, note=f"{before}; {below} clips at most 0.15",
        ),
        Figure(f"{name}: F1 of contacts", middle["f1"], "", PEER, middle["f1_before"]),
        Figure(f"{name}: clips taken for skated", sum(r["calmed"] for r in rows), ""),
        Figure(f"{name}: clips that pass the check", sum(r["passed"] for r in rows), ""),
        Figure(f"{name}: acceleration of knees over the damaged clip's", middle["knees"], "",
               lower_is_better=True, note=f"worst {max(r['knees'] for r in rows):.2f}"),
    ]  # fmt: skip


def as_they_are(folder: Path) -> tuple[list[Figure], dict[str, str]]:
    """Every clip of the folder, undamaged: which is taken for skated, which is warned of."""
    taken, warned, table, n = [], [], {}, 0
    for path in sorted(each for each in folder.glob("*/*") if each.suffix in SUFFIXES):
        name = str(path.relative_to(folder))
        if name.startswith(("ugly", "characters", "robots")):
            continue
        try:
            motion = loaded(folder, name + "@60" * ("/141_" in name or "/143_" in name))
            report = ml.clean_footskate(motion).report
        except ml.MotionLoomError:
            continue
        floor = find_floor(foot_tracks(motion, BodyMap.guess(motion.skeleton)), motion.fps)
        n += 1
        taken += [name] * report.calmed
        warned += [name] * any("still slide" in note for note in report.notes)
        table[name] = f"slide {floor.slide} after {report.floor_slide}"
        if report.calmed or any("still slide" in note for note in report.notes):
            print(name, table[name], flush=True)
    return [
        Figure(f"{n} captured clips: taken for skated", len(taken), "", lower_is_better=True,
               value_goal=0.0, note=", ".join(taken) + f" (limit {SKATED:g})"),
        Figure(f"{n} captured clips: warned of after clean-up", len(warned), "",
               lower_is_better=True, value_goal=0.0, note=", ".join(warned)),
    ], table  # fmt: skip


def strips(folder: Path, out: Path) -> None:
    """The first clip of every group, damaged, cleaned as before, and cleaned."""
    out.mkdir(parents=True, exist_ok=True)
    damage = PLAN["damages"]["8 cm, 2 degrees"]
    for name in (group[k] for group in PLAN["reported"].values() for k in (0, 3)):
        motion = loaded(folder, name)
        damaged = skating(motion, **damage)
        ours = ml.clean_footskate(damaged).motion
        for what, each in (("0", motion), ("1_damaged", damaged), ("2_cleaned", ours)):
            ml.render(each, out / f"{Path(name.partition('@')[0]).stem}_{what}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuned", action="store_true", help="the clips that were tuned on")
    parser.add_argument("--all", action="store_true", help="every clip as it is")
    parser.add_argument("--strips", type=Path, metavar="DIR", help="draw, and stop")
    options = parser.parse_args()
    folder = mocap()
    if folder is None:
        parser.error("no motion-capture folder: set MOTIONLOOM_MOCAP")
    if options.strips:
        strips(folder, options.strips)
        return
    if options.all:
        figures, table = as_they_are(folder)
        write_report("skated_captured", figures, about={"clips": f"{len(table)}"})
        return
    groups = {"clip": PLAN["tuned"]} if options.tuned else PLAN["reported"]
    figures, table = figures_of(folder, groups)
    write_report("skated_tuned" if options.tuned else "skated", figures, about=table)


if __name__ == "__main__":
    main()
