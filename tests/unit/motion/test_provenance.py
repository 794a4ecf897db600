"""Provenance: what every frame of a result was made from."""

import json
import pickle

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.provenance import Copy, Provenance, Track


def walk_to_run() -> Provenance:
    """Frames 0 to 4 of A, a blend of three frames, then frames 12 to 15 of B."""
    frames = np.full((12, 2), np.nan)
    frames[:8, 0] = np.arange(8)
    frames[5:, 1] = np.arange(9, 16)
    weights = np.zeros((12, 2))
    weights[:5, 0] = 1.0
    weights[5:8, 0] = 0.75, 0.5, 0.25
    weights[:, 1] = 1.0 - weights[:, 0]
    changed = (weights[:, 0] > 0) & (weights[:, 1] > 0)
    return Provenance.of_clips(["walk", "run"], 30.0, frames, weights, changed)


def test_copies_are_the_frames_of_one_clip():
    assert walk_to_run().copies() == (Copy(0, 4, 0, 0), Copy(8, 11, 1, 12))


def test_a_changed_frame_is_no_copy():
    made = walk_to_run()
    changed = np.array(made.changed)
    changed[9] = True
    copies = Provenance(made.sources, made.fps, made.tracks, changed).copies()
    assert copies == (Copy(0, 4, 0, 0), Copy(8, 8, 1, 12), Copy(10, 11, 1, 14))


def test_frames_between_those_of_a_clip_are_no_copies():
    half = Provenance.of_clips(
        ["walk"], 30.0, np.arange(4)[:, None] * 0.5, np.ones((4, 1)), np.zeros(4, bool)
    )
    assert half.copies() == (Copy(0, 0, 0, 0), Copy(2, 2, 0, 1))


def test_times_are_in_seconds_of_the_clip():
    times = walk_to_run().body.times_in(1)
    assert np.isnan(times[:5]).all()
    assert times[5:] * 30.0 == pytest.approx(np.arange(9, 16))


def test_a_piece_keeps_the_clips_and_their_times():
    made = walk_to_run()[6:]
    assert made.sources == ("walk", "run")
    assert made.copies() == (Copy(2, 5, 1, 12),)
    assert (made.changed == walk_to_run().changed[6:]).all()


def test_long_clips_lose_no_copies_to_rounding():
    copied = Provenance.of_copy("hour", 119.88, 300_000, 100_000)
    assert copied.copies() == (Copy(0, 99_999, 0, 300_000),)


def test_an_edit_shows_a_clips_frames_and_has_no_copies():
    edit = Provenance.of_edit("walk", 30.0, 3, 4)
    assert edit.copies() == ()
    assert edit.body.time[:, 0].tolist() == [0.1, 4 / 30, 5 / 30, 0.2]


def test_json_lists_runs():
    described = json.loads(json.dumps(walk_to_run().json(), allow_nan=False))
    assert described["changed"] == [[5, 7]]
    runs = described["parts"]["body"]
    assert [(run["first"], run["last"], len(run["clips"])) for run in runs] == [
        (0, 4, 1),
        (5, 7, 2),
        (8, 11, 1),
    ]
    assert runs[1]["clips"][0]["weight"] == [0.75, 0.25]


def test_it_can_be_pickled():
    again = pickle.loads(pickle.dumps(walk_to_run()))
    assert again.copies() == walk_to_run().copies()
    assert not again.changed.flags.writeable


@pytest.mark.parametrize(
    ("weights", "message"),
    [([[0.5, 0.4]], "add up to 1"), ([[1.0, 0.5]], "add up to 1")],
)
def test_weights_must_add_up(weights, message):
    with pytest.raises(ml.ArrayError, match=message):
        Provenance.of_clips(["a", "b"], 30.0, np.zeros((1, 2)), np.array(weights))


def test_a_clip_must_be_one_of_the_sources():
    track = Track("body", np.array([[2]]), np.zeros((1, 1)), np.ones((1, 1)))
    with pytest.raises(ml.ArrayError, match="index into the 2 sources"):
        Provenance(("a", "b"), 30.0, (track,), np.ones(1, bool))


def test_it_comes_back_from_its_arrays():
    made = walk_to_run()
    again = Provenance.of_arrays(fps=made.fps, **made.arrays())
    assert again.sources == made.sources
    assert again.json() == made.json()
    for mine, its in zip(again.tracks, made.tracks, strict=True):
        np.testing.assert_array_equal(mine.time, its.time)


def test_arrays_that_do_not_fit_together_are_refused():
    arrays = walk_to_run().arrays()
    with pytest.raises(ml.ArrayError, match="entry for each of the 2 parts"):
        Provenance.of_arrays(fps=30.0, **{**arrays, "parts": ["upper", "lower"]})
    with pytest.raises(ml.ArrayError, match="index into the 2 sources"):
        Provenance.of_arrays(fps=30.0, **{**arrays, "clip": arrays["clip"] + 1})
