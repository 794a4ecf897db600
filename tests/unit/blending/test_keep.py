"""What a transition keeps of its clips, and how places are ranked for it."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending.join import TRAVEL_S, travel_of
from motionloom.motion.edit import concatenate, transform
from motionloom.rotation.quat import PlanarTransform

WALK, JOG = (ml.synthetic.clip(kind, duration_s=6.0) for kind in ("walk", "jog"))


def join(**options) -> ml.Transition:
    plants = (WALK.footplants, JOG.footplants)
    return ml.transition(WALK.motion, JOG.motion, footplants=plants, check=False, **options)


@pytest.mark.parametrize("keep", [0.3, 0.5, 0.7, (0.8, 0.1), (0.1, 0.8)])
def test_a_result_keeps_the_share_that_was_asked_for(keep):
    made = join(keep=keep)
    least = keep if isinstance(keep, tuple) else (keep, keep)
    assert all(share >= wish for share, wish in zip(made.kept.shares, least, strict=True))
    for place in made.candidates:
        assert place.frame_a >= least[0] * (WALK.motion.n_frames - 1) - 1e-6
        assert place.frame_b <= (1.0 - least[1]) * (JOG.motion.n_frames - 1) + 1e-6
    assert not any("keeps" in note for note in made.notes)


def test_by_default_a_third_of_both_clips_stays_and_more_ranks_higher():
    made, anywhere = join(), join(keep=0)
    assert min(made.kept.shares) >= 0.3
    assert sum(made.kept.shares) > sum(anywhere.kept.shares)
    assert [place.cost for place in anywhere.candidates] == sorted(
        place.cost for place in anywhere.candidates
    )


def test_late_is_the_end_of_a_and_the_beginning_of_b():
    made = join(keep="late")
    assert made.kept.left_out_s[0] < 1.6
    assert made.kept.left_out_s[1] < 1.6


def test_where_no_place_keeps_enough_the_best_other_one_is_taken_and_noted():
    made = join(keep=1.0)
    (note,) = [note for note in made.notes if "keeps" in note]
    assert "100 % of both clips" in note
    assert min(made.kept.shares) > 0.5  # ranked by what they keep, all the same


def test_what_is_kept_and_left_out_is_the_whole_clip():
    made = join()
    for kept, out, clip in zip(
        made.kept.seconds, made.kept.left_out_s, made.matched.motions, strict=True
    ):
        assert kept + out == pytest.approx(clip.duration_s)
    text = str(made.kept)
    assert text.startswith("keeps ") and "s of walk (" in text and "s of jog (" in text
    assert "leaves out" in text and "blend 0.60 s" in text


@pytest.mark.parametrize("keep", ["early", -0.1, 1.5, (0.3, 0.3, 0.3), None, (0.3, 2.0)])
def test_shares_that_cannot_be_are_refused(keep):
    with pytest.raises(ml.ArrayError, match="`keep`"):
        join(keep=keep)


def test_travel_is_seen_from_the_body_wherever_it_goes():
    walk = WALK.motion
    turned = transform(walk, PlanarTransform(2.0, 5.0, -3.0))
    assert np.abs(travel_of(walk, None) - travel_of(turned, None)).max() < 1e-9
    speed = np.median(travel_of(walk, None), axis=0)
    assert abs(speed[0]) < 0.1 and 0.8 < speed[1] < 2.0  # ahead, not sideways


def test_a_place_where_the_bodies_travel_apart_costs_more():
    """One half of B is A's walk, the other the same steps while the body slides backwards."""
    walk = WALK.motion
    root = np.array(walk.root_positions)
    root[:, [0, 2]] = 2.0 * root[0, [0, 2]] - root[:, [0, 2]]
    back = walk.replace(root_positions=root)
    both = concatenate([back, walk])
    made = ml.transition(walk, both, check=False, keep=0)
    place = made.candidates[0]
    assert place.frame_b > walk.n_frames
    assert place.travel < 0.02
    forced = ml.transition(walk, back, check=False)
    assert forced.candidates[0].travel > 1.5 * TRAVEL_S
    assert any("degrees apart" in note for note in forced.notes)
