"""register(): what it accepts, what it reports, and what it refuses."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.edit import transform
from motionloom.registration.curve import SCHEMA, Spline, roots_at
from motionloom.registration.many_clips import Edge, _cropped, cheapest_tree
from motionloom.registration.register import _mean_spacing
from motionloom.registration.timewarp import TimePath, distance_grid, find_open_path
from motionloom.rotation.quat import PlanarTransform

WALK = ml.synthetic.clip("walk", duration_s=2.5).motion
TURN = ml.synthetic.clip("walk", turn=0.7, duration_s=2.5).motion
JOG = ml.synthetic.clip("jog", duration_s=2.5).motion


def test_open_ends_find_the_part_that_two_cuts_share():
    whole = ml.synthetic.clip("walk", turn=1.0, duration_s=5.0).motion
    curve = ml.register([whole[:220], whole[60:]])
    frames = curve.frames(np.linspace(*curve.u_range, 30))
    assert np.abs(frames[:, 0] - frames[:, 1] - 60.0).max() < 4.0
    assert curve.costs[1] < 0.01


def test_matched_ends_meet_both_corners():
    curve = ml.register([WALK, TURN], ends="match")
    ends = curve.frames(np.array(curve.u_range))
    assert ends[0].tolist() == [0.0, 0.0]
    assert np.abs(ends[1] - [WALK.n_frames - 1, TURN.n_frames - 1]).max() < 2.0


def test_a_curve_goes_through_the_pair_it_was_given():
    curve = ml.register([WALK, TURN], at=(80, 90))
    u = curve.u_of(0, 80)
    assert abs(curve.frames(u)[1] - 90) < 3.0


def test_pins_are_kept():
    pins = [(20, 25), (70, 68), (120, 124)]
    curve = ml.register([WALK, TURN], ends="match", pins=pins)
    for a, b in pins:
        assert abs(curve.frames(curve.u_of(0, a))[1] - b) < 0.5


def test_parameters_and_frames_undo_each_other():
    curve = ml.register([WALK, TURN, JOG])
    u = np.linspace(*curve.u_range, 11)
    for k in range(3):
        assert np.abs(curve.u_of(k, curve.frames(u)[:, k]) - u).max() < 1e-6
    assert np.isnan(curve.u_of(0, -5.0)) and np.isnan(curve.u_of(0, 1e6))


def test_frames_of_every_motion_increase():
    curve = ml.register([WALK, TURN, JOG])
    frames = curve.frames(np.linspace(*curve.u_range, 500))
    assert np.diff(frames, axis=0).min() > 0.0


def test_plants_are_matched_kind_by_kind():
    curve = ml.register([WALK, TURN], ends="match")
    assert all(len(matches) >= 2 for matches in curve.matches.values())


def test_another_rate_is_resampled_and_reported():
    curve = ml.register([WALK, ml.resample(TURN, fps=30)])
    assert curve.motions[1].fps == WALK.fps
    assert any("resampled" in note for note in curve.notes)


def test_other_skeletons_are_refused_with_the_joints_that_differ():
    names = (*WALK.skeleton.names[:-1], "Tail")
    other = WALK.replace(skeleton=dataclasses.replace(WALK.skeleton, names=names))
    with pytest.raises(ml.SkeletonMismatchError, match=r"Tail.*Leave out match=False"):
        ml.register([WALK, other], match=False)
    curve = ml.register([WALK, other])
    assert any("another skeleton: retargeted" in note for note in curve.notes)


@pytest.mark.parametrize(
    ("motions", "options", "error", "text"),
    [
        ([WALK], {}, ml.ArrayError, "two or more motions, got 1"),
        ([WALK, TURN], {"ends": "loose"}, ml.ArrayError, "'open' or 'match'"),
        ([WALK, TURN, JOG], {"at": (3, 3)}, ml.ArrayError, "for two motions"),
        ([WALK, TURN], {"at": (3, 9999)}, ml.ArrayError, "9999 is not in motion 1"),
        ([WALK, TURN[:2]], {}, ml.RegistrationError, "three are the least"),
        ([WALK, TURN[:20]], {"ends": "match"}, ml.RegistrationError, "at most 4 times as long"),
        ([WALK, TURN], {"pins": [(50, 50), (40, 60)]}, ml.RegistrationError, "go forward"),
        ([WALK, TURN], {"footplants": []}, ml.ArrayError, "one entry per clip"),
    ],
)
def test_what_cannot_be_registered_is_refused_clearly(motions, options, error, text):
    with pytest.raises(error, match=text):
        ml.register(motions, **options)


def test_curves_are_saved_whole_and_read_back_the_same(tmp_path):
    curve = ml.register([WALK, TURN, JOG])
    curve.save(tmp_path / "a.mlr")
    again = ml.RegistrationCurve.load(tmp_path / "a.mlr")
    again.save(tmp_path / "b.mlr")
    assert (tmp_path / "a.mlr").read_bytes() == (tmp_path / "b.mlr").read_bytes()
    here, there = (ml.blend(c, [0.2, 0.3, 0.5]).motion for c in (curve, again))
    assert np.array_equal(here.local_quats, there.local_quats)


def test_a_damaged_curve_file_is_refused(tmp_path):
    curve = ml.register([WALK, TURN])
    path = tmp_path / "a.mlr"
    curve.save(path)
    data = path.read_bytes()
    for cut in range(0, len(data), max(1, len(data) // 40)):
        path.write_bytes(data[:cut])
        with pytest.raises(ml.FormatError, match=r"a\.mlr"):
            ml.RegistrationCurve.load(path)
    newer = data.replace(f'"schema": {SCHEMA}'.encode(), b'"schema": 9')
    path.write_bytes(newer)
    with pytest.raises(ml.FormatError):
        ml.RegistrationCurve.load(path)
    with pytest.raises(ml.FormatError, match="no such file"):
        ml.RegistrationCurve.load(tmp_path / "none.mlr")


def test_the_parameter_starts_at_zero_where_all_first_frames_are():
    curve = ml.register([WALK, TURN], ends="match")
    first, last = curve.u_range
    assert first == 0.0
    assert last == pytest.approx(0.5 * (WALK.n_frames + TURN.n_frames) - 1.0, abs=2.0)


def test_what_three_cuts_share_is_used_to_its_last_frame():
    curve = ml.register([WALK, WALK[:130], WALK[:110]])
    ends = curve.frames(np.array(curve.u_range))
    assert np.abs(ends[0]).max() < 1.0
    assert ends[1, 2] == pytest.approx(108.0)  # every second frame is compared
    assert np.abs(ends[1] - 108.0).max() < 3.0


def test_clips_of_a_high_rate_are_compared_at_a_lower_one(monkeypatch):
    from motionloom.registration import timewarp as module

    sizes = []

    def watched(a, b, *given, **named):
        sizes.append((len(a), len(b)))
        return distance_grid(a, b, *given, **named)

    monkeypatch.setattr(module, "distance_grid", watched)
    fine = ml.resample(WALK, fps=120.0)
    ml.register([fine, fine[:250]])
    assert sizes and max(max(size) for size in sizes) <= 2.5 * module.GRID_RATE + 1


def test_files_keep_the_number_of_their_layout(tmp_path):
    # A file that is on disk somewhere says 1: other numbers need a reader for the old ones.
    ml.register([WALK, TURN]).save(tmp_path / "a.mlr")
    assert b'"schema": 1,' in (tmp_path / "a.mlr").read_bytes()


@pytest.mark.parametrize(
    "odd", [{"pins": 5}, {"pins": None}, {"reference": 5}, {"reference": -1}, {"reference": True}]
)
def test_pins_and_reference_are_checked_for_two_motions_as_for_more(odd):
    with pytest.raises(ml.errors.ArrayError, match=next(iter(odd))):
        ml.register([WALK, JOG], **odd)


def test_either_of_two_motions_can_be_the_reference():
    slow, fast = (ml.synthetic.clip("walk", speed=speed).motion for speed in (1.1, 1.5))
    pins = [(20, 15), (90, 66)]
    first = ml.register([slow, fast], pins=pins, at=(50, 38))
    second = ml.register([slow, fast], pins=pins, at=(50, 38), reference=1)
    other_way = ml.register([fast, slow], pins=[(b, a) for a, b in pins], at=(38, 50))
    assert (first.reference, second.reference) == (0, 1)
    assert second.alignment[1] is None and second.alignment[0] is not None
    assert second.costs[1] == 0.0 < second.costs[0]
    assert np.array_equal(second.times.points, other_way.times.points[:, ::-1])
    assert np.array_equal(second.alignment[0].points, other_way.alignment[1].points)
    # The same frames belong together, whichever motion stays where it is.
    ends = second.frames(np.array(second.u_range))
    assert np.abs(ends - first.frames(np.array(first.u_range))).max() < 6.0
    u = 0.5 * second.u_range[1]
    to_reference = second.alignments(u)
    assert to_reference.theta[1] == to_reference.x0[1] == to_reference.z0[1] == 0.0


@pytest.mark.parametrize("reference", [0, 1])
def test_a_blend_stands_where_its_reference_does(reference):
    slow, fast = (ml.synthetic.clip("walk", speed=speed).motion for speed in (1.1, 1.5))
    moved = fast.replace(root_positions=fast.root_positions + np.array([5.0, 0.0, -3.0]))
    curve = ml.register([slow, moved], reference=reference)
    weights = [0.0, 1.0] if reference else [1.0, 0.0]
    blended = ml.blend(curve, weights).motion
    start = curve.motions[reference].root_positions[round(float(curve.frames(0.0)[reference]))]
    assert np.linalg.norm((blended.root_positions[0] - start)[[0, 2]]) < 0.05


def diagonal(first, last, ahead=0):
    """A path from one frame of the reference to another, its motion some frames ahead."""
    rows = np.arange(first, last + 1)
    return TimePath(np.stack([rows, rows + ahead], axis=-1), 0.0)


def test_paths_are_cropped_to_what_all_of_them_share():
    cost = np.abs(np.subtract.outer(np.arange(20), np.arange(20))) + 1.0
    settings = SimpleNamespace(slope_limit=2)

    class Grids:
        clips = [SimpleNamespace(points=np.zeros(20))] * 3
        rate = 30.0
        names = ("clip A", "clip B", "clip C")

        def __call__(self, parent, child):
            return SimpleNamespace(cost=cost)

    near, far, chained = Edge(2, 0), Edge(2, 1), Edge(0, 1)
    found = _cropped(Grids(), {near: diagonal(0, 9), far: diagonal(7, 15, ahead=3)}, 2, settings)
    assert found[near].cells.tolist() == [[7, 7], [8, 8], [9, 9]]
    assert found[near].cost == 3.0
    assert found[far].cells.tolist() == [[7, 10], [8, 11], [9, 12]]
    assert found[far].cost == 12.0
    # Through another clip: what is 2 ahead of the reference there is 5 ahead in the last.
    paths = {near: diagonal(2, 15, ahead=2), chained: diagonal(6, 12, ahead=3)}
    found = _cropped(Grids(), paths, 2, settings)
    assert found[near].cells[[0, -1]].tolist() == [[4, 6], [10, 12]]
    assert found[chained].cells[[0, -1]].tolist() == [[6, 9], [12, 15]]
    for last in (8, 7, 6, 3):  # one step in common, one frame, none
        with pytest.raises(ml.RegistrationError, match=r"no part in common.* (clip B|clip C)"):
            _cropped(Grids(), {near: diagonal(0, last), far: diagonal(7, 15)}, 2, settings)


def test_clips_are_reached_through_those_they_are_like():
    rng = np.random.Generator(np.random.PCG64(7))
    points = rng.normal(size=(12, 2))
    cost = np.linalg.norm(points[:, None] - points[None], axis=-1)
    for root in (0, 5, 11):
        edges = cheapest_tree(cost, root)
        reached = {root}
        for parent, child in edges:
            assert parent in reached and child not in reached
            reached.add(child)
        assert len(reached) == 12
        # No pair outside the tree is cheaper than the dearest on its way through the tree.
        parents = {child: parent for parent, child in edges}

        def way(k, parents=parents):
            return [k] if k not in parents else [k, *way(parents[k])]

        for a in range(12):
            for b in range(a):
                ways = way(a), way(b)
                shared = set(ways[0]) & set(ways[1])
                steps = [(k, parents[k]) for each in ways for k in each if k not in shared]
                assert max(cost[step] for step in steps) <= cost[a, b] + 1e-12


def test_a_chain_of_speeds_is_registered_as_well_as_its_neighbours():
    # Slow and fast are far apart; each is near to the next. The middle one is the reference.
    clips = [ml.synthetic.clip("walk", speed=v, duration_s=3.0) for v in (0.8, 1.1, 1.4, 1.7, 2.0)]
    plants = [clip.footplants for clip in clips]
    curve = ml.register([clip.motion for clip in clips], footplants=plants)
    assert curve.reference in (1, 2, 3)
    spread = [
        np.ptp(np.array(match.intervals)[:, 0])
        for matches in curve.matches.values()
        for match in matches
        if np.array(match.intervals)[:, 0].min() > 0.0
    ]
    assert np.median(spread) < 4.0


def two_diagonals(ahead, dear):
    """A short diagonal of cost 1 and the whole one of another, amid cells that cost much."""
    cost = np.full((40, 40), 50.0)
    np.fill_diagonal(cost, dear)
    np.fill_diagonal(cost[:, ahead:], 1.0)
    return cost


@pytest.mark.parametrize(
    ("keywords", "ahead", "dear", "is_long"),
    [
        # Gains are 28 (reach - 1) on the short one and 40 (reach - dear) on the long one.
        ({}, 12, 1.2, True),
        ({}, 12, 1.4, False),
        ({"reach": 4.0}, 12, 1.8, True),
        ({"reach": 4.0}, 12, 2.0, False),
        # Of 40 frames, 24 must be covered.
        ({}, 16, 9.0, False),
        ({}, 17, 9.0, True),
        ({"cover": 0.2}, 32, 9.0, False),
        ({"cover": 0.2}, 33, 9.0, True),
    ],
)
def test_an_open_path_is_cheap_or_long(keywords, ahead, dear, is_long):
    found = find_open_path(two_diagonals(ahead, dear), **keywords)
    expected = diagonal(0, 39) if is_long else diagonal(0, 39 - ahead, ahead=ahead)
    assert found.cells.tolist() == expected.cells.tolist()
    assert found.cost == pytest.approx(len(expected.cells) * (dear if is_long else 1.0))


def test_an_open_path_covers_its_part_of_the_shorter_clip():
    """Of clips of 40 and 60 frames, 24 must be covered; the cheap diagonal has 30."""
    cost = np.full((40, 60), 50.0)
    np.fill_diagonal(cost, 9.0)
    np.fill_diagonal(cost[:, 30:], 1.0)
    for turned in (cost, cost.T):
        found = find_open_path(turned)
        assert len(found.cells) == 30
        assert found.cost == pytest.approx(30.0)


@pytest.mark.parametrize(
    "cost",
    [
        # The cheapest cells lie in the corner where A ends and B begins, then in both such corners.
        2.0 - np.abs(np.subtract.outer(np.arange(30), np.arange(30))) / 30,
        1.0 + np.abs(np.add.outer(np.arange(30), np.arange(30)) - 29.0) / 30,
        np.random.Generator(np.random.PCG64(3)).uniform(size=(25, 60)),
        np.zeros((9, 14)),
    ],
)
@pytest.mark.parametrize("limit", [0, 1, 3])
@pytest.mark.parametrize("cover", [0.6, 1.0])
def test_an_open_path_covers_enough_between_clips_that_are_not_alike(cost, limit, cover):
    for turned in (cost, cost.T):
        cells = find_open_path(turned, slope_limit=limit, cover=cover).cells
        assert (cells[-1] - cells[0]).min() + 1 >= cover * min(cost.shape)
        assert set(map(tuple, np.diff(cells, axis=0).tolist())) <= {(1, 1), (1, 0), (0, 1)}


def named(motion, name):
    return motion.replace(name=name)


def test_clips_that_share_different_parts_of_another_are_matched_with_the_shortest():
    whole = ml.synthetic.clip("walk", speed=1.0, turn=2.0, duration_s=6.0).motion
    clips = [named(whole[:100], "start"), named(whole, "all"), named(whole[-150:], "end")]
    curve = ml.register(clips)
    assert curve.reference == 0
    assert np.ptp(curve.frames(np.array(curve.u_range))[:, 0]) >= 49
    with pytest.raises(ml.RegistrationError, match=r"clip [AC] \((start|end)\)"):
        ml.register(clips, reference=1)


def test_errors_name_the_clips_that_cannot_be_matched_end_to_end():
    clips = [named(WALK, "long"), named(WALK[:60], "middle"), named(WALK[:5], "short")]
    with pytest.raises(ml.RegistrationError, match=r"^clip A \(long\) and clip C \(short\): "):
        ml.register(clips, ends="match")
    with pytest.raises(ml.RegistrationError, match=r"^clip B \(short\) has 2 frames"):
        ml.register([WALK, named(WALK[:2], "short")])


def test_roots_between_frames_lie_on_straight_lines():
    places = np.array([[0.0, 1.0, 2.0], [4.0, 1.0, 0.0], [4.0, 3.0, 8.0]])
    motion = WALK[:3].replace(root_positions=places)
    found = roots_at(motion, np.array([[0.0, 0.25], [1.5, 2.0]]))
    expected = [[[0.0, 1.0, 2.0], [1.0, 1.0, 1.5]], [[4.0, 2.0, 4.0], [4.0, 3.0, 8.0]]]
    assert found == pytest.approx(np.array(expected))
    beyond = roots_at(motion, np.array([2.6, 9.0]))
    assert beyond.tolist() == [[4.0, 3.0, 8.0]] * 2


@pytest.mark.parametrize("pair", [(1,), (1, 2, 3), (1, 2.5), (1, "2"), 5, "12", {1: 2}, None])
def test_what_is_no_pair_of_frames_is_refused(pair):
    with pytest.raises(ml.ArrayError, match="Matched frames must be pairs of whole numbers"):
        ml.register([WALK, TURN], ends="match", pins=[pair])


def test_the_mean_spacing_is_that_of_both_motions_over_the_curve():
    # Two frames of both in a span; then two of one and six of the other.
    steady = np.stack([1.0 + 2.0 * np.arange(4.0) - 0.5, 4.0 + 2.0 * np.arange(4.0)], axis=-1)
    assert _mean_spacing(Spline(steady)) == pytest.approx(2.0)
    uneven = np.stack([2.0 * np.arange(4.0), 6.0 * np.arange(4.0)], axis=-1)
    assert _mean_spacing(Spline(uneven)) == pytest.approx(4.0)


def test_rates_and_frames_belong_to_one_curve():
    curve = ml.register([WALK, JOG])
    u = np.linspace(1.0, curve.u_range[1] - 1.0, 40)
    numeric = (curve.frames(u + 1e-4) - curve.frames(u - 1e-4)) / 2e-4
    assert curve.rates(u) == pytest.approx(numeric, abs=1e-6)
    whole = np.diff(curve.frames(np.array(curve.u_range)), axis=0)
    assert whole.mean() == pytest.approx(curve.u_range[1])


@pytest.mark.parametrize("reference", [0, 2])
def test_moved_copies_are_laid_onto_the_reference(reference):
    places = [(0.0, 0.0, 0.0), (0.5, 3.0, -1.0), (-0.8, -2.0, 4.0)]
    motions = [transform(WALK, PlanarTransform(*place)) for place in places]
    curve = ml.register(motions, reference=reference)
    for u in np.linspace(*curve.u_range, 7):
        to_reference = curve.alignments(float(u))
        for k, motion in enumerate(motions):
            onto = (to_reference.theta[k], to_reference.x0[k], to_reference.z0[k])
            moved, wanted = transform(motion, PlanarTransform(*onto)), motions[reference]
            assert np.abs(moved.root_positions - wanted.root_positions).max() < 1e-3
