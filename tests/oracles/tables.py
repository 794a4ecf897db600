"""Recipes of a table as slots and as rows, and made frames between captured ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.features.checks.verification import MOST_FOUND, SLIP
from motionloom.rotation import quat
from motionloom.tables.choice import Choice, frames_of, new_frames, synthesis_of
from motionloom.tables.query_engine import TRIES, QueryEngine
from motionloom.tables.synthesis.synthesis import Rows, Synthesis
from motionloom.tables.synthesis.table_check import Checked
from motionloom.tables.table_contents import NO_RECIPE, NO_WINDOW
from tests.oracles.quat import multiply

Between = npt.NDArray[np.uint8]
UP = np.array([0.0, 1.0, 0.0])

_synthesize = kernel("ml_table_make")
_check = kernel("ml_table_check")


def recipes_of(between: Between) -> list[list[int]]:
    """Intermediaries of the recipes (R, 2) that there are."""
    count = next((r for r, pair in enumerate(between) if pair[0] == NO_RECIPE), len(between))
    return [[int(m) for m in pair if m != NO_WINDOW] for pair in between[:count]]


def fill_rows(between: Between, medoids: IntArray, source: int, target: int) -> list[list[int]]:
    """First rows of the windows of recipes, the plain blend last."""
    over = [[int(medoids[m]) for m in recipe] for recipe in recipes_of(between)]
    return [[source, *recipe, target] for recipe in [*over, []]]


def fill_slots(
    between: Between, n_medoids: int, ends: IntArray, n_captured: int, share: int
) -> list[list[int]]:
    """Slots of the windows of recipes from one window to others."""
    found = []
    for n in range(len(ends) - 1):
        target = n_medoids + 1 + n * (1 + n_captured)
        captured = [[target + 1 + m] for m in range(n_captured)]
        stored = [over for over in recipes_of(between[ends[0], ends[1 + n], :share]) if over]
        found += [[n_medoids, *over, target] for over in [*captured, [], *stored]]
    return found


def captured_rows(
    rows: Rows, wanted: IntArray, meets: int, heading: float, root: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Headings, roots and rotations of rows, moved so that one of them is at a heading and root."""
    turn = heading - rows.heading[meets]
    c, s = np.cos(turn), np.sin(turn)
    x, z = (rows.ground[wanted] - rows.ground[meets]).T
    roots = np.stack(
        [root[0] + c * x + s * z, rows.body[wanted, 0, 1], root[2] + c * z - s * x], axis=1
    )
    headings = rows.heading[wanted] + turn
    quats = quat.normalize(rows.quats[wanted].astype(np.float64))
    quats[:, 0] = multiply(quat.from_axis_angle(UP, headings), quats[:, 0])
    return headings, roots, quats


def same_signs(quats: FloatArray, before: FloatArray) -> FloatArray:
    """Rotations with the signs that are nearer to those of the frame before."""
    return np.where(np.sum(quats * before, axis=-1, keepdims=True) < 0.0, -quats, quats)


def synthesize(engine: QueryEngine, windows: tuple[int, ...], *, feet: bool = True) -> Synthesis:
    """Frames of one recipe, by the core."""
    frames, errors = new_frames(engine.length, engine.rows.record.n_joints), np.zeros(2)
    given = np.array(windows, dtype=np.int64)
    _synthesize(engine.record, len(given), given, feet, frames, errors)
    return synthesis_of(frames, errors)


def check(engine: QueryEngine, synthesis: Synthesis, windows: tuple[int, ...]) -> Checked:
    """The quality check of a recipe's frames, with captured frames before and after them."""
    failed, n_failed = np.zeros((MOST_FOUND, 5)), np.zeros(1, dtype=np.int64)
    given, frames = np.array(windows, dtype=np.int64), frames_of(synthesis)
    engine.measuring(lambda: _check(engine.record, len(given), given, frames, failed, n_failed))
    return Checked(failed[: n_failed[0]], engine.check.check_rig, engine.frames.skeleton.names)


def synthesize_best(
    engine: QueryEngine, choice: Choice
) -> tuple[tuple[int, ...], bool, FloatArray]:
    """Windows of the recipe that is taken, whether its feet are held, and what fails in it."""
    tried: list[tuple[float, tuple[int, ...], bool, FloatArray]] = []

    def passes(windows: tuple[int, ...], *, feet: bool) -> bool:
        checked = check(engine, synthesize(engine, windows, feet=feet), windows)
        tried.append((checked.badness, windows, feet, checked.failures))
        return checked.passed

    first = choice.windows(0)
    if passes(first, feet=True):
        return tried[-1][1:]
    others = [each for each in engine.score(choice.all_windows()).all_windows() if each != first]
    if any(passes(windows, feet=True) for windows in others[: TRIES - 1]):
        return tried[-1][1:]
    if SLIP not in tried[0][3][:, 0] and passes(first, feet=False):
        return tried[-1][1:]
    return min(tried, key=lambda each: each[0])[1:]
