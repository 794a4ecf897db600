"""Seconds of the told-apart study: what is left out, what is pinned, what comes out unchanged."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from studies.captured_clips import protocol
from studies.tables import told_apart_methods, told_apart_seconds
from studies.tables.told_apart_methods import METHODS, Workshop, captured_again
from studies.tables.told_apart_seconds import Second, without

TAKES = ("walk", "jog", "run", "sneak")


@pytest.fixture(scope="module")
def collection():
    clips = []
    for k, name in enumerate(TAKES):
        kind = ("walk", "jog")[k % 2]
        clips.append(
            ml.synthetic.clip(kind, turn=0.3 * (k - 1), duration_s=4.0, fps=30).motion.replace(
                name=name
            )
        )
    return frames_of(clips)


@pytest.fixture(scope="module")
def at(collection):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(told_apart_seconds, "frames_of_subject", lambda *_: collection)
        plan = {"folds": [["walk"], ["jog", "run", "sneak"]]}
        patch.setattr(told_apart_seconds, "plan_of", lambda _: plan)
        patch.setattr(told_apart_methods, "CLUSTERS", 6)
        yield Workshop("nowhere", "any", 0)


SECOND = Second("any", "walk", 40, 0)


def test_takes_of_the_fold_are_left_out(at, collection):
    assert at.frames.ids == ("jog", "run", "sneak")
    rest = without(collection, ("walk",))
    first, stop = rest.starts[1:3]
    was = collection.starts[2]
    assert np.array_equal(rest.body[first:stop], collection.body[was : was + stop - first])


def test_a_captured_second_comes_out_as_it_was(at):
    captured = at.with_context(SECOND)
    again = at.with_context(SECOND, captured_again(at, SECOND))
    assert np.abs(again.world_positions() - captured.world_positions()).max() < 2e-3


@pytest.mark.parametrize("name", METHODS)
def test_every_method_starts_and_ends_where_the_second_does(at, name):
    made = METHODS[name](at, SECOND)
    assert len(made.root_positions) == at.length
    captured = at.take("walk")[SECOND.frame : SECOND.frame + at.length]
    for k in (0, -1):
        asked = captured.local_quats[k, 1:]
        assert np.abs(np.sum(made.local_quats[k, 1:] * asked, axis=-1)).min() > 1.0 - 1e-7
        assert made.root_positions[k, 1] == pytest.approx(captured.root_positions[k, 1], abs=1e-5)
    assert made.root_positions[0] == pytest.approx(captured.root_positions[0], abs=1e-5)
    whole = at.with_context(SECOND, made)
    assert whole.n_frames == at.length + 2 * at.context
    speeds = np.linalg.norm(np.diff(whole.world_positions(), axis=0), axis=-1)
    assert speeds.max() < 0.4  # no joint jumps where the second is put in


def test_the_inside_of_the_second_is_not_read(at, collection):
    """Another inside of the same take gives the same answer: methods see the ends alone."""
    take = at.take("walk")
    inside = slice(SECOND.frame + 3, SECOND.frame + at.length - 3)
    root = np.array(take.root_positions)
    root[inside, 1] += 0.2
    gap = at.gap(SECOND)
    at._takes["walk"], at._gaps = take.replace(root_positions=root), {}
    try:
        other = at.gap(SECOND)
    finally:
        at._takes["walk"], at._gaps = take, {}
    for one, same in zip(gap.question(), other.question(), strict=True):
        assert np.array_equal(one, same)


def test_the_protocol_keeps_sisters_together_and_windows_apart():
    plan = protocol("told_apart")
    sisters = protocol("transitions_inbetween")
    for subject, group in plan["groups"].items():
        fold_of = {take: k for k, fold in enumerate(group["folds"]) for take in fold}
        for unit in sisters.get(subject, {}).get("sisters", []):
            assert len({fold_of[take] for take in unit}) == 1
        places = [*map(tuple, group["windows"]), *map(tuple, group["control"])]
        assert len(set(places)) == len(places)
        least = 15 if subject != "bandai" else 7
        for take in {take for take, _ in places}:
            frames = np.sort([frame for name, frame in places if name == take])
            assert len(frames) == 1 or np.diff(frames).min() >= least
