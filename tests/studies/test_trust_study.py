"""The trust study: maps of results, captured frames, freezes, sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.edit import move
from motionloom.rotation import quat
from studies.trust.copies import copies_of
from studies.trust.independent import judge
from studies.trust.live import freezes
from studies.trust.made import Made, crossfade, inertialized, told_by
from studies.trust.summary import summary, table_text


def clip(kind: str) -> ml.Motion:
    return ml.synthetic.clip(kind, duration_s=3.0).motion


def joined(kind: str = "jog") -> Made:
    """The synthetic walk, a second of it, then another clip at once, as a result may be told."""
    a, b = clip("walk"), move(clip(kind), heading=0.4, x=1.0, z=2.0)
    n, m = 60, 40
    clips = np.full((n + m, 2), -1)
    clips[:n, 0], clips[n:, 1] = 0, 1
    frames = np.stack([np.arange(n + m), np.arange(n + m) - n + 5], axis=1)
    provenance = ml.Provenance(
        ("a", "b"),
        a.fps,
        (ml.Track("body", clips, frames / a.fps, (clips >= 0).astype(float)),),
        np.zeros(n + m, dtype=bool),
    )
    motion = a.replace(
        root_positions=np.concatenate([a.root_positions[:n], b.root_positions[5 : 5 + m]]),
        local_quats=np.concatenate([a.local_quats[:n], b.local_quats[5 : 5 + m]]),
    )
    return Made(motion, (a, clip(kind)), told_by(provenance, [0, 1]), provenance=provenance)


def test_a_provenance_becomes_times_of_sources() -> None:
    made = joined()
    (first, a), (second, b) = made.told
    assert (first, second) == (0, 1)
    np.testing.assert_allclose(a[:60], np.arange(60) / 60.0)
    assert np.isnan(a[60:]).all()
    assert np.isnan(b[:60]).all()
    assert b[60] == pytest.approx(5.0 / 60.0)


def test_frames_moved_rigidly_count_as_captured() -> None:
    found = copies_of(joined())
    assert found is not None
    assert found.frames == 100
    assert found.sound


@pytest.mark.parametrize("joint", [0, 3])
def test_a_captured_frame_that_was_changed_is_noticed(joint: int) -> None:
    made = joined()
    quats = np.array(made.motion.local_quats)
    quats[20, joint] = quat.multiply(quats[20, joint], quat.exp(np.array([0.0, 0.0, 1e-4])))
    made.motion = made.motion.replace(local_quats=quats)
    found = copies_of(made)
    assert found is not None
    assert not found.sound
    assert found.unequal == (joint > 0)


def test_a_root_that_was_shifted_in_some_frames_is_noticed() -> None:
    made = joined()
    roots = np.array(made.motion.root_positions)
    roots[10:20, 0] += 0.001
    made.motion = made.motion.replace(root_positions=roots)
    found = copies_of(made)
    assert found is not None
    assert found.root_m == pytest.approx(0.001)


def test_results_that_do_not_say_have_no_captured_frames() -> None:
    made = joined()
    made.provenance = None
    assert copies_of(made) is None


def test_a_map_to_another_clip_raises_alarms() -> None:
    made = joined("run")
    swapped = [(1 - source, seconds) for source, seconds in made.told]
    made.told = swapped
    assert "speed" in {alarm.kind for alarm in judge(*made.judged())}


def test_a_map_to_other_times_is_noticed_at_captured_frames() -> None:
    made = joined()
    assert made.provenance is not None
    track = made.provenance.body
    late = ml.Track("body", track.clip, track.time + 0.1, track.weight)
    made.provenance = ml.Provenance(("a", "b"), 60.0, (late,), made.provenance.changed)
    found = copies_of(made)
    assert found is not None
    assert found.unequal == 100


def test_baselines_are_judged_at_the_place_of_the_transition() -> None:
    made = ml.transition(clip("walk"), clip("jog"), at=(90, 60))
    first, last = made.span
    k = np.arange(made.motion.n_frames)
    told = [(0, np.where(k <= last, k, np.nan) / 60.0), (1, np.where(k < first, np.nan, k) / 60.0)]
    whole = Made(made.motion, made.matched.motions, told, span=made.span,
                 extra={"placement": made.placement})  # fmt: skip
    for baseline in (crossfade, inertialized):
        other = baseline(whole)
        np.testing.assert_array_equal(
            other.motion.local_quats[:50], made.matched.motions[0].local_quats[:50]
        )
        for _, seconds in other.told:
            assert len(seconds) == other.motion.n_frames


def test_a_body_that_stops_in_full_run_is_frozen() -> None:
    run = clip("run")
    stopped = run.replace(
        root_positions=np.concatenate(
            [run.root_positions[:90], np.repeat(run.root_positions[89:90], 60, axis=0)]
        ),
        local_quats=np.concatenate(
            [run.local_quats[:90], np.repeat(run.local_quats[89:90], 60, axis=0)]
        ),
    )
    assert freezes(run) == []
    assert [first for first, _ in freezes(stopped)] == [89]


def case(kind: str, number: int, **more: object) -> dict[str, object]:
    return {"kind": kind, "number": number, "case": {}, "passed": True, "failed": "", "kept": [],
            "map": "fields", "alarms": [], "captured": [], **more}  # fmt: skip


def test_sums_name_what_is_not_met() -> None:
    alarm = {"kind": "support", "what": "left", "value": 0.05, "limit": 0.03, "first": 1, "last": 9}
    none: dict[str, list[object]] = {"cross-fade": [], "inertialization": [alarm]}
    cases = [
        case("transitions", 0, kept=[0.5, 0.1], baselines=none),
        case("transitions", 1, kept=[0.5, 0.6], baselines=none, alarms=[alarm]),
        case("blends", 0, captured=[alarm]),
        {"kind": "blends", "number": 1, "case": {}, "passed": False, "refusal": "no"},
    ]
    figures = summary(cases)
    assert figures["together"] == {"passed": 3, "rejected": 1, "captured alike rejected": 1}
    met = {name: goal["met"] for name, goal in figures["goals"].items()}
    assert met == {
        "transitions that keep less than 15 % of a clip": False,
        "transitions that pass": True,
        "blends refused or failed": False,
        "rejected among passed, more than captured": True,
    }
    assert not figures["met"]
    assert figures["baselines"]["inertialization"]["support"] == 2
    assert "alarm transitions:1 support (left)" in table_text(figures)


def test_cases_are_drawn_by_seed(mocap: Path) -> None:
    from studies.trust.draw import COUNTS, drawn, rig, seed_of, subject

    assert seed_of("a" * 40) != seed_of("b" * 40)
    for kind in COUNTS:
        assert drawn(5, kind, 10) == drawn(5, kind)[:10]
        assert drawn(5, kind, 10) != drawn(6, kind, 10)
    pairs = drawn(5, "transitions")
    clips = {case[key] for case in pairs for key in ("a", "b")}
    assert len({subject(name) for name in clips}) >= 8
    assert {rig(name) for name in clips} == {"cmu", "bandai"}
