"""Cases of the audit: the committed ones are what is drawn, fresh ones are others."""

import json

import pytest

from studies.audit import audit_clips
from studies.audit.audit_cases import maker_of
from studies.audit.audit_pairs import MAKERS
from studies.audit.audit_protocol import PREFIX, draw, protocol


@pytest.fixture(autouse=True)
def clips(mocap, monkeypatch):
    monkeypatch.setattr(audit_clips, "mocap", lambda: mocap)


def as_text(case):
    return json.dumps(case, sort_keys=True)


def test_the_committed_cases_are_drawn_with_seed_0():
    assert draw(0) == protocol()


@pytest.mark.parametrize("seed", [0, 7])
def test_fresh_cases_have_the_same_kinds_and_repeat_no_committed_case(seed):
    committed, fresh = protocol(), protocol(seed)
    assert {kind: len(cases) for kind, cases in fresh.items()} == {
        kind: len(cases) for kind, cases in committed.items()
    }
    for kind, cases in fresh.items():
        assert not {as_text(case) for case in cases} & {as_text(case) for case in committed[kind]}
    assert fresh != protocol(seed + 1)


def test_other_clips_are_not_in_the_audits_folder():
    audit = set(audit_clips.audit_clips())
    used = {
        name
        for kind, cases in protocol().items()
        if kind.startswith(PREFIX)
        for case in cases
        for name in (case.get("a"), case.get("b"), case.get("clip"))
    }
    assert not used & audit


def test_every_kind_can_be_made():
    assert {maker_of(kind) for kind in protocol()} == {"table", "stream", "fill", *MAKERS}


def test_a_part_of_a_clip_is_at_least_a_second_long():
    whole = audit_clips.load("16_15")
    part = audit_clips.load("16_15@0.250-0.750")
    assert part.n_frames == round(0.5 * whole.n_frames)
    assert (part.root_positions[0] == whole.root_positions[round(0.25 * whole.n_frames)]).all()
    assert audit_clips.load("16_15@0.950-0.960").n_frames == round(whole.fps)
