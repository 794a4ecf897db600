"""Footplants: corrupted clips, CMU stances counted, stairs, clips marked by hand; with peers.

    ./study footplants               every figure
    ./study footplants --show FILE   one marked clip: marks, ours, a rule

Edges were tuned on every other clip of ``protocols/plants_clips.json``, beginning with the first;
both halves are printed. The others were looked at: one of them, a kick, showed that standing feet
make small steps, which none of the first half do.

Marks stand in ``protocols/plants_marked.csv`` as ``clip, kind, first, last``: frames, both
included, kinds left_heel, left_toe, right_heel, right_toe. ``protocols/plants_withdrawn.csv`` holds
seven heel marks of a walk on toes that were taken out after the detector disagreed with them;
figures are printed without and with them.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import KINDS, Footplants, Motion
from studies.baselines.stances import find_extremes, find_stances
from studies.captured_clips import PROTOCOLS, Protocol, mocap, protocol
from studies.footplants.plant_rules import RULES, pybvh_contacts
from studies.measures.plant_score import PlantScore, score_footplants
from studies.report import Figure, write_report

GOAL = 0.97
STANCE_FPS = 60.0

Detector = Callable[[Motion], Footplants]


def loaded(folder: Path, entry: Protocol, fps: float = STANCE_FPS) -> Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = ml.load(folder / entry["clip"], fps=entry.get("fps"))
    return ml.resample(motion, fps=fps) if motion.fps > fps * 1.01 else motion


def heels_and_toes(score: dict[str, PlantScore]) -> np.ndarray:
    """Hits, missed, extra of heels and of toes, (2, 3)."""
    rows = [score["left_heel"] + score["right_heel"], score["left_toe"] + score["right_toe"]]
    return np.array([[s.hits, s.missed, s.extra] for s in rows])


def f1(counts: np.ndarray) -> float:
    return PlantScore(*(int(n) for n in counts)).f1


def embedded(noise: dict[str, float], detect: Detector) -> dict[str, np.ndarray]:
    """Counts per kind of clip."""
    plan = protocol("plants_spoilt")
    counts = {}
    for number, kind in enumerate(ml.synthetic.kinds()):
        total = np.zeros((2, 3), dtype=int)
        for seed in plan["seeds"]:
            for turn in plan["turns"]:
                try:
                    clip = ml.synthetic.clip(kind, turn=turn, seed=seed)
                except ml.MotionLoomError:  # not every kind turns
                    continue
                of_turn = 1000 * number + 10 * seed + int(turn)
                corrupted = corrupt(clip.motion, **noise, seed=of_turn)
                shortest = round(plan["shortest_s"] * clip.motion.fps)
                score = score_footplants(
                    clip.footplants, detect(corrupted), within=plan["within"], shortest=shortest
                )
                total += heels_and_toes(score)
        counts[kind] = total
    return counts


def count_stances(
    stances: Mapping[str, Sequence[tuple[int, int]]],
    planted: dict[str, tuple[tuple[int, int], ...]],
    least: float,
) -> np.ndarray:
    """Stances, those without a plant of the ball, those with two or more."""
    counts = np.zeros(3, dtype=int)
    for side, spans in stances.items():
        for first, last in spans:
            balls = planted[f"{side}_toe"]
            inside = [1 for a, b in balls if min(b, last) - max(a, first) + 1 >= least]
            counts += [1, not inside, len(inside) > 1]
    return counts


def earlier_stances(path: Path, motion: Motion) -> dict[str, list[tuple[int, int]]]:
    """Landings with the next leaving, found at 30 fps by the header's rate, in frames of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clip = ml.load(path)
    longer = round(clip.fps / 30.0 * motion.n_frames / clip.n_frames)
    return {
        side: [
            (longer * int(landing), longer * int(leavings[leavings > landing][0]))
            for landing in landings
            if (leavings > landing).any()
        ]
        for side, (landings, leavings) in find_extremes(ml.resample(clip, fps=30.0)).items()
    }


def stance_figures(folder: Path) -> list[Figure]:
    plan = protocol("plants_stances")
    groups = {f"{gait}, counted earlier": plan["earlier"][gait] for gait in ("walk", "run")}
    groups |= {gait: plan[gait] for gait in ("walk", "run", "more_walks")}
    figures = []
    for group, entries in groups.items():
        totals: dict[str, np.ndarray] = {}
        for entry in entries:
            motion = loaded(folder, entry)
            stances: Mapping[str, Sequence[tuple[int, int]]]
            if "earlier" in group:
                stances, least = earlier_stances(folder / entry["clip"], motion), 1.0
            else:
                stances, least = find_stances(motion), 0.03 * motion.fps
            detected = {n: d(motion) for n, d in {"ours": ml.detect_footplants, **RULES}.items()}
            if group in ("walk", "run"):
                contacts = pybvh_contacts(str(folder / entry["clip"]), 120.0, motion.fps)
                if contacts is not None:
                    flags = np.zeros((motion.n_frames, 4), dtype=bool)
                    n = min(len(contacts), motion.n_frames)
                    flags[:n, [1, 3]] = contacts[:n]
                    detected["pybvh foot_contacts"] = Footplants(flags)
            for name, plants in detected.items():
                more = count_stances(stances, plants.intervals(), least)
                totals[name] = totals.get(name, 0) + more
        n, missed, doubled = totals["ours"]
        for what, value, at in (("missed", missed, 1), ("doubled", doubled, 2)):
            for peer, counts in totals.items():
                if peer != "ours":
                    figures.append(
                        Figure(
                            f"{group}: {what} of {n} stances",
                            float(value),
                            "",
                            peer,
                            float(counts[at]),
                            lower_is_better=True,
                            value_goal=1.0 if group != "more_walks" else None,
                        )
                    )
    return figures


def stair_figures(folder: Path) -> list[Figure]:
    motion = loaded(folder, {"clip": "cmu_bvh/143_17.bvh", "fps": 60})
    points = foot_points(motion)
    levels: dict[int, int] = {6: 0, 24: 0, 44: 0}
    for k, spans in enumerate(ml.detect_footplants(motion).intervals().values()):
        for first, last in spans:
            height = 100.0 * float(np.median(points[first : last + 1, k, 1]))
            for level in levels:
                levels[level] += k % 2 == 1 and abs(height - level) <= 2.0
    return [
        Figure(f"143_17: ball plants on the step at {level} cm", float(n), "", value_goal=2.0)
        for level, n in levels.items()
    ]


def marked_figures(folder: Path) -> list[Figure]:
    """Scores on clips marked by eye, apart for those on which edges were tuned and the others."""
    path = PROTOCOLS / "plants_marked.csv"
    if not path.is_file():
        return []
    marks = read_marks(path)
    clips = [entry for entry in protocol("plants_clips")["clips"] if entry["clip"] in marks]
    figures = marked_half(folder, clips[::2], marks, "tuned on these")
    figures += marked_half(folder, clips[1::2], marks, "not tuned on these")
    for clip, rows in read_marks(PROTOCOLS / "plants_withdrawn.csv").items():
        marks[clip] = marks[clip] + rows
    about = "not tuned on these, withdrawn marks included"
    return figures + marked_half(folder, clips[1::2], marks, about)


def marked_half(
    folder: Path, entries: list[Protocol], marks: dict[str, list[dict[str, str]]], half: str
) -> list[Figure]:
    """Scores of the detector and of every rule on some of the marked clips."""
    totals: dict[str, np.ndarray] = {}
    for entry in entries:
        motion = loaded(folder, entry)
        truth, window = marked_plants(marks[entry["clip"]], entry, motion.n_frames)
        for name, detect in {"ours": ml.detect_footplants, **RULES}.items():
            detected = detect(motion)[window]
            for within in (2, 4):
                score = score_footplants(truth, detected, within=within, shortest=3)
                key = f"{name}|{within}"
                totals[key] = totals.get(key, 0) + heels_and_toes(score)
            agree = np.mean(truth.planted == detected.planted)
            totals[f"{name}|frames"] = totals.get(f"{name}|frames", 0) + agree
    figures = []
    about = f"{len(entries)} marked clips, {half}"
    for peer in RULES:
        for within in (2, 4):
            for row, point in enumerate(("heel", "toe")):
                ours, theirs = (f1(totals[f"{n}|{within}"][row]) for n in ("ours", peer))
                name = f"{about}: {point} F1 within {within} frames"
                figures.append(Figure(name, ours, "", peer, theirs))
        ours, theirs = (float(totals[f"{n}|frames"]) / len(entries) for n in ("ours", peer))
        figures.append(Figure(f"{about}: frames that agree", ours, "", peer, theirs))
    return figures


def read_marks(path: Path) -> dict[str, list[dict[str, str]]]:
    """Rows of the table of marks by clip."""
    marks: dict[str, list[dict[str, str]]] = {}
    with path.open(newline="") as stream:
        for row in csv.DictReader(stream, skipinitialspace=True):
            marks.setdefault(row["clip"], []).append(row)
    return marks


def marked_plants(
    rows: list[dict[str, str]], entry: Protocol, n_frames: int
) -> tuple[Footplants, slice]:
    """Marked plants of the window that was marked, and that window."""
    intervals: dict[str, list[tuple[int, int]]] = {kind: [] for kind in KINDS}
    for row in rows:
        intervals[row["kind"]].append((int(row["first"]), int(row["last"])))
    spans = {kind: tuple(several) for kind, several in intervals.items()}
    window = slice(entry["first"], entry["last"] + 1)
    return Footplants.from_intervals(spans, n_frames)[window], window


def show_plants(folder: Path, picture: Path, number: int = 1) -> None:
    """Left foot of one marked clip: speed, and plants as marked, as found and by a rule."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    entry = protocol("plants_clips")["clips"][number]
    motion = loaded(folder, entry)
    marks = read_marks(PROTOCOLS / "plants_marked.csv")[entry["clip"]]
    truth, window = marked_plants(marks, entry, motion.n_frames)
    speeds = np.linalg.norm(np.gradient(foot_points(motion), axis=0), axis=-1)[window] * motion.fps
    rule = "2.5 cm, 0.15 m/s"
    rows = {
        "marked by eye": (truth, "0.25"),
        "found": (ml.detect_footplants(motion)[window], "#2f9e73"),
        rule: (RULES[rule](motion)[window], "#c98a3b"),
    }
    figure, axes = plt.subplots(2, 1, figsize=(11, 5.2), sharex=True)
    for k, axis in enumerate(axes):
        axis.plot(speeds[:, k], color="0.2", lw=1.2)
        for place, (name, (plants, colour)) in enumerate(rows.items()):
            spans = plants.intervals()[KINDS[k]]
            bars = [(first - 0.5, last - first + 1) for first, last in spans]
            axis.broken_barh(bars, (-0.18 - 0.16 * place, 0.12), color=colour, label=name)
        axis.set(
            ylim=(-0.56, 1.5),
            yticks=(0.0, 0.5, 1.0, 1.5),
            ylabel=f"{KINDS[k].replace('_', ' ')}, m/s",
        )
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.01)
    axes[0].legend(loc="upper center", ncols=3, frameon=False, bbox_to_anchor=(0.5, 1.2))
    axes[1].set_xlabel(f"frame of {Path(entry['clip']).stem}, at {motion.fps:g} fps")
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=Path, metavar="FILE", help="draw a marked clip, and stop")
    options = parser.parse_args()
    folder = mocap()
    if options.show:
        if folder is None:
            parser.error("no motion-capture folder: set MOTIONLOOM_MOCAP")
        show_plants(folder, options.show)
        return
    corrupted = protocol("plants_spoilt")["spoilt"]
    skate = {key: value for key, value in corrupted.items() if key != "noise_m"}
    cases = {
        "clean": {},
        "drift and skate": skate,
        "5 mm noise, drift, skate": corrupted,
        "5 mm on every coordinate of every joint, drift, skate": {
            **skate,
            "point_noise_m": corrupted["noise_m"],
        },
    }
    figures, by_kind = [], {}
    for case, noise in cases.items():
        ours = embedded(noise, ml.detect_footplants)
        theirs = embedded(noise, RULES["5 cm, 0.25/0.4 m/s"])
        goal = None if "every" in case else GOAL
        for row, point in enumerate(("heel", "toe")):
            value = f1(sum(c[row] for c in ours.values()))
            peer = f1(sum(c[row] for c in theirs.values()))
            name = f"embedded, {case}: {point} F1"
            figures.append(Figure(name, value, "", "5 cm, 0.25/0.4 m/s", peer, value_goal=goal))
        by_kind[case] = {
            kind: " ".join(f"{f1(c[row]):.3f}" for row in (0, 1)) for kind, c in ours.items()
        }
    if folder is not None:
        figures += stance_figures(folder) + stair_figures(folder) + marked_figures(folder)
    about = {f"heel and toe F1 by kind, {case}": kinds for case, kinds in by_kind.items()}
    write_report("footplants", figures, about=about)


if __name__ == "__main__":
    main()
