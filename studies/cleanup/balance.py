"""Balance of blends and splices before and after ml.balance, and whether it shows.

    ./study balance            clips that no setting was chosen on
    ./study balance --quick    a few of them, without classifiers

The baseline is the same result as it was blended or spliced, its feet held. Its balance is measured
twice: as ml.balance measures it, which makes this figure small; and independently, by
``studies/measures/sole_distance.py``, with contacts that are detected in each motion. Flights are
those that ``find_flights`` of ``studies/measures/ballistic.py`` finds in the result before it is
balanced; the same frames are measured afterwards. Captured clips are the second baseline.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.cleanup.balance_shift import near
from motionloom.features.balance import GRAVITY, SMOOTH_S, centre_of_mass, support_of
from studies.captured_clips import study_settings
from studies.measures.ballistic import find_flights
from studies.measures.sole_distance import UP_TO_HZ, sole_distance
from studies.measures.told_apart import auc_of, windows_of_motion
from studies.report import Figure, write_report

KINDS = ("blend", "splice")
BASELINE = "before"
CAPTURED = "captured clips"
WHEN = ("before", "after", "captured")
LOCAL_S = 0.1
"""Accelerations in a flight are those of parabolas through so many seconds."""
LEAST_ALLOWED_M = 0.02
"""Measured independently, a frame is outside where it is farther from the soles than this, and than
95 % of the sources' frames."""
FAST_HZ = 6.0
"""Independent distances are measured with accelerations up to this frequency, too."""
BELOW_HZ = 6.0
"""Classifiers see motion up to this frequency: blends lose the noise of their sources, which gives
every blend away, balanced or not."""


@dataclass(frozen=True)
class Row:
    """One result, before and after."""

    kind: str
    name: str
    balanced: ml.Balanced
    before: ml.Motion
    sources: tuple[ml.Motion, ...]
    fails: int
    """Failed checks before, compared with the sources that the result is compared with."""
    flights: tuple[tuple[int, int], ...]
    """First and last frames of the flights before."""

    @property
    def change(self) -> np.ndarray:
        """Ways of the joints, metres. (F, J)."""
        apart = self.balanced.motion.world_positions() - self.before.world_positions()
        return np.asarray(np.linalg.norm(apart, axis=-1))


Part = tuple[str, int, int]
"""Name of a clip, first frame, and the one after the last."""


def loaded(folder: Path, part: Part) -> ml.Motion:
    """A part of a clip; subject 143 at the rate it was captured at."""
    name, first, stop = part
    return ml.load(folder / f"{name}.bvh", fps=60.0 if "/143_" in name else None)[first:stop]


def rows_of(kind: str, pairs: list[tuple[Part, Part]], folder: Path) -> list[Row]:
    """Every pair that can be blended or spliced, balanced."""
    rows = []
    for first, second in pairs:
        clips = [loaded(folder, part) for part in (first, second)]
        name = " ".join(f"{part[0]}[{part[1]}:{part[2]}]" for part in (first, second))
        result: ml.Blend | ml.Splice
        sources: tuple[ml.Motion, ...]
        try:
            if kind == "blend":
                result, sources = ml.blend(clips, [0.5, 0.5]), ml.match_clips(clips).motions
            else:
                result, sources = ml.splice(upper=clips[0], lower=clips[1]), (clips[1],)
        except ml.MotionLoomError as error:
            print(f"{kind} {name}: {error}")
            continue
        plants = result.footplants
        balanced = ml.balance(result.motion, plants, sources=sources)
        failed = ml.verify(result.motion, sources=sources, footplants=plants).failed
        row = Row(
            kind, name, balanced, result.motion, tuple(sources),
            len(failed), find_flights(result.motion, plants),
        )  # fmt: skip
        print(_line(row), flush=True)
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Fall:
    """How the centre of mass moves in flight, m/s2, gravity taken away."""

    whole: float
    """Vertical acceleration of the parabola through the flight."""
    local: np.ndarray
    """The same through every tenth of a second of it."""
    sideways: np.ndarray
    """Acceleration over the ground, through every tenth of a second."""


def falls_of(motion: ml.Motion, flights: tuple[tuple[int, int], ...]) -> list[Fall]:
    """Accelerations of a motion's centre of mass in its flights."""
    centre, fps = centre_of_mass(motion), motion.fps
    window = max(3, round(LOCAL_S * fps) + 1)
    falls = []
    for first, last in flights:
        path = centre[first : last + 1]
        starts = range(len(path) - window + 1)
        parts = np.array([_accelerations(path[k : k + window], fps) for k in starts])
        whole = _accelerations(path, fps)[1] + GRAVITY
        falls.append(Fall(float(whole), parts[:, 1] + GRAVITY, np.hypot(parts[:, 0], parts[:, 2])))
    return falls


def _accelerations(path: np.ndarray, fps: float) -> np.ndarray:
    """Acceleration (3,) of the parabola that fits a path best."""
    return np.asarray(2.0 * np.polyfit(np.arange(len(path)) / fps, path, 2)[0])


def flight_figures(title: str, rows: list[Row], captured: list[Fall]) -> list[Figure]:
    """How freely results fall before and after, and captured clips in the same run."""
    flying = [row for row in rows if row.flights]
    before = [fall for row in flying for fall in falls_of(row.before, row.flights)]
    after = [fall for row in flying for fall in falls_of(row.balanced.motion, row.flights)]
    if not before:
        return []
    changed = sum(abs(a.whole - b.whole) > 0.01 for a, b in zip(before, after, strict=True))
    plain = f"{len(before)} flights in {len(flying)} of {len(rows)} results, {changed} changed"
    failed = sum(len(row.balanced.verification.failed) > row.fails for row in rows)
    notes = (f"{plain}; {failed} results fail more checks than before", "", "")
    figures = []
    for (name, measure), note in zip(MEASURES.items(), notes, strict=True):
        ours, theirs = measure(after), measure(before)
        for baseline, value in ((BASELINE, theirs), (CAPTURED, measure(captured))):
            more = f"; {len(captured)} captured flights" if baseline == CAPTURED else ""
            figures.append(
                Figure(f"{title}: {name}", ours, "m/s2", baseline, value, lower_is_better=True,
                       note=(note + more).lstrip("; "))
            )  # fmt: skip
    ways = [1000.0 * float(np.mean([_near_flights(row, when) for row in flying]))
            for when in ("before", "after")]  # fmt: skip
    figures.append(
        Figure(f"{title}: distance outside within 1/8 s of a flight, mean", ways[1], "mm",
               BASELINE, ways[0], lower_is_better=True,
               note="not in the other figures: its window mixes flight and stance")
    )  # fmt: skip
    return figures


def _rms(parts: list[np.ndarray]) -> float:
    return float(np.sqrt(np.mean(np.concatenate(parts) ** 2)))


MEASURES: dict[str, Callable[[list[Fall]], float]] = {
    "vertical acceleration of a flight off -9.81 m/s2, mean absolute": lambda falls: float(
        np.mean([abs(fall.whole) for fall in falls])
    ),
    "vertical acceleration within flights off -9.81 m/s2, rms": lambda falls: _rms(
        [fall.local for fall in falls]
    ),
    "acceleration over the ground within flights, rms": lambda falls: _rms(
        [fall.sideways for fall in falls]
    ),
}
"""What is measured of flights, by name."""


def _near_flights(row: Row, when: str) -> float:
    """Mean distance outside the soles, beyond what is allowed, in frames next to flights."""
    motion = row.before if when == "before" else row.balanced.motion
    plants = row.balanced.footplants
    body = ml.BodyMap.guess(motion.skeleton)
    distance = support_of(motion, foot_points(motion), plants.planted, body).distance()
    flying = np.zeros(motion.n_frames, dtype=bool)
    for first, last in row.flights:
        flying[first : last + 1] = True
    counts = near(flying, round(0.5 * SMOOTH_S * motion.fps)) & np.isfinite(distance)
    over = np.maximum(distance[counts] - row.balanced.allowed_m, 0.0)
    return float(over.mean()) if over.size else 0.0


def captured_falls(folder: Path, parts: list[Part]) -> list[Fall]:
    """Flights of captured clips."""
    clips = [loaded(folder, part) for part in parts]
    return [fall for clip in clips for fall in falls_of(clip, find_flights(clip))]


def _line(row: Row) -> str:
    before, after, change = row.balanced.before, row.balanced.after, row.change
    return (
        f"{row.kind:6} {row.name:60} allowed {100 * row.balanced.allowed_m:4.1f} cm, outside "
        f"{100 * (before.outside or 0):5.1f} -> {100 * (after.outside or 0):4.1f} %, "
        f"{1000 * (before.distance_m or 0):5.2f} -> {1000 * (after.distance_m or 0):5.2f} mm, "
        f"joints {1000 * change.mean():4.1f} mm, most {100 * change.max():4.1f} cm, "
        f"failed checks {row.fails} -> {len(row.balanced.verification.failed)}"
    )


def figures(kind: str, rows: list[Row]) -> list[Figure]:
    """What is reported of one kind of results."""
    before, after = ([getattr(row.balanced, when) for row in rows] for when in ("before", "after"))
    outside = [
        100.0 * float(np.mean([each.outside or 0.0 for each in all_])) for all_ in (before, after)
    ]
    away = [
        1000.0 * float(np.mean([each.distance_m or 0.0 for each in all_]))
        for all_ in (before, after)
    ]
    worst = max(float(row.change.max()) for row in rows)
    usual = float(np.mean([row.change.mean() for row in rows]))
    return [
        Figure(f"{kind}s: frames outside", outside[1], "%", BASELINE, outside[0],
               lower_is_better=True, note=f"{len(rows)} results"),
        Figure(f"{kind}s: distance outside, mean", away[1], "mm", BASELINE, away[0],
               lower_is_better=True),
        Figure(f"{kind}s: way of a joint, mean", 1000.0 * usual, "mm", lower_is_better=True),
        Figure(f"{kind}s: way of a joint, largest", 100.0 * worst, "cm", lower_is_better=True),
    ]  # fmt: skip


@dataclass(frozen=True)
class Distances:
    """Independently measured distances from the soles, metres, of all standing frames."""

    before: np.ndarray
    after: np.ndarray
    captured: np.ndarray
    """Of the sources."""

    @classmethod
    def of(cls, row: Row, up_to_hz: float) -> Distances:
        """Of one result."""
        motions = ((row.before,), (row.balanced.motion,), row.sources)
        return cls(
            *(np.concatenate([_standing(each, up_to_hz) for each in group]) for group in motions)
        )

    def mean(self, when: str) -> float:
        """Mean distance, metres."""
        return float(getattr(self, when).mean())

    def outside(self, when: str) -> float:
        """Part of the frames that are farther from the soles than the sources usually are."""
        allowed = max(LEAST_ALLOWED_M, float(np.quantile(self.captured, 0.95)))
        return float(np.mean(getattr(self, when) > allowed))


def _standing(motion: ml.Motion, up_to_hz: float) -> np.ndarray:
    """Distances of the standing frames of a motion."""
    distance = sole_distance(motion, up_to_hz=up_to_hz)
    return np.asarray(distance[np.isfinite(distance)])


def independent_figures(kind: str, rows: list[Row]) -> list[Figure]:
    """Balance before, after and of the captured sources, by a measure that was not made small."""
    slow = [Distances.of(row, UP_TO_HZ) for row in rows]
    fast = [Distances.of(row, FAST_HZ) for row in rows]
    gains = [each.mean("before") - each.mean("after") for each in slow]
    note = f"{sum(g > 0 for g in gains)} results nearer, {sum(g < 0 for g in gains)} farther"

    def three(name: str, unit: str, values: dict[str, list[float]], note: str) -> list[Figure]:
        scale = 100.0 if unit == "%" else 1000.0
        means = {when: scale * float(np.mean(each)) for when, each in values.items()}
        return [
            Figure(f"{kind}s, measured independently: {name}", means["after"], unit, baseline,
                   means[when], lower_is_better=True, note=note)
            for baseline, when in ((BASELINE, "before"), (CAPTURED, "captured"))
        ]  # fmt: skip

    def means_of(each: list[Distances]) -> dict[str, list[float]]:
        return {when: [one.mean(when) for one in each] for when in WHEN}

    outside = {when: [each.outside(when) for each in slow] for when in WHEN}
    return [
        *three("frames outside", "%", outside, ""),
        *three("distance outside, mean", "mm", means_of(slow), note),
        *three(f"distance outside up to {FAST_HZ:g} Hz, mean", "mm", means_of(fast), ""),
    ]


def told_apart(kind: str, rows: list[Row]) -> list[Figure]:
    """How well classifiers tell the results from captured windows, before and after."""
    areas = []
    for when in ("before", "after"):
        captured, results, takes, result_takes = [], [], [], []
        for row in rows:
            result = row.before if when == "before" else row.balanced.motion
            windows = windows_of_motion(ml.resample(result, fps=60.0))
            results += windows
            result_takes += [row.name] * len(windows)
            for source in row.sources:
                cut = windows_of_motion(ml.resample(source, fps=60.0))
                captured += cut
                takes += [row.name] * len(cut)
        areas.append(
            auc_of(captured, results, takes, synthesized_groups=result_takes, below_hz=BELOW_HZ)
        )
    return [
        Figure(f"{kind}s: distinguished from captured windows", areas[1].auc, "AUC", BASELINE,
               areas[0].auc, lower_is_better=True,
               note=f"{areas[0].low:.2f} to {areas[0].high:.2f} before, "
                    f"{areas[1].low:.2f} to {areas[1].high:.2f} after"),
    ]  # fmt: skip


def _whole_clips(pairs: list[list[str]], frames: int) -> list[tuple[Part, Part]]:
    """Pairs of names as pairs of the clips' first frames."""
    return [((first, 0, frames), (second, 0, frames)) for first, second in pairs]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="four of each, no classifiers")
    chosen = options.parse_args()
    folder, settings = study_settings("balance")
    shown: list[Figure] = []
    few = 4 if chosen.quick else None
    whole = {kind: _whole_clips(settings[f"{kind}s"][:few], settings["frames"]) for kind in KINDS}
    for kind, pairs in whole.items():
        rows = rows_of(kind, pairs, folder)
        shown += figures(kind, rows) + independent_figures(kind, rows)
        if not chosen.quick:
            shown += told_apart(kind, rows)
    jumps: list[Part] = [(name, first, stop) for name, first, stop in settings["jumps"]]
    end = settings["frames"]
    captured_jumps: list[Part] = [(name, 0, end) for name in sorted({part[0] for part in jumps})]
    runs = _whole_clips(settings["run_blends"][:few], end)
    blends = [(jumps[i], jumps[j]) for i, j in settings["jump_blends"][:few]]
    splices: list[tuple[Part, Part]] = [
        ((name, 0, end), jumps[j]) for name, j in settings["jump_splices"][:few]
    ]
    for title, kind, pairs, captured in (
        ("blends of jumps", "blend", blends, captured_jumps),
        ("splices on jumps", "splice", splices, captured_jumps),
        ("blends of runs", "blend", runs, sorted({part for pair in runs for part in pair})),
    ):
        rows = rows_of(kind, pairs, folder)
        shown += flight_figures(title, rows, captured_falls(folder, captured))
    about: dict[str, object] = {"protocol": "studies/protocols/balance.json"}
    write_report("balance_quick" if chosen.quick else "balance", shown, about=about)


if __name__ == "__main__":
    main()
