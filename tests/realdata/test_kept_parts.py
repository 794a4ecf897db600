"""Transitions of real clips whose best places keep too little, or fail the check."""

import warnings

import pytest

import motionloom as ml


@pytest.mark.parametrize(("a", "b"), [("39_02", "09_05"), ("104_06", "104_53")])
def test_a_place_that_keeps_less_is_taken_where_none_that_keeps_enough_passes(mocap, a, b):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the headers' rate
        clips = [ml.load(mocap / "audit" / f"{name}.bvh") for name in (a, b)]
    joined = ml.transition(*clips)
    assert joined.verification.passed
    assert min(joined.kept.shares) < 0.3
    assert any("will do" in note for note in joined.notes)
