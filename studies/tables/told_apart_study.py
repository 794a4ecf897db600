"""Told-apart study: do classifiers tell captured seconds from synthesized ones with the same ends?

    ./study told-apart [--quick] [--known] [--jobs N] [--methods NAME ...] [--series FOLDER]
                       [--pictures FOLDER]

Every method synthesizes the same seconds (``protocols/told_apart.json``) from takes of the same
subject without the second's own fold, pinned by the same kernel. Boosted trees and a small temporal
network are trained on three parts of the subjects and asked about the fourth: neither takes nor
subjects are shared. The verdict is the larger area under the curve (AUC) of the two; 0.5 is chance.
Bounds are over takes. Measured at all frequencies, and again without what is faster than 8 Hz:
averages lose the noise of the capture, which classifiers see and people do not.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Iterable
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from studies.captured_clips import mocap
from studies.measures.body_series import COLUMNS, BodySeries
from studies.measures.series_features import Features, series_features
from studies.measures.temporal_network import NetworkSettings
from studies.measures.told_apart import (
    Area,
    Clue,
    Settings,
    area_of,
    clues_of,
    fitted_trees,
    network_channels,
    network_scores,
    ranks_of,
)
from studies.report import Figure, write_report
from studies.tables.natural_candidates import subject_plan
from studies.tables.told_apart_methods import METHODS, PIPELINE, captured_again, workshop
from studies.tables.told_apart_seconds import FOLDS, seconds_of, told_apart_plan

CAPTURED, CONTROL = "captured", "captured, other moments"
OURS, GOAL = ("our table", "fill"), 0.75
FILTERED = (CONTROL, *OURS)
"""Looked at a second time, below 8 Hz."""
VIEWS = {"all frequencies": None, "below 8 Hz": 8.0}
Channels = tuple[npt.NDArray[np.float32], tuple[IntArray, FloatArray]]
"""What the network sees; of a mirrored body, where each channel is, and its sign."""
Answer = dict[str, Any]
"""Scores, clues and families of a job; of all its parts, areas in place of scores."""
Verdicts = dict[tuple[str, str], Answer]
"""By method and view."""
QUICK = Settings(trees=60, networks=1, network=NetworkSettings(epochs=8))
QUICK_EACH, QUICK_FOLDS = 16, 1
Task = TypeVar("Task")
Result = TypeVar("Result")


class Sample(NamedTuple):
    """Windows of one class from all groups."""

    series: BodySeries
    groups: np.ndarray
    takes: np.ndarray
    folds: np.ndarray


class Job(NamedTuple):
    """One training: on what, and whom to ask."""

    kind: str
    view: str
    part: str
    fold: int
    """Of the part's takes, where classifiers may know the subject; -1 for whole parts."""


def synthesized(task: tuple[Path, str, int, tuple[str, ...], int | None]) -> None:
    """Write the series of a group's fold, a file for each class; those that are there stay."""
    folder, subject, fold, names, most = task
    missing = [name for name in names if not file_of(folder, subject, fold, name).exists()]
    if not missing:
        return
    at = workshop(subject, fold)
    seconds, others = (
        [second for second in seconds_of(subject, which) if second.fold == fold][:most]
        for which in ("windows", "control")
    )
    truth = [at.with_context(second) for second in seconds]
    inside = slice(at.context, at.context + at.length)
    for name in missing:
        of = others if name == CONTROL else seconds
        if name == CAPTURED:
            motions = truth
        elif name == CONTROL:
            motions = [at.with_context(second) for second in others]
        else:
            method = {PIPELINE: captured_again, **METHODS}[name]
            motions = [at.with_context(second, method(at, second)) for second in seconds]
        parts: dict[str, object] = {"takes": [second.take for second in of]}
        for view, below in VIEWS.items():
            if motions:
                series = BodySeries.of_motions(
                    motions,
                    context_s=told_apart_plan()["context_s"],
                    below_hz=below,
                    bodies=[at.frames.body_map] * len(motions),
                )
                parts |= {f"{view}/{column}": getattr(series, column) for column in COLUMNS}
                parts["context"] = series.context
        if name != CONTROL:
            parts["errors"] = [
                100.0 * joint_error(m.world_positions()[inside], t.world_positions()[inside])
                for m, t in zip(motions, truth, strict=True)
            ]
        path = file_of(folder, subject, fold, name)
        np.savez(path.with_suffix(".part.npz"), **parts)  # type: ignore[arg-type]
        path.with_suffix(".part.npz").replace(path)


def joint_error(joints: np.ndarray, truth: np.ndarray) -> float:
    """Mean distance of joints (T, J, 3), metres; a miss of the last place is spread evenly."""
    miss = (truth[-1, 0] - joints[-1, 0]) * np.array([1.0, 0.0, 1.0])
    led = joints + np.linspace(0.0, 1.0, len(joints))[:, None, None] * miss
    return float(np.linalg.norm(led - truth, axis=-1).mean())


def file_of(folder: Path, subject: str, fold: int, name: str) -> Path:
    """The series of one class."""
    return folder / f"{subject}-{fold}-{name.replace(' ', '_')}.npz"


def gathered(name: str, view: str) -> Sample:
    """One class of all groups and folds at one view."""
    series, groups, takes, folds = [], [], [], []
    for subject, fold in PLACES:
        with np.load(file_of(SERIES[0], subject, fold, name)) as some:
            if not len(some["takes"]):
                continue
            columns = {column: some[f"{view}/{column}"] for column in COLUMNS}
            context = int(some["context"])
            series.append(BodySeries(**columns, context=context, below_hz=VIEWS[view]))
            groups += [subject] * len(some["takes"])
            takes += some["takes"].tolist()
            folds += [fold] * len(some["takes"])
    return Sample(BodySeries.joined(series), *(np.array(each) for each in (groups, takes, folds)))


class Comparison(NamedTuple):
    """Captured windows and those of a method."""

    features: Features
    channels: Channels
    classes: np.ndarray
    groups: np.ndarray
    takes: np.ndarray
    folds: np.ndarray


PLACES: list[tuple[str, int]] = []
"""Groups and folds."""
SERIES: list[Path] = []
"""The folder of series; workers inherit both."""


@lru_cache(maxsize=2)
def described(name: str, view: str) -> tuple[Sample, Features, Channels]:
    sample = gathered(name, view)
    return sample, series_features(sample.series), network_channels(sample.series)


@lru_cache(maxsize=2)
def compared(name: str, view: str) -> Comparison:
    """Captured windows and those of a method."""
    (one, few, (shown, mirror)), (other, more, (also, _)) = (
        described(each, view) for each in (CAPTURED, name)
    )
    classes = np.repeat([0, 1], [len(one.takes), len(other.takes)])
    groups, takes, folds = (
        np.concatenate([getattr(one, each), getattr(other, each)])
        for each in ("groups", "takes", "folds")
    )
    features = Features(np.concatenate([few.values, more.values]), few.names)
    channels = np.concatenate([shown, also]), mirror
    return Comparison(features, channels, classes, groups, takes, folds)


def asked(job: tuple[Job, Settings]) -> Answer:
    """Scores of one part's windows by classifiers that never saw it; what each family adds."""
    (name, view, part, fold), settings = job
    features, shown, classes, groups, takes, folds = compared(name, view)
    mine = np.isin(groups, told_apart_plan()["parts"][part])
    if fold >= 0:
        mine &= folds == fold
    trees = fitted_trees(features.values[~mine], classes[~mine], settings)
    scores = {"trees": trees.decision_function(features.values[mine])}
    if fold >= 0:
        return {"mine": mine, "scores": scores}
    scores["network"] = network_scores(shown, classes, mine, settings)
    counted = reported(groups[mine], takes[mine])
    some = Features(features.values[mine][counted], features.names)
    return {
        "mine": mine,
        "scores": scores,
        "families": family_drops(trees, features, mine, classes, counted),
        "clues": clues_of(some, classes[mine][counted]),
    }


def family_drops(
    trees: object,
    features: Features,
    mine: np.ndarray,
    classes: np.ndarray,
    counted: np.ndarray,
) -> dict[str, float]:
    """How much of the AUC is lost when a family's values are shuffled among the windows."""
    values, labels = features.values[mine], classes[mine][counted]
    nobody = np.array(["all"] * len(labels))
    score = trees.decision_function  # type: ignore[attr-defined]
    whole = area_of(score(values)[counted], labels, nobody, rounds=1).auc
    families = np.array([name.partition(":")[0] for name in features.names])
    drops = {}
    for family in dict.fromkeys(families):
        rng = np.random.Generator(np.random.PCG64(1))
        shuffled = np.array(values)
        columns = np.flatnonzero(families == family)
        shuffled[:, columns] = values[rng.permutation(len(values))][:, columns]
        drops[family] = whole - area_of(score(shuffled)[counted], labels, nobody, rounds=1).auc
    return drops


def reported(groups: np.ndarray, takes: np.ndarray) -> np.ndarray:
    """Windows that figures are of: all but those of the tuning takes of 143."""
    tuning = (groups == "143") & np.isin(takes, subject_plan("143")["tuning_takes"])
    return np.asarray(~tuning)


def verdicts(jobs: list[Job], answers: list[Answer]) -> Verdicts:
    """By method and view: areas of every part and all together, clues, families."""
    out: Verdicts = {}
    for name, view in dict.fromkeys((job.kind, job.view) for job in jobs):
        some = [
            (j, a) for j, a in zip(jobs, answers, strict=True) if (j.kind, j.view) == (name, view)
        ]
        classes, groups, takes = compared(name, view)[2:5]
        counted = reported(groups, takes)
        areas: dict[str, dict[str, Area]] = {}
        for label, folds in (("", False), (" (known subject)", True)):
            scores: dict[str, np.ndarray] = {}
            part_of = np.full(len(classes), -1)
            for k, (job, answer) in enumerate(some):
                if (job.fold >= 0) == folds:
                    part_of[answer["mine"]] = k
                    for each, values in answer["scores"].items():
                        scores.setdefault(each, np.zeros(len(classes)))
                        scores[each][answer["mine"]] = ranks_of(values)
            for each, score in scores.items():
                for part, members in {
                    **told_apart_plan()["parts"],
                    "all": list(np.unique(groups)),
                }.items():
                    of = counted & np.isin(groups, members) & (part_of >= 0)
                    if not of.any():
                        continue
                    area = area_of(score[of], classes[of], takes[of], part_of[of])
                    areas.setdefault(part, {})[each + label] = area
        whole = [(job, answer) for job, answer in some if job.fold < 0]
        out[name, view] = {
            "areas": areas,
            "clues": {job.part: answer["clues"] for job, answer in whole},
            "families": {job.part: answer["families"] for job, answer in whole},
        }
    return out


def best_of(areas: dict[str, Area]) -> Area:
    """The larger of the two classifiers that know neither take nor subject."""
    return max(areas["trees"], areas["network"])


def figures_of(answered: Verdicts, errors: dict[str, np.ndarray]) -> list[Figure]:
    figures = []
    for (name, view), result in answered.items():
        for part, areas in result["areas"].items():
            best = best_of(areas)
            same_subject = areas.get("trees (known subject)")
            also = (
                ""
                if same_subject is None
                else f"; trees that know the subject {same_subject.auc:.3f}"
            )
            goal = GOAL if name in OURS and part != "all" and view == "all frequencies" else None
            figures.append(
                Figure(
                    f"{part}, {view}: told-apart AUC, {name}",
                    best.auc,
                    "AUC",
                    lower_is_better=True,
                    value_goal=goal,
                    note=f"[{best.low:.3f}, {best.high:.3f}] over takes; trees "
                    f"{areas['trees'].auc:.3f}, network {areas['network'].auc:.3f}{also}",
                )
            )
            if name in (CONTROL, PIPELINE):
                off = max(best.low - 0.5, 0.5 - best.high, 0.0)
                figures.append(
                    Figure(f"{part}, {view}: bounds of {name} miss 0.5 by", off, "AUC",
                           lower_is_better=True, value_goal=0.0)
                )  # fmt: skip
    figures += [
        Figure(f"all groups: joint error, {name}", float(values.mean()), "cm", lower_is_better=True)
        for name, values in errors.items()
    ]
    return figures


def mean_clues(clues: dict[str, tuple[Clue, ...]]) -> list[tuple[str, float]]:
    """Single features by their AUC, averaged over parts, those that give away most first."""
    values: dict[str, list[float]] = {}
    for some in clues.values():
        for clue in some:
            values.setdefault(clue.name, []).append(clue.auc)
    mean = {name: float(np.mean(each)) for name, each in values.items()}
    return sorted(mean.items(), key=lambda item: -abs(item[1] - 0.5))


def giveaways(answered: Verdicts, count: int = 12) -> dict[str, Answer]:
    """What gives every method away, for the report."""
    out: dict[str, Answer] = {}
    for (name, view), result in answered.items():
        families: dict[str, list[float]] = {}
        for drops in result["families"].values():
            for family, drop in drops.items():
                families.setdefault(family, []).append(drop)
        out[f"{name}, {view}"] = {
            "AUC lost without a family": {
                family: round(float(np.mean(drops)), 3)
                for family, drops in sorted(families.items(), key=lambda item: -np.mean(item[1]))
            },
            "AUC of single features": {
                clue: round(auc, 3) for clue, auc in mean_clues(result["clues"])[:count]
            },
        }
    return out


def mapped(work: Callable[[Task], Result], tasks: Iterable[Task], jobs: int) -> list[Result]:
    """In processes that inherit what is in memory; in this one where there is one job."""
    if jobs == 1:
        return [work(task) for task in tasks]
    with get_context("fork").Pool(jobs) as pool:
        return pool.map(work, tasks, chunksize=1)


def run(options: argparse.Namespace) -> tuple[list[Figure], dict[str, Answer], Verdicts]:
    """All figures, what gives methods away, and areas by method and view."""
    names = tuple(options.methods or [PIPELINE, *METHODS])
    subjects = [subject for some in told_apart_plan()["parts"].values() for subject in some]
    most, folds = (QUICK_EACH, QUICK_FOLDS) if options.quick else (None, FOLDS)
    PLACES[:] = [(subject, fold) for subject in subjects for fold in range(folds)]
    SERIES[:] = [options.series]
    options.series.mkdir(parents=True, exist_ok=True)
    classes = (CAPTURED, CONTROL, *names)
    mapped(synthesized, [(options.series, *place, classes, most) for place in PLACES], options.jobs)
    settings = QUICK if options.quick else Settings()
    parts = list(told_apart_plan()["parts"])
    jobs = [
        Job(name, view, part, -1)
        for name in classes[1:]
        for view in VIEWS
        for part in parts
        if VIEWS[view] is None or name in FILTERED
    ]
    if options.known:
        view = "all frequencies"
        jobs += [Job(n, view, part, k) for n in classes[1:] for part in parts for k in range(folds)]
    answers = mapped(asked, [(job, settings) for job in jobs], options.jobs)
    answered = verdicts(jobs, answers)
    errors = {}
    for name in names:
        files = [file_of(options.series, *place, name) for place in PLACES]
        errors[name] = np.concatenate([np.load(file)["errors"] for file in files])
    return figures_of(answered, errors), giveaways(answered), answered


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few windows and trees: two minutes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--methods", nargs="*", choices=[PIPELINE, *METHODS])
    parser.add_argument("--series", type=Path, help="folder that keeps what methods made")
    parser.add_argument(
        "--known", action="store_true", help="also trees that know other takes of the subject"
    )
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--results", type=Path, help="folder for the results")
    options = parser.parse_args()
    if mocap() is None:
        print("No real clips: set MOTIONLOOM_MOCAP.")
        return 0
    with tempfile.TemporaryDirectory() as home:
        options.series = options.series or Path(home)
        figures, given_away, answered = run(options)
    about = {"protocol": "told_apart.json", "quick": options.quick, "given away by": given_away}
    name = "told_apart_quick" if options.quick else "told_apart"
    where = {"folder": options.results} if options.results else {}
    path = write_report(name, figures, about=about, quiet=True, **where)
    for figure in figures:
        print(f"{figure.value:.3f} {figure.unit}  {figure.name}  {figure.note}")
    print(json.dumps(given_away, indent=1))
    print(path)
    if options.pictures:
        from motionloom.drawing.canvas import save_canvas
        from studies.pictures.told_apart_chart import draw_areas

        options.pictures.mkdir(parents=True, exist_ok=True)
        areas = {
            key: {p: best_of(a) for p, a in each["areas"].items()} for key, each in answered.items()
        }
        save_canvas(draw_areas(areas), options.pictures / "told_apart.png", "png")
    return 1 if any(figure.met is False for figure in figures) else 0


if __name__ == "__main__":
    raise SystemExit(main())
