"""Gaps in motions of any skeleton and rate."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.tables.synthesis.fill import fits, matched_gap


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fill")
    (folder / "clips").mkdir()
    for kind in ("walk", "jog"):
        ml.save(ml.synthetic.clip(kind).motion[:120], folder / "clips" / f"{kind}.bvh")
    lib = ml.Collection.ingest(folder / "clips", out=folder / "lib", fps=60.0)
    return ml.build_table(
        lib, out=folder / "t.mlt", length_s=0.25, clusters=4, lookup=4, progress=False
    )


def taller(motion, factor=1.2):
    skeleton = motion.skeleton
    longer = ml.Skeleton(skeleton.names, skeleton.parents, factor * skeleton.offsets)
    return motion.replace(skeleton=longer, root_positions=factor * motion.root_positions)


def test_a_clip_at_another_rate_is_resampled_and_its_gap_with_it(table):
    walk = ml.resample(table.collection.motion("walk"), fps=120.0)
    filled = table.fill(walk, 61, 91)
    assert filled.motion.fps == 60.0
    assert filled.span == (31, 45)  # all between the frames of 0.5 s and 0.766 s, which are known
    assert any("resampled from 120 to 60 fps" in note for note in filled.notes)
    plain = ml.resample(walk, fps=60.0)
    known = np.r_[0:31, 46 : plain.n_frames]
    np.testing.assert_allclose(
        filled.motion.world_positions()[known], plain.world_positions()[known], atol=1e-9
    )


@pytest.mark.parametrize("rate", [30.0, 48.0, 100.0])
@pytest.mark.parametrize("gap", [(20, 30), (21, 33), (1, 9)])
def test_every_frame_between_the_known_ones_is_in_the_gap_and_no_other(table, rate, gap):
    walk = ml.resample(table.collection.motion("walk"), fps=rate)
    matched = matched_gap(table.frames, walk, *gap)
    times = np.arange(matched.motion.n_frames) / 60.0
    inside = np.flatnonzero((times > (gap[0] - 1) / rate) & (times < (gap[1] + 1) / rate))
    assert (matched.first, matched.last) == (inside[0], inside[-1])


@pytest.mark.parametrize("kind", ["bones", "names", "root"])
def test_a_clip_of_another_body_is_retargeted(table, kind):
    walk = table.collection.motion("walk")
    other = taller(walk)
    if kind == "names":
        skeleton = other.skeleton
        names = [f"mixamorig:{name}" for name in skeleton.names]
        other = other.replace(skeleton=ml.Skeleton(names, skeleton.parents, skeleton.offsets))
    elif kind == "root":
        sliding = np.broadcast_to(
            walk.skeleton.offsets, (walk.n_frames, *walk.skeleton.offsets.shape)
        )
        other = walk.replace(joint_translations=np.array(sliding))
    filled = table.fill(other, 30, 42)
    assert fits(filled.motion, table.frames)
    assert filled.verification.passed, filled.notes
    assert filled.span == (30, 42)
    height = filled.motion.world_positions()[:, :, 1].max()
    assert height == pytest.approx(walk.world_positions()[:, :, 1].max(), rel=0.02)
    with pytest.raises(SkeletonMismatchError, match=r"(?i)retarget"):
        table.fill(other, 30, 42, match=False)


def test_what_is_in_the_gap_is_not_read(table):
    walk = ml.resample(taller(table.collection.motion("walk")), fps=120.0)
    other = np.array(walk.root_positions)
    other[61:92] += 5.0
    a, b = table.fill(walk, 61, 91), table.fill(walk.replace(root_positions=other), 61, 91)
    assert np.array_equal(a.motion.root_positions, b.motion.root_positions)
    assert np.array_equal(a.motion.local_quats, b.motion.local_quats)


def test_a_gap_without_a_frame_at_the_table_s_rate_and_wrong_frames_are_refused(table):
    walk = ml.resample(table.collection.motion("walk"), fps=120.0)
    with pytest.raises(ArrayError, match="Fill a longer gap"):
        table.fill(walk, 61, 61)
    with pytest.raises(ArrayError, match="frames 1 to"):
        table.fill(walk, 0, 20)
    with pytest.raises(ArrayError, match="match"):
        table.fill(walk, 61, 91, match=2)


def test_contacts_are_those_of_the_whole_motion(table):
    walk = table.collection.motion("walk")
    filled = table.fill(walk, 30, 42)
    assert filled.footplants.n_frames == filled.motion.n_frames
    before = ml.detect_footplants(walk[:30], body=table.frames.body_map).planted
    assert np.array_equal(filled.footplants.planted[:30], before)
    assert ml.measure_quality(filled.motion, filled.footplants).contact_speed_max is not None
