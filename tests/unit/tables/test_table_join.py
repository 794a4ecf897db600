"""Transitions of any duration: where they blend, how long they take, why they were taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from motionloom.tables.query_engine import TRIES
from motionloom.tables.score.columns import PAPER
from motionloom.tables.score.natural import NATURAL, THRESHOLD, naturalness
from motionloom.tables.score.score import THRESHOLD_IN
from motionloom.tables.synthesis.synthesis import keep_true_labels
from motionloom.tables.table_places import RESCORED
from motionloom.tables.transition_search import (
    LONGEST_TRANSITION_S,
    WORSE,
    TransitionRequest,
    transition,
)
from tests.oracles.joins import best_join
from tests.support.tables import table_in_memory

LENGTH = 30
NAMES = ("walk", "run", "sneak", "kick", "stand", "wave")
PLACES = (
    (("walk", 30), ("run", 90)),
    (("sneak", 12), ("kick", 80)),
    (("run", 20), ("stand", 60)),
    (("kick", 10), ("walk", 70)),
    (("stand", 5), ("wave", 60)),
    (("wave", 20), ("sneak", 90)),
)
FLOAT32_M = 2e-5


@pytest.fixture(scope="module")
def table():
    frames = frames_of([ml.synthetic.clip(name).motion.replace(name=name) for name in NAMES])
    labels = [Label("run", "running", 40, 120)]
    return table_in_memory(frames, length=LENGTH, clusters=6, ranking=NATURAL, labels=labels)


def plain_request(source, target, longest_s=None):
    """What ``table.transition`` asks for with no options but the longest time."""
    return TransitionRequest(
        source, target, None, 0.0, 0.0, longest_s, 0.0,
        rescore=RESCORED, variation=None, search=False, still_feet=False,
    )  # fmt: skip


def every_pair(table):
    """Places of some pairs of windows of all clips."""
    draw, place_of = np.random.Generator(np.random.PCG64(8)), table.frames.place_of
    rows = draw.choice(table.frames.windows(LENGTH), (20, 2)).tolist()
    return [(place_of(a), place_of(b + LENGTH - 1)) for a, b in rows]


def test_it_plays_on_from_the_frames_asked_for(table):
    frames, longer = table.frames, 0
    for source, target in PLACES:
        made = table.transition(source, target)
        before, after = made.plays
        first, last = frames.row_of(*source), frames.row_of(*target)
        assert made.recipe.rows[0] == first + before
        assert made.recipe.rows[-1] + LENGTH - 1 == last - after
        assert made.span == (before, before + LENGTH - 1)
        assert made.motion.n_frames == before + LENGTH + after <= round(2.0 * frames.fps)
        own = frames.motion(first, first + before).world_positions()
        made_there = made.motion.world_positions()[: before + 1]
        assert np.abs(made_there - own).max() < FLOAT32_M
        end = frames.motion(last - after, last)
        steps = np.linalg.norm(
            np.diff(made.motion.world_positions()[-1 - after :], axis=0), axis=-1
        )
        captured = np.linalg.norm(np.diff(end.world_positions(), axis=0), axis=-1)
        assert np.abs(steps - captured).max(initial=0.0) < FLOAT32_M
        longer += before + after > 0
    assert longer  # some pairs have nothing natural of half a second


def test_longer_ones_are_taken_only_where_they_are_more_natural(table):
    for source, target in PLACES:
        made = table.transition(source, target)
        exact = table.transition(source, target, longest_s=table.length_s)
        assert exact.plays == (0, 0)
        assert exact.motion.n_frames == LENGTH
        if exact.score.natural and exact.verification.passed:
            assert made.score.natural and made.verification.passed
            if not exact.passed_over and exact.candidates[0].recipe == exact.recipe:
                assert made.recipe.rows == exact.recipe.rows
        elif any(made.plays) and not made.passed_over and not exact.passed_over:
            measured = [each.candidates.reference(each.recipe) for each in (made, exact)]
            chances = [
                naturalness(each.measured, own)[0]
                for each, own in zip((made, exact), measured, strict=True)
            ]
            assert chances[0] > chances[1]


@pytest.mark.parametrize("longest_s", [0.5, 0.8, 1.3])
def test_the_caller_limits_how_long_it_may_take(table, longest_s):
    for source, target in PLACES:
        made = table.transition(source, target, longest_s=longest_s)
        assert made.motion.n_frames <= max(LENGTH, round(longest_s * table.fps))


def test_it_may_arrive_later_within_a_tolerance(table):
    later = 0
    for source, target in PLACES:
        made = table.transition(source, target, longest_s=table.length_s, tolerance_s=0.3)
        arrives = made.recipe.rows[-1] + LENGTH - 1 + made.plays[1]
        off = arrives - table.frames.row_of(*target)
        assert off == made.late
        assert 0 <= off <= round(0.3 * table.fps)
        late = f"{off / table.fps:.2f} s"
        assert (
            f"arrives {off} frame{'s' * (off > 1)} ({late}) after the frame asked for" in made.notes
        ) == (off > 0)
        assert (f"it arrives {late} after the frame asked for" in made.why.lower()) == (off > 0)
        later += off > 0
    assert later


@pytest.mark.parametrize("tolerance_s", [0.0, 0.4])
def test_near_the_start_of_a_clip_it_counts_from_the_frame_asked_for(table, tolerance_s):
    late = 0
    for source, _ in PLACES:
        for name, frame in (("run", 0), ("kick", 12), ("walk", LENGTH - 2), ("walk", LENGTH - 1)):
            made = table.transition(source, (name, frame), tolerance_s=tolerance_s)
            arrives = made.recipe.rows[-1] + LENGTH - 1 + made.plays[1]
            assert made.late == arrives - table.frames.row_of(name, frame)
            assert made.earliest == LENGTH - 1 - frame
            notes, off = " ".join(made.notes), made.late
            if off > made.earliest:
                frames = f"{off} frame{'s' * (off > 1)}"
                assert f"arrives {frames} ({off / table.fps:.2f} s) after the frame" in notes
                assert ("its clip has no whole window until" in notes) == (made.earliest > 0)
            else:
                noted = f"ends {off} frame{'s' * (off > 1)} after frame {frame} of {name}"
                assert (noted in notes) == (off > 0)
            assert ("it arrives" in made.why.lower()) == (off > made.earliest)
            assert "1 frames" not in notes
            late += off > made.earliest
    assert bool(late) == (tolerance_s > 0)


@pytest.fixture(scope="module")
def labelled():
    """A table with labels of a few frames."""
    frames = frames_of([ml.synthetic.clip(name).motion.replace(name=name) for name in NAMES])
    labels = [Label("run", "step", 60, 64), Label("kick", "raise", 70, 78)]
    labels += [Label("run", "step", 80, 90)]
    return table_in_memory(frames, length=LENGTH, clusters=6, ranking=NATURAL, labels=labels)


def test_a_tolerance_ends_where_the_label_does(labelled):
    ends: dict[str, set[int]] = {"step": set(), "raise": set()}
    for name in NAMES:
        for frame in (0, 15, 30, 50, 70):
            for label, found in ends.items():
                made = labelled.transition(
                    (name, frame), label=label, tolerance_s=0.4, longest_s=labelled.length_s
                )
                last = made.recipe.rows[-1] + LENGTH - 1 + made.plays[1]
                assert last in labelled.collection.label_rows(label)
                assert made.late == 0
                found.add(last)
    assert min(len(found) for found in ends.values()) > 1


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A table of few frames, in which less time and the table's recipes find more."""
    folder = tmp_path_factory.mktemp("small")
    for name in ("walk", "jog", "run", "stand", "punch", "kick"):
        ml.save(ml.synthetic.clip(name, fps=30).motion, folder / f"{name}.bvh")
    lib = ml.Collection.ingest(folder, out=folder / "clips.mlc", fps=30)
    return ml.build_table(lib, out=folder / "t.mlt", clusters=6, lookup=8, jobs=1, progress=False)


def test_more_time_and_a_tolerance_are_never_less_natural(table, small):
    assert_never_less_natural(table, every_pair(table), tolerance_s=0.3)
    pairs = (
        (("walk", 22), ("stand", 54)),  # natural with a tolerance and no more than 2 s
        (("kick", 13), ("jog", 52)),  # natural by a recipe of the table
        (("kick", 15), ("walk", 52)),  # natural within a second
    )
    assert_never_less_natural(small, pairs, tolerance_s=0.5)


def assert_never_less_natural(table, pairs, *, tolerance_s):
    """What more of the two allows is at least as natural, up to where it is good."""

    def goodness(made):
        """Naturalness up to where it is good; less where the quality check fails."""
        likely = min(round(made.score.naturalness, 5), THRESHOLD)
        return likely if made.verification.passed else -1.0

    times = [{"longest_s": table.length_s}, {}, {"longest_s": 2.0 * LONGEST_TRANSITION_S}]
    for source, target in pairs:
        least = np.full(2, -np.inf)
        for longest in times:
            for tolerance in ({}, {"tolerance_s": tolerance_s}):
                value = goodness(table.transition(source, target, **longest, **tolerance))
                late = int(bool(tolerance))
                assert value >= least[: late + 1].max()
                least[late] = max(least[late], value)


def test_a_label_is_reached_where_it_holds(table):
    made = table.transition(("walk", 30), label="running")
    last = made.recipe.rows[-1] + LENGTH - 1 + made.plays[1]
    name, frame = table.frames.place_of(last)
    assert name == "run"
    assert 40 <= frame <= 120


def test_captured_windows_win_where_they_are_natural(table):
    kinds, captured = set(), 0
    for source, target in PLACES:
        made = table.transition(source, target)
        costs = [each.cost for each in made.candidates]
        assert costs == sorted(costs)
        same = [
            each
            for each in made.candidates
            if (each.recipe.rows[0], each.recipe.rows[-1])
            == (made.recipe.rows[0], made.recipe.rows[-1])
        ]
        costs = [each.cost for each in same]
        chances = [
            naturalness(list(each.columns.values()), made.candidates.reference(each.recipe))[0]
            for each in same
        ]
        natural = [
            n for n, each in enumerate(same) if each.recipe.pinned and chances[n] >= THRESHOLD
        ]
        captured += bool(natural)
        if not made.passed_over:
            cheapest = 0 if chances[0] >= THRESHOLD else int(np.argmax(chances))
            best = natural[0] if natural else cheapest
            assert made.taken.cost == pytest.approx(costs[best], abs=1e-4)
        assert made.taken.recipe.pinned == made.recipe.pinned
        kinds |= {(each.recipe.pinned, each.recipe.n_ways) for each in made.candidates}
    assert captured
    assert {(True, 4), (False, 2), (False, 3)} <= kinds


def every_third(table):
    """First rows of windows of all clips."""
    return table.frames.windows(LENGTH)[::37]


def test_the_join_taken_is_that_of_the_plain_search(table):
    engine, kinds = table.query_engine, set()
    line = float(np.log(THRESHOLD / (1.0 - THRESHOLD)))
    draw = np.random.Generator(np.random.PCG64(3))
    rows = every_third(table)
    for longest in (LENGTH, 2 * LENGTH, 4 * LENGTH):
        for _ in range(12):
            source, target = (int(row) for row in draw.choice(rows, 2))
            asked = {"rescore": 0, "longest": longest}
            chosen = engine.join(source, np.array([target]), **asked)
            plain = best_join(engine, source, np.array([target]), longest, line)
            assert chosen.key(0) == plain.key
            kinds.add((plain.captured, plain.worth >= 0.0, chosen.windows(0)[0] > source))
    assert {(True, True, False), (True, True, True), (False, False, True)} <= kinds


def test_of_several_targets_the_first_natural_one_by_plain_blends_is_taken(table):
    engine, orders = table.query_engine, set()
    line = float(np.log(THRESHOLD / (1.0 - THRESHOLD)))
    draw = np.random.Generator(np.random.PCG64(5))
    rows = every_third(table)
    for _ in range(12):
        source, *targets = (int(row) for row in draw.choice(rows, 5, replace=False))
        chosen = engine.join(source, np.array(targets), rescore=0, longest=2 * LENGTH)
        plain = best_join(engine, source, np.array(targets), 2 * LENGTH, line)
        assert chosen.key(0) == plain.key
        orders.add(targets.index(plain.key[3]) if plain.key[3] in targets else None)
    assert len(orders) > 2


def test_why_names_the_windows_and_the_time(table):
    for source, target in PLACES:
        made = table.transition(source, target)
        assert made.why.endswith(".")
        ends = {(each.recipe.rows[0], each.recipe.rows[-1]) for each in made.candidates}
        where = " between the frames it joins" if len(ends) == 1 else ""
        assert f" of {len(made.candidates)} candidates{where}" in made.why
        assert (made.recipe.rows[0], made.recipe.rows[-1]) in ends
        assert made.why.count(". ") == any(made.plays)
        for row in made.recipe.rows[1:-1]:
            name, frame = table.frames.place_of(row)
            assert f"{name} from frame {frame}" in made.why
        assert ("without that, the cheapest of the nearest captured motion" in made.why) == any(
            made.plays
        )
        assert ("plays on for" in made.why) == (made.plays[0] > 0)
        assert ("is entered" in made.why) == (made.plays[1] > 0)


def test_why_claims_of_the_frames_asked_for_only_what_was_tried_there(table):
    """Recipes over medoids are tried there only after frames before and after them."""
    engine, found = table.query_engine, 0
    for source, target in every_pair(table):
        made = table.transition(source, target)
        if not any(made.plays):
            continue
        found += 1
        assert "nothing of" not in made.why
        assert "cheapest of the nearest captured motion and of blends" in made.why
        first, last = window_pair(engine, source, target)
        tried = engine.ranked(engine.join(first, last, rescore=0, longest=LENGTH))
        for n in range(min(len(tried.costs), TRIES)):
            if engine.is_natural(tried, n):
                assert not engine.synthesize_best(tried.only(n)).checked.passed
    assert found


def test_why_counts_the_cheaper_candidates_that_were_left_out(table):
    made = next(
        each
        for each in (table.transition(*places) for places in PLACES)
        if len(each.candidates) > 3 and not each.candidates[2].recipe.pinned
    )
    taken = made.candidates[2].recipe
    later = replace(made, recipe=taken, passed_over=2)
    assert "except 2, which fail the quality check with held feet or are less natural" in later.why
    assert f"costs least of {len(made.candidates)} candidates" in later.why
    one = replace(made, recipe=made.candidates[1].recipe, passed_over=1)
    if not one.recipe.pinned:
        assert (
            "except 1, which fails the quality check with held feet or is less natural" in one.why
        )
    every = len(made.candidates)
    last = replace(made, recipe=made.candidates[every - 1].recipe, passed_over=every - 1)
    if not last.recipe.pinned:
        assert f"is left of {every} candidates" in last.why
        assert "costs least" not in last.why
    assert "that pass the quality check (" not in later.why


def test_stored_recipes_are_named_as_such(table):
    for source, target in PLACES:
        made = table.transition(source, target, rescore=0)
        left = made.passed_over
        if not made.verification.passed:
            assert "fails the quality check least" in made.why
        elif not left:
            assert "is the first stored recipe" in made.why
        else:
            assert "the quality check" in made.why
            assert any(f"{left} stored recipe" in note for note in made.notes)


def test_why_states_that_captured_motion_comes_before_a_cheaper_blend(table):
    rows, found = every_third(table), 0
    for source in rows[::3]:
        for target in rows[1::4]:
            ends = (table.frames.place_of(int(row)) for row in (source, target + LENGTH - 1))
            made = table.transition(*ends, longest_s=table.length_s)
            first = made.taken.cost > made.candidates[0].cost and made.score.natural
            if made.recipe.pinned and not made.passed_over:
                assert ("is natural and, as captured motion, comes before" in made.why) == first
                found += first
    assert found


def test_a_table_by_the_papers_sum_judges_by_it(table):
    papers = table_in_memory(table.frames, length=LENGTH, clusters=6, ranking=PAPER)
    for source, target in PLACES[:3]:
        made = papers.transition(source, target)
        exact = papers.transition(source, target, longest_s=0.5)
        if exact.cost < 6.0 and not exact.passed_over:
            assert made.plays == (0, 0)


def window_pair(engine, source, target):
    """First rows of the windows between two places, the target's as an array."""
    first = engine.places.window_at(engine.places.row_of(source), leaving=True)[0]
    last = engine.places.window_at(engine.places.row_of(target), leaving=False)[0]
    return first, np.array([last])


def test_a_banned_candidate_is_left_out_and_the_others_stay(table):
    engine = table.query_engine
    for source, target in PLACES:
        first, last = window_pair(engine, source, target)
        asked = {"rescore": 0, "longest": LENGTH}
        every = engine.join(first, last, **asked)
        keys = [every.key(n) for n in range(len(every.rows))]
        banned: list[tuple[int, ...]] = []
        for _ in range(len(keys)):
            left = engine.join(first, last, **asked, banned=banned)
            found = [left.key(n) for n in range(len(left.rows))]
            assert sorted(found) == sorted(key for key in keys if key not in banned)
            banned.append(left.key(0))
        assert len(engine.join(first, last, **asked, banned=banned).rows) == 0


def test_banned_best_ones_come_out_best_first(table):
    engine = table.query_engine
    first, last = window_pair(engine, *PLACES[4])
    costs, banned = [], []
    for _ in range(3):
        choice = engine.join(first, last, rescore=0, longest=LENGTH, banned=banned)
        if not engine.is_natural(choice, 0):
            break  # from here on the most natural comes first, not the cheapest
        costs.append(choice.costs[0])
        banned.append(choice.key(0))
    assert len(costs) > 1
    assert costs == sorted(costs)


class Refusing:
    """A query engine whose quality check refuses the first candidates that are taken alone."""

    def __init__(self, engine, refused):
        self._engine, self.refused, self.joins, self.made = engine, refused, 0, []

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def join(self, *args, **keywords):
        self.joins += 1
        return self._engine.join(*args, **keywords)

    def synthesize_best(self, choice, **options):
        best = self._engine.synthesize_best(choice, **options)
        if best.choice.key(best.number) in self.refused:
            failed = np.array([[0.0, 0.0, 0.0, 2.0, 1.0]])
            best = best._replace(checked=best.checked._replace(failures=failed))
        self.made.append(best)
        return best


def test_the_search_goes_on_where_a_natural_candidate_fails_the_check(table):
    passed = 0
    for made in (table.transition(*places) for places in PLACES):
        if not made.score.natural:
            continue
        source = table.frames.place_of(made.recipe.rows[0] - made.plays[0])
        target = table.frames.place_of(made.recipe.rows[-1] + LENGTH - 1 + made.plays[1])
        rows = (*made.recipe.rows, *[-1] * (4 - len(made.recipe.rows)), int(made.recipe.pinned))
        engine = Refusing(table.query_engine, {rows})
        request = plain_request(source, target)
        other = transition(engine, request)
        assert engine.joins > 1
        if other.verification.passed:
            passed += 1
            assert (other.recipe.rows, other.recipe.pinned) != (
                made.recipe.rows,
                made.recipe.pinned,
            )
    assert passed


def test_of_those_that_pass_the_most_natural_is_taken(table):
    """Candidates that are natural but refused: what is taken instead is the best that was made."""
    engine, compared = table.query_engine, 0
    for source, target in every_pair(table):
        first, last = window_pair(engine, source, target)
        longest, banned = round(LONGEST_TRANSITION_S * engine.frames.fps), []
        for _ in range(4):
            choice = engine.join(first, last, rescore=32, longest=longest, banned=banned)
            banned.append(choice.key(0))
            if not engine.is_natural(choice, 0):
                break
        refusing = Refusing(engine, set(banned))
        request = plain_request(source, target)
        taken = transition(refusing, request)
        passed = [best for best in refusing.made if best.checked.passed]
        margins = np.array([engine.margin(best.choice, best.number) for best in passed])
        made = 1.0 / (1.0 + np.exp(-margins))
        if len(made):
            assert taken.score.naturalness == pytest.approx(max(made), abs=1e-5)
            compared += 1
    assert compared


@pytest.mark.parametrize("ranking", [NATURAL, PAPER])
def test_margins_are_those_of_the_scores(table, ranking):
    ranked = table_in_memory(table.frames, length=LENGTH, clusters=6, ranking=ranking)
    engine, goods = ranked.query_engine, set()
    for source, target in PLACES:
        choice = engine.ranked(engine.choose(*window_pair(engine, source, target), rescore=8))
        for number in range(len(choice.rows)):
            margin, windows = engine.margin(choice, number), choice.windows(number)
            columns = choice.columns[number]
            if ranking is PAPER:
                assert margin == pytest.approx(THRESHOLD_IN - choice.costs[number], abs=1e-4)
            else:
                reference = engine.reference((windows[0], windows[-1]))
                likely = float(naturalness(columns, reference)[0])
                assert 1.0 / (1.0 + np.exp(-margin)) == pytest.approx(likely, abs=1e-5)
                assert engine.is_natural(choice, number) == (likely >= THRESHOLD)
            goods.add(engine.is_natural(choice, number))
    assert goods == {False, True}


class RefusingLong(Refusing):
    """A query engine whose quality check refuses whatever a search of longer than usual finds."""

    def join(self, *args, **keywords):
        usual = max(LENGTH, round(LONGEST_TRANSITION_S * self._engine.frames.fps))
        self.is_long = keywords["longest"] > usual
        return super().join(*args, **keywords)

    def synthesize_best(self, choice, **options):
        best = self._engine.synthesize_best(choice, **options)
        if not self.is_long:
            return best
        failed = np.array([[0.0, 0.0, 0.0, 2.0, 1.0]])
        return best._replace(checked=best.checked._replace(failures=failed))


def test_more_time_is_no_worse_where_nothing_that_takes_it_passes_the_check(table):
    for source, target in PLACES[:3]:
        usual = table.transition(source, target)
        engine = RefusingLong(table.query_engine, set())
        request = plain_request(source, target, 2.0 * LONGEST_TRANSITION_S)
        longer = transition(engine, request)
        assert (longer.recipe.rows, longer.recipe.pinned) == (
            usual.recipe.rows,
            usual.recipe.pinned,
        )
        assert longer.plays == usual.plays


def test_what_is_taken_does_not_depend_on_which_clips_were_used_before(table):
    fresh = table_in_memory(table.frames, length=LENGTH, clusters=6, ranking=NATURAL)
    used = table_in_memory(table.frames, length=LENGTH, clusters=6, ranking=NATURAL)
    for clip in range(used.frames.n_clips):
        used.query_engine.check.measure(clip)
    for source, target in PLACES:
        fresh.query_engine.check.measured[:] = False
        mine, other = (each.transition(source, target) for each in (fresh, used))
        assert mine.recipe.rows == other.recipe.rows
        assert mine.passed_over == other.passed_over
        assert np.array_equal(mine.motion.local_quats, other.motion.local_quats)


def test_what_is_left_in_memory_changes_nothing(table):
    engine = table.query_engine
    fresh = [table.transition(source, target) for source, target in PLACES]
    for (source, target), first in zip(PLACES, fresh, strict=True):
        engine.record.work[:] = 0xFF  # nan, as floats
        again = table.transition(source, target)
        assert again.recipe.rows == first.recipe.rows
        assert repr(again.verification.failed) == repr(first.verification.failed)
        np.testing.assert_array_equal(again.motion.local_quats, first.motion.local_quats)


def test_labels_of_longer_motions_are_those_of_feet_that_stand(table):
    for source, target in PLACES:
        made = table.transition(source, target, lead_s=0.3, follow_s=0.3)
        points = foot_points(made.motion, body=table.frames.body_map)
        labels = np.array(made.footplants.planted)
        keep_true_labels(points, table.fps, labels)
        assert np.mean(labels == made.footplants.planted) > 0.99


def held_speed(made, table):
    """Speed over the ground of balls labelled as planted, the lower quarter, m/s."""
    balls = foot_points(made.motion, body=table.frames.body_map)[:, [1, 3]][..., [0, 2]]
    speeds = np.linalg.norm(np.diff(balls, axis=0), axis=-1) * table.fps
    stands = made.footplants.planted[:, [1, 3]]
    return float(np.quantile(speeds[stands[1:] & stands[:-1]], 0.25))


def test_feet_of_captured_windows_stand_still_where_that_is_asked_for(table):
    pinned = 0
    for source, target in PLACES:
        made = table.transition(source, target)
        still = table.transition(source, target, still_feet=True)
        assert not made.still_feet
        assert ("feet stand still" in still.why) == still.still_feet
        if still.still_feet:
            assert made.recipe.rows == still.recipe.rows
            assert held_speed(still, table) < 5e-5 < held_speed(made, table)
            pinned += 1
        elif not still.recipe.pinned:
            assert np.array_equal(made.motion.local_quats, still.motion.local_quats)
    assert pinned


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"longest_s": 0.0}, "`longest_s`"),
        ({"longest_s": "long"}, "`longest_s`"),
        ({"tolerance_s": -0.1}, "`tolerance_s`"),
    ],
)
def test_wrong_times_raise(table, keywords, message):
    with pytest.raises(ArrayError, match=message):
        table.transition(*PLACES[0], **keywords)


@pytest.mark.parametrize("option", [{"search": True}, {"search": "refine"}, {"rescore": 0}])
@pytest.mark.parametrize("time", [{"longest_s": 1.0}, {"tolerance_s": 0.2}])
def test_times_are_refused_where_only_the_frames_asked_for_are_tried(table, option, time):
    with pytest.raises(ArrayError, match=f"`{next(iter(time))}` must be left out with"):
        table.transition(*PLACES[0], **option, **time)
    table.transition(*PLACES[0], **option, tolerance_s=0.0)


def test_times_that_a_table_cannot_keep_to_are_noted(table):
    def notes(**times):
        return " ".join(table.transition(*PLACES[0], **times).notes)

    assert "arrives at most 0.5 s late" in notes(tolerance_s=0.6)
    assert "late" not in notes(tolerance_s=0.5)
    assert "takes 0.5 s, the table's length: `longest_s` is 0.2 s" in notes(longest_s=0.2)
    assert "takes at most 2 s, 4 times the table's length" in notes(longest_s=3.0)
    assert "takes" not in notes(longest_s=0.5) + notes(longest_s=2.0)


def test_unscored_recipes_are_four_stored_ones_and_the_plain_blend(table):
    engine, taken = table.query_engine, set()
    for source, target in every_pair(table):
        made = table.transition(source, target, rescore=0)
        ends = made.recipe.rows[0], made.recipe.rows[-1]
        offered = engine.cached(*ends)
        windows = [offered.windows(number) for number in range(len(offered.rows))]
        assert len(windows) <= 5
        assert windows[-1] == ends
        passes = [
            engine.synthesize_best(offered.only(number)).checked.passed
            for number in range(len(windows))
        ]
        if any(passes) and made.verification.passed:
            assert made.passed_over == passes.index(True)
        assert made.recipe.rows == windows[made.passed_over]
        taken.add(made.passed_over)
    assert len(taken) > 1


def test_a_variation_keeps_to_the_times(table):
    for source, target in PLACES:
        made = table.transition(source, target, longest_s=table.length_s, variation=1)
        assert made.plays == (0, 0)


def test_a_variation_is_natural_where_the_first_choice_is_and_passes_the_check(table):
    kinds, drawn = set(), 0
    for source, target in every_pair(table):
        first = table.transition(source, target)
        for number in range(3):
            made = table.transition(source, target, variation=number)
            ends = made.recipe.rows[0], made.recipe.rows[-1]
            assert ends == (first.recipe.rows[0], first.recipe.rows[-1])
            assert made.score.natural >= first.score.natural
            assert made.verification.passed >= first.verification.passed
            is_first = (made.recipe.rows, made.recipe.pinned) == (
                first.recipe.rows,
                first.recipe.pinned,
            )
            assert (made.variation is None) == is_first
            assert any("not varied" in note for note in made.notes) == is_first
            if is_first:
                assert np.array_equal(made.motion.local_quats, first.motion.local_quats)
                assert made.why == first.why
            else:
                assert f"is variation {number}: it passes the quality check" in made.why
                assert made.cost <= first.cost + WORSE * max(abs(first.cost), 1.0) + 1e-4
                drawn += 1
                kinds.add((first.recipe.pinned, first.recipe.n_ways))
    assert drawn > 15
    assert len(kinds) > 2


def test_a_variation_has_the_same_answer_for_the_same_number_and_holds_feet_still(table):
    still = 0
    for source, target in PLACES:
        first = table.transition(source, target, variation=4, still_feet=True)
        again = table.transition(source, target, variation=4, still_feet=True)
        assert np.array_equal(first.motion.local_quats, again.motion.local_quats)
        assert first.recipe.rows == again.recipe.rows
        still += first.still_feet and first.variation is not None
    assert still


def test_an_unknown_option_raises(table):
    with pytest.raises(TypeError, match=r"transition\(\).*unexpected.*'rescored'"):
        table.transition(*PLACES[0], rescored=4)
