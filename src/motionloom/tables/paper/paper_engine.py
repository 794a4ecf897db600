"""PaperEngine: transitions of the papers' table, made as the papers make them."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from threading import RLock
from typing import NamedTuple, overload

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.body.anatomy import foot_points
from motionloom.errors import ArrayError
from motionloom.motion.motion import Footplants, Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.paper.plant_queue import FARTHEST, HeldFeet, Track, hold_plants
from motionloom.tables.paper.pose_forms import EDITIONS
from motionloom.tables.paper.time_alignment import RecipeTimes, WarpedTerms
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.natural import Reference
from motionloom.tables.score.recipe import MOST_WAYS, Recipe, rows_at
from motionloom.tables.score.stance import plants_of
from motionloom.tables.score.terms import build_terms, term_source
from motionloom.tables.synthesis.synthesis import keep_true_labels
from motionloom.tables.synthesis.table_check import MARGIN
from motionloom.tables.table_contents import NO_RECIPE, TableHeader
from motionloom.tables.table_places import RESCORED
from motionloom.tables.table_transition import Candidate, Candidates, TableTransition
from motionloom.tables.transition_search import TransitionRequest, late_frames, window_of

_track = kernel("ml_mixture_track")
UP = np.array([0.0, 1.0, 0.0])


class PlayedFrames(NamedTuple):
    """Frames one after the other."""

    heading: FloatArray
    """Radians. (F,)"""
    root: FloatArray
    """Metres. (F, 3)"""
    quats: FloatArray
    """(F, J, 4)"""
    planted: BoolArray
    """(F, 4)"""


class Made(NamedTuple):
    """The frames of a recipe."""

    frames: PlayedFrames
    foot_error: float
    """Mean distance by which feet were moved, metres."""


class PaperEngine:
    """The papers' table with everything at hand that a transition looks up; made by its table.

    Parameters
    ----------
    engine
        Of the same table: lookup, labels, limits of the quality check.
    times
        Time alignment of every recipe.
    header
        How the table was built.
    owner
        The table: pickling and copying the engine keeps the table and builds a new engine.
    """

    def __init__(
        self, engine: QueryEngine, times: RecipeTimes, header: TableHeader, *, owner: object
    ) -> None:
        self.engine, self.times, self.edition = engine, times, header.edition
        self.length, self.ranking = header.length, header.ranking
        self._owner = owner
        self.plants = plants_of(engine.frames)
        self._source = term_source(engine.frames, self.plants, masses=header.masses)
        terms = build_terms(engine.frames, MOST_WAYS, self.length, masses=header.masses)
        self._terms, self._rows = WarpedTerms(terms), [-1] * MOST_WAYS
        self._lock = RLock()

    def __reduce__(self) -> tuple[object, ...]:
        # Large, quick to build, and with a lock: only the table is pickled and copied.
        return attrgetter("paper_engine"), (self._owner,)

    def recipe(self, source: int, target: int) -> Recipe:
        """The cached recipe between the clusters of two windows, with these as source and target.

        The time alignment is that of the representatives, as in [I7]_.

        Returns
        -------
        Recipe
            Its windows, weights and times.
        """
        engine = self.engine
        a, b = engine.end_of(source), engine.end_of(target)
        between = [int(k) for k in engine.arrays.between[a, b, 0] if k < NO_RECIPE]
        rows = (source, *(int(engine.arrays.medoids[k]) for k in between), target)
        times, family = self.times.entry(a, b, len(rows))
        return Recipe(rows, self.length, family, times)

    def columns(self, recipe: Recipe) -> FloatArray32:
        """What is measured of a recipe, see :data:`~motionloom.tables.score.columns.COLUMNS`.

        Returns
        -------
        (C,) array
            One number for each column.
        """
        times = recipe.times
        assert times is not None
        with self._lock:
            for slot, row in enumerate(recipe.rows):
                if self._rows[slot] != row:
                    self._terms.terms.put(self._source, slot, row)
                    self._rows[slot] = row
            return self._terms.score(np.arange(recipe.n_ways), times, recipe.family)

    def cost(self, recipe: Recipe) -> float:
        """What a recipe costs by the papers' sum, inches.

        Returns
        -------
        float
            Inches.
        """
        return float(self.ranking.cost(self.columns(recipe)[None])[0])

    def varied(self, recipe: Recipe, variation: int) -> Recipe:
        """The recipe over other members of the clusters of its intermediaries ([I7]_ section 9).

        Returns
        -------
        Recipe
            Another recipe of the same clusters.
        """
        draw = np.random.Generator(np.random.PCG64([variation, recipe.rows[0], recipe.rows[-1]]))
        between = [int(draw.choice(self.engine.members_of(row))) for row in recipe.rows[1:-1]]
        rows = (recipe.rows[0], *between, recipe.rows[-1])
        return Recipe(rows, recipe.length, recipe.family, recipe.times)


def paper_transition(paper: PaperEngine, request: TransitionRequest) -> TableTransition:
    """A motion from the source's frame to the target's, by the cached recipe, as in the papers.

    Raises
    ------
    TableError
        If a place is not in the collection or its clip is shorter than a window.
    """
    _check_options(request)
    engine, notes = paper.engine, list[str]()
    source = window_of(engine, request.source, notes, leaving=True)
    if request.target is None:
        assert request.label is not None
        target = int(engine.labels.of(request.label, engine.end_of(source))[0])
    else:
        target = window_of(engine, request.target, notes, leaving=False)
    recipe = cached = paper.recipe(source, target)
    if request.variation is not None:
        recipe = paper.varied(cached, int(request.variation))
        if recipe.rows == cached.rows:
            notes.append("not varied: this number draws the intermediaries of the cached recipe")
    variation = None if recipe.rows == cached.rows else request.variation
    taken_s = recipe.n_frames / engine.frames.fps
    if request.longest_s is not None and taken_s > request.longest_s:
        notes.append(f"the cached recipe takes {taken_s:.2f} s, more than {request.longest_s:g} s")
    blend = make_recipe(paper, recipe)
    result = _assembled(paper, recipe, blend, (request.lead_s, request.follow_s), tuple(notes))
    earliest, late = late_frames(engine, request, np.array([target]), target)
    return replace(result, variation=variation, late=late, earliest=earliest)


def _check_options(request: TransitionRequest) -> None:
    """Refuse options that choose among candidates: an entry of the papers' table has one recipe."""
    for name, allowed in (
        ("search", (False,)),
        ("tolerance_s", (0,)),
        ("rescore", (RESCORED, 0)),
        ("still_feet", (False,)),
    ):
        value = getattr(request, name)
        if value not in allowed:
            raise ArrayError(
                f"`{name}` must be {' or '.join(map(str, allowed))} for the papers' table, which "
                f"has one recipe for each pair of clusters, got {value!r}. Build a table with "
                'method="default" to use it.'
            )


def make_recipe(paper: PaperEngine, recipe: Recipe) -> Made:
    """Frames of a recipe: poses of the edition, then feet where the queue has them."""
    engine, frames = paper.engine, paper.engine.frames
    at, weights = rows_at(frames, recipe), recipe.weights()
    heading, root = np.zeros(len(at)), np.zeros((len(at), 3))
    _track(
        engine.rows.record, len(at), at.shape[1], np.ascontiguousarray(at), weights, heading, root
    )
    pose = EDITIONS[paper.edition](frames, recipe, rows=engine.rows)
    quats = np.array(pose.quats)
    quats[:, 0] = _turned(heading, quats[:, 0])
    held: HeldFeet = hold_plants(
        frames, (engine.rows, engine.rig, paper.plants), at, weights, Track(heading, root),
        quats, farthest=FARTHEST[paper.edition],
    )  # fmt: skip
    return Made(PlayedFrames(heading, held.root, held.quats, held.planted), held.error)


def _turned(heading: FloatArray, quats: FloatArray) -> FloatArray:
    """Rotations (L, 4) turned about the up axis by headings (L,)."""
    cos, sin = np.cos(0.5 * heading), np.sin(0.5 * heading)
    w, x, y, z = quats.T
    return np.stack([cos * w - sin * y, cos * x + sin * z, cos * y + sin * w, cos * z - sin * x], 1)


def _assembled(
    paper: PaperEngine,
    recipe: Recipe,
    blend: Made,
    around_s: tuple[float, float],
    decided: tuple[str, ...],
) -> TableTransition:
    """The result, with the clips before and after it where they are wanted."""
    engine, frames = paper.engine, paper.engine.frames
    ends = recipe.rows[0], recipe.rows[-1] + paper.length - 1
    seen, before = played_between(frames, blend.frames, ends, (MARGIN, MARGIN))
    clips = sorted({frames.clip_at(row) for row in recipe.rows})
    checked = engine.check.motion(
        seen.root, seen.quats, seen.heading, seen.planted,
        (before, before + recipe.n_frames - 1), clips,
    )  # fmt: skip
    lead, follow = (round(min(s * frames.fps, frames.n_rows)) for s in around_s)
    played, before = played_between(frames, blend.frames, ends, (lead, follow))
    ids = [frames.ids[frames.clip_at(row)] for row in recipe.rows]
    name = f"{ids[0]} to {ids[-1]}"
    motion = Motion(frames.skeleton, played.root, played.quats, frames.fps, name=name)
    planted = np.array(played.planted)
    if lead or follow:  # clips move points that they label as planted
        keep_true_labels(foot_points(motion, body=frames.body_map), frames.fps, planted)
    return TableTransition(
        motion,
        Footplants(planted),
        (before, before + recipe.n_frames - 1),
        recipe,
        PaperCandidates(recipe, paper),
        decided,
        paper.columns(recipe),
        blend.foot_error,
        tuple(dict.fromkeys(ids)),
        frames,
        checked,
    )


def played_between(
    frames: Frames, blend: PlayedFrames, places: tuple[int, int], counts: tuple[int, int]
) -> tuple[PlayedFrames, int]:
    """Made frames with captured ones before and after, and how many come before.

    Parameters
    ----------
    frames
        The collection.
    blend
        The first frame is a row of the collection, and so is the last.
    places
        Those two rows.
    counts
        Frames before and after, as far as the clips have them.
    """
    (first, last), (lead, follow) = places, counts
    clips = frames.clip_at(first), frames.clip_at(last)
    before = np.arange(max(first - lead, int(frames.starts[clips[0]])), first)
    after = np.arange(last + 1, min(last + 1 + follow, int(frames.starts[clips[1] + 1])))
    parts = [
        _moved_rows(frames, before, first, blend, 0),
        blend,
        _moved_rows(frames, after, last, blend, -1),
    ]
    joined = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return PlayedFrames(*joined), len(before)


def _moved_rows(
    frames: Frames, rows: IntArray, joint: int, blend: PlayedFrames, end: int
) -> PlayedFrames:
    """Captured rows moved rigidly so that row ``joint`` is the first or last made frame."""
    turn = float(blend.heading[end] - frames.heading[joint])
    cos, sin = np.cos(turn), np.sin(turn)
    x, z = (frames.ground[rows] - frames.ground[joint]).T
    root = np.stack(
        [
            blend.root[end, 0] + cos * x + sin * z,
            frames.body[rows, 0, 1].astype(np.float64),
            blend.root[end, 2] + cos * z - sin * x,
        ],
        axis=1,
    )
    heading = frames.heading[rows] + turn
    quats = quat.normalize(frames.quats[rows].astype(np.float64))
    quats[:, 0] = quat.multiply(quat.from_axis_angle(UP, heading), quats[:, 0])
    return PlayedFrames(heading, root, quats, np.asarray(frames.planted[rows]))


class PaperCandidates(Candidates):
    """The one recipe of an entry of the papers' table."""

    form = "paper"

    def __init__(self, recipe: Recipe, engine: PaperEngine) -> None:
        self._recipe, self._paper = recipe, engine

    def __len__(self) -> int:
        return 1

    def __reduce__(self) -> tuple[object, ...]:
        return PaperCandidates, (self._recipe, self._paper)

    def reference(self, recipe: Recipe) -> Reference:
        """How the source and the target of a recipe move: the scale of naturalness."""
        return self._paper.engine.reference(recipe.rows)

    @overload
    def __getitem__(self, at: int) -> Candidate: ...

    @overload
    def __getitem__(self, at: slice) -> list[Candidate]: ...

    def __getitem__(self, at: int | slice) -> Candidate | list[Candidate]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(1))]
        if at not in (0, -1):
            raise IndexError("The papers' table has one recipe of a pair.")
        columns = self._paper.columns(self._recipe)
        cost = float(self._paper.ranking.cost(columns[None])[0])
        measured = dict(zip(COLUMNS, columns.tolist(), strict=True))
        return Candidate(self._recipe, cost, measured)
