"""Terms of windows against their plain form."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.stance import plants_of
from motionloom.tables.score.terms import build_terms, term_source, terms_of
from tests.oracles.window_terms import window_terms

FLOAT32 = 2e-6
"""Of numbers up to a few metres."""


@pytest.fixture(scope="module")
def frames():
    clips = [ml.synthetic.clip(kind, turn=0.7) for kind in ("walk", "run")]
    clips.append(ml.synthetic.clip("sneak"))
    return frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "run", "sneak"],
        footplants=[clip.footplants for clip in clips],
    )


@pytest.mark.parametrize("length", [2, 3, 17, 30])
def test_terms_are_those_of_the_plain_form(frames, length):
    last = int(frames.starts[1]) - length
    rows = [0, 3, last - 2, last, *frames.windows(length)[5::61].tolist()]
    terms, plants = terms_of(frames, rows, length), plants_of(frames)
    most = terms.arrays.spans.shape[2]
    for slot, row in enumerate(rows):
        plain = window_terms(frames, plants, row, length, terms.pad, most)
        for name, wanted in plain.items():
            got = getattr(terms.arrays, name)[slot].astype(np.float64)
            scale = FLOAT32 * max(1.0, np.abs(wanted).max())
            assert np.abs(got - wanted).max() <= scale, (name, row)


def test_a_slot_that_is_used_again_keeps_nothing_of_what_it_held(frames):
    source, terms = term_source(frames), build_terms(frames, 2, 25)
    first, last = 0, int(frames.starts[1]) - 25
    for row in (40, first, last, 40):
        terms.put(source, 1, row)
        fresh = terms_of(frames, [row], 25)
        plants = fresh.arrays.counts[0]
        for name, new in fresh.arrays._asdict().items():
            got = getattr(terms.arrays, name)[1]
            if name in ("spans", "ahead"):  # what is beyond their number means nothing
                for foot in (0, 1):
                    here = slice(int(plants[foot]))
                    assert np.array_equal(got[foot, here], new[0, foot, here])
            else:
                assert np.array_equal(got, new[0]), name
    assert not terms.arrays.rows[0].any()


@pytest.mark.parametrize("turns", [1, 3])
def test_a_foot_has_no_more_plants_than_there_is_space_for(turns):
    stand = ml.synthetic.clip("stand", duration_s=4.0).motion
    planted = np.zeros((stand.n_frames, 4), dtype=bool)
    planted[np.arange(stand.n_frames) % 4 < turns] = True  # more than one in twelve frames
    frames = frames_of([stand], footplants=[ml.Footplants(planted)])
    terms, plants = terms_of(frames, [10], 100), plants_of(frames)
    most = terms.arrays.spans.shape[2]
    plain = window_terms(frames, plants, 10, 100, terms.pad, most)
    assert np.array_equal(terms.arrays.counts[0], plain["counts"])
    assert np.array_equal(terms.arrays.spans[0], plain["spans"])
    assert (terms.arrays.counts[0] == (0 if turns == 1 else most)).all()


@pytest.mark.parametrize(("slot", "row"), [(2, 0), (-1, 0), (0, -1), (0, 10**6)])
def test_windows_and_slots_that_are_not_there_are_refused(frames, slot, row):
    terms = build_terms(frames, 2, 25)
    with pytest.raises(ArrayError, match="ml_window_terms refused"):
        terms.put(term_source(frames), slot, row)


def test_a_window_over_the_end_of_its_clip_is_refused(frames):
    terms = build_terms(frames, 2, 25)
    with pytest.raises(ArrayError, match="ml_window_terms refused"):
        terms.put(term_source(frames), 0, int(frames.starts[1]) - 24)
