"""Masses fitted to how a collection keeps its balance."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial import ConvexHull

import motionloom as ml
from motionloom.body.anatomy import TIP_BEFORE_BALL, foot_points, stature
from motionloom.body.masses import mass_segments
from motionloom.errors import ArrayError
from motionloom.features.balance import HALF_WIDTH
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import score_recipes
from motionloom.tables.score.mass_fit import _least_squares, _rounded, fit_frames, support_misses
from motionloom.tables.score.terms import terms_of


@pytest.fixture(scope="module")
def frames():
    clips = [ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "sneak")]
    return frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "sneak"],
        footplants=[clip.footplants for clip in clips],
    )


@pytest.fixture(scope="module")
def fit(frames):
    return fit_frames(frames)


def test_fitted_masses_sum_to_one_and_are_the_same_on_both_sides(frames, fit):
    names = mass_segments(frames.skeleton.n_joints, frames.body_map).names
    mass = dict(zip(names, fit.masses, strict=True))
    assert fit.masses.sum() == pytest.approx(1.0)
    for name in names:
        if name.startswith("left_"):
            assert mass[name] == mass[name.replace("left_", "right_")]
    assert (fit.masses > 0.0).all()


def test_fitted_masses_have_six_decimals_that_sum_to_one(fit):
    """More would differ between machines, whose BLAS and LAPACK round differently."""
    units = np.array([int(f"{mass * 1e6:.0f}") for mass in fit.masses])
    assert np.array_equal(fit.masses, units / 1e6)
    assert units.sum() == 1_000_000


@pytest.mark.parametrize("seed", range(20))
def test_rounded_masses_keep_their_sum_and_are_the_same_on_both_sides(seed):
    groups = np.array([0, 1, 2, 3, 4, 5, 4, 5])
    masses = np.random.default_rng(seed).uniform(0.05, 0.2, 6)[groups]
    masses /= masses.sum()
    rounded = _rounded(masses, groups)
    assert np.array_equal(rounded[4:6], rounded[6:8])
    assert int((rounded * 1e6).round().sum()) == 1_000_000
    assert np.abs(rounded - masses).max() < 5e-6
    assert np.abs(rounded - masses)[4:].max() < 0.51e-6
    assert np.array_equal(_rounded(masses * (1.0 + 1e-13), groups), rounded)


def test_the_fit_misses_the_support_by_less(frames, fit):
    assert fit.after < fit.before
    misses = support_misses(frames, fit.masses)
    assert np.sqrt(np.mean(misses**2)) == pytest.approx(fit.after)


def test_misses_are_those_of_a_body_that_is_pushed_along():
    """A rigid body under an even acceleration: its zero moment point is known in closed form."""
    stand = ml.synthetic.clip("stand", life=0.0, duration_s=1.0).motion
    time = np.arange(stand.n_frames) / stand.fps
    push = np.array([1.5, -2.0, -2.5])
    root = stand.root_positions[:1] + 0.5 * time[:, None] ** 2 * push
    moved = stand.replace(root_positions=root, local_quats=stand.local_quats[[0] * len(root)])
    both = ml.Footplants(np.ones((len(root), 4), dtype=bool))
    frames = frames_of([moved], footplants=[both])
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    half = 7  # an eighth of a second at 60 frames a second
    com = segments.centre(moved.world_positions())[half:-half]
    zmp = com[:, [0, 2]] - com[:, 1:2] * push[[0, 2]] / (9.81 + push[1])
    points = foot_points(moved)
    tall = stature(frames.skeleton, frames.body_map)
    corners = []
    for heel, ball in (points[:, :2].mean(axis=0), points[:, 2:].mean(axis=0)):
        ahead = (ball - heel)[[0, 2]] / np.linalg.norm((ball - heel)[[0, 2]])
        across = HALF_WIDTH * tall * np.array([-ahead[1], ahead[0]])
        for end in (-np.linalg.norm(ball - heel), TIP_BEFORE_BALL * tall):
            corners += [ball[[0, 2]] + end * ahead + side * across for side in (-1.0, 1.0)]
    hull = np.array(corners)[ConvexHull(corners).vertices]
    edge = np.roll(hull, -1, axis=0) - hull
    away = zmp[:, None] - hull
    part = np.clip((away * edge).sum(axis=-1) / (edge**2).sum(axis=-1), 0.0, 1.0)
    expected = np.linalg.norm(away - part[..., None] * edge, axis=-1).min(axis=1)
    inside = (edge[:, 0] * away[..., 1] - edge[:, 1] * away[..., 0] >= 0.0).all(axis=1)
    misses = support_misses(frames, segments.masses)
    assert misses == pytest.approx(np.where(inside, 0.0, expected), abs=1e-5)
    assert misses.max() > 0.2


def test_frames_in_flight_or_without_a_plant_are_not_counted():
    stand = ml.synthetic.clip("stand", life=0.0, duration_s=1.0).motion
    planted = np.ones((stand.n_frames, 4), dtype=bool)
    planted[20:30] = False
    frames = frames_of([stand], footplants=[ml.Footplants(planted)])
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    assert len(support_misses(frames, segments.masses)) == stand.n_frames - 14 - 10
    with pytest.raises(ArrayError, match="on planted feet, at least an eighth of a second from"):
        support_misses(frames_of([stand[:14]]), segments.masses)
    assert len(support_misses(frames_of([stand[:15]]), segments.masses)) == 1


@pytest.mark.parametrize(("frame", "enough"), [(6, False), (7, True), (52, True), (53, False)])
def test_one_frame_on_planted_feet_is_enough_away_from_the_ends(frame, enough):
    """At 60 frames a second, an eighth of a second from both ends of 60 frames."""
    stand = ml.synthetic.clip("stand", life=0.0, duration_s=1.0).motion[:60]
    planted = np.zeros((60, 4), dtype=bool)
    planted[frame] = True
    frames = frames_of([stand], footplants=[ml.Footplants(planted)])
    masses = mass_segments(frames.skeleton.n_joints, frames.body_map).masses
    if enough:
        assert len(support_misses(frames, masses)) == 1
        return
    with pytest.raises(ArrayError, match="at least an eighth of a second from both ends"):
        support_misses(frames, masses)


def test_stronger_ties_stay_nearer_to_winter(frames, fit):
    winter = mass_segments(frames.skeleton.n_joints, frames.body_map).masses
    firm = fit_frames(frames, strength=50.0)
    assert np.abs(firm.masses / winter - 1.0).max() < np.abs(fit.masses / winter - 1.0).max()


def test_terms_can_have_the_fitted_masses(frames, fit):
    rows = [20, 60]
    plain, fitted = terms_of(frames, rows, 30), terms_of(frames, rows, 30, masses=fit.masses)
    here, there = score_recipes(plain, [[0, 1]]), score_recipes(fitted, [[0, 1]])
    assert here[0, 0] == there[0, 0]
    assert not np.array_equal(here, there)


def test_weak_ties_are_refused(frames):
    with pytest.raises(ArrayError, match="`strength` must be at least 1"):
        fit_frames(frames, strength=0.1)


def test_clips_without_a_planted_foot_are_refused():
    stand = ml.synthetic.clip("stand", duration_s=1.0).motion
    never = ml.Footplants(np.zeros((stand.n_frames, 4), dtype=bool))
    with pytest.raises(ArrayError, match="on planted feet"):
        fit_frames(frames_of([stand], footplants=[never]))


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    clips = tmp_path_factory.mktemp("masses") / "clips"
    clips.mkdir()
    for kind in ("walk", "sneak"):
        ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=30).motion, clips / f"{kind}.bvh")
    return ml.Collection.ingest(clips, fps=30)


def test_masses_of_a_collection_are_fitted_stored_and_built_with(lib, tmp_path):
    fit = ml.fit_masses(lib)
    assert fit.after < fit.before
    assert not fit.masses.flags.writeable
    fit.save(tmp_path / "masses.csv")
    stored = ml.read_masses(tmp_path / "masses.csv")
    assert np.array_equal(stored, fit.masses)
    table = ml.build_table(
        lib, out=tmp_path / "t.mlt", length_s=0.5, clusters=3, masses=stored, progress=False
    )
    assert np.array_equal(table.header.masses, fit.masses)


def test_masses_are_fitted_to_the_clips_that_are_named(lib):
    walk, sneak = (lib.frames.ids.index(kind) for kind in ("walk", "sneak"))
    alone = ml.fit_masses(lib, clips=["sneak"])
    assert np.array_equal(alone.masses, fit_frames(lib.frames, clips=(sneak,)).masses)
    assert not np.array_equal(alone.masses, fit_frames(lib.frames, clips=(walk,)).masses)
    for wrong in (["jog"], [], [3], "sneak"):
        with pytest.raises(ArrayError, match="`clips` must be"):
            ml.fit_masses(lib, clips=wrong)


def test_a_motion_is_scored_with_masses_that_are_given(frames, fit):
    clip = ml.synthetic.clip("walk", duration_s=2.0)
    plain, fitted = ml.score(clip), ml.score(clip, masses=fit.masses)
    assert fitted.foot_plant == plain.foot_plant
    assert fitted.zmp_mean != plain.zmp_mean
    winter = mass_segments(frames.skeleton.n_joints, frames.body_map).masses
    assert ml.score(clip, masses=3.0 * winter).total == pytest.approx(plain.total)


@pytest.mark.parametrize("masses", [[0.5, 0.5], np.zeros(16), [1e308] * 16])
def test_masses_that_are_none_are_refused(masses):
    with pytest.raises(ArrayError, match="16 positive parts of body mass"):
        ml.score(ml.synthetic.clip("walk", duration_s=2.0), masses=masses)


@pytest.mark.parametrize("seed", range(6))
def test_a_fit_is_as_good_as_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    slopes, wanted = rng.normal(size=(30, 4)), rng.normal(size=30)

    def residuals(x):
        return np.abs(slopes @ x - wanted) + 0.1 * x[0] * x[1]

    ours = _least_squares(residuals, np.ones(4), 0.2)
    theirs = least_squares(residuals, np.ones(4), bounds=(0.2, np.inf))
    assert (ours >= 0.2).all()
    assert np.sum(residuals(ours) ** 2) <= 1.001 * np.sum(theirs.fun**2)


def test_frames_on_the_first_plant_of_all_are_counted():
    stand = ml.synthetic.clip("stand", life=0.0, duration_s=1.0).motion
    planted = np.zeros((stand.n_frames, 4), dtype=bool)
    planted[:, :2] = True  # one foot, whose plant has number 0
    frames = frames_of([stand], footplants=[ml.Footplants(planted)])
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    assert len(support_misses(frames, segments.masses)) == stand.n_frames - 14
