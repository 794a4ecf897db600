"""Collections: a folder of clips becomes one skeleton's frames on disk, again and again."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import frames_of

COLUMNS = ("heading", "ground", "quats", "body", "points", "planted")
BVH_TEXT_M = 2e-5
"""A BVH file rounds angles; half a body away that is this much."""


def made(kind, **options):
    return ml.synthetic.clip(kind, duration_s=1.5, fps=30, **options).motion


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Clips in files, written once and copied by the tests that change them."""
    folder = tmp_path_factory.mktemp("files") / "clips"
    (folder / "fast").mkdir(parents=True)
    ml.save(made("walk"), folder / "walk.bvh")
    ml.save(made("sneak"), folder / "sneak.bvh")
    ml.save(made("run"), folder / "fast" / "run.bvh")
    return folder


@pytest.fixture
def clips(files, tmp_path):
    return Path(shutil.copytree(files, tmp_path / "clips"))


@pytest.fixture(scope="module")
def lib(files, tmp_path_factory):
    return Collection.ingest(files, out=tmp_path_factory.mktemp("lib") / "a.mlc", fps=30)


def same_rows(a, b):
    return all(np.array_equal(getattr(a.frames, c), getattr(b.frames, c)) for c in COLUMNS)


def test_rows_on_disk_are_those_made_in_memory(files, lib):
    motions = [ml.load(files / f"{name}.bvh") for name in lib.ids]
    fresh = frames_of([motion.replace(fps=30.0) for motion in motions], ids=lib.ids)
    assert lib.ids == ("fast/run", "sneak", "walk")
    for column in COLUMNS:
        assert np.array_equal(getattr(lib.frames, column), getattr(fresh, column)), column


def test_opened_again_it_is_the_same(lib):
    again = Collection.open(lib.path)
    assert again.digest == lib.digest
    assert again.frames.body_map == lib.frames.body_map
    assert np.array_equal(again.frames.skeleton.offsets, lib.frames.skeleton.offsets)
    assert same_rows(again, lib)
    assert again.find_damage() == []


def test_it_lies_next_to_its_folder_unless_a_path_is_given(clips):
    lib = Collection.ingest(clips, fps=30)
    assert lib.path == clips.resolve().with_name("clips.mlc")
    assert lib.source_folder == clips.resolve()


def test_a_folder_that_did_not_change_is_not_read_again(clips):
    first = Collection.ingest(clips, fps=30)
    again = Collection.ingest(clips, fps=30)
    assert (first.report.read, again.report.read) == (3, 0)
    assert again.digest == first.digest


@pytest.mark.parametrize("name", ["aaa", "zzz"])
def test_a_new_clip_is_the_only_one_read_and_comes_out_as_from_nothing(clips, tmp_path, name):
    Collection.ingest(clips, fps=30)
    ml.save(made("jog"), clips / f"{name}.bvh")
    later = Collection.ingest(clips, fps=30)
    fresh = Collection.ingest(clips, out=tmp_path / "fresh.mlc", fps=30)
    assert later.report.read == 1
    assert later.digest == fresh.digest
    assert same_rows(later, fresh)
    assert later.find_damage() == []


def test_changed_and_removed_clips_are_done_again_and_dropped(clips, tmp_path):
    Collection.ingest(clips, fps=30)
    ml.save(made("walk", turn=0.5), clips / "walk.bvh")
    (clips / "sneak.bvh").unlink()
    later = Collection.ingest(clips, fps=30)
    fresh = Collection.ingest(clips, out=tmp_path / "fresh.mlc", fps=30)
    assert later.ids == ("fast/run", "walk")
    assert later.report.read == 1
    assert later.digest == fresh.digest
    rows = sorted(file.name for file in later.path.glob("*.rows"))
    assert len(rows) == len(COLUMNS), "files of an older state stayed"


def test_other_options_mean_reading_again(clips):
    at_30 = Collection.ingest(clips, fps=30)
    at_60 = Collection.ingest(clips, fps=60)
    assert at_60.report.read == 3
    assert at_60.fps == 60.0
    assert set(at_60.report.resampled) == set(at_30.ids)
    assert at_60.frames.n_rows > 1.8 * at_30.frames.n_rows


def test_another_rate_given_by_pattern_holds_for_the_files_that_fit(clips):
    lib = Collection.ingest(clips, fps=60, source_fps={"walk*": 60})
    assert set(lib.report.resampled) == {"fast/run", "sneak"}
    lengths = dict(zip(lib.ids, np.diff(lib.frames.starts), strict=True))
    assert lengths["walk"] < 0.6 * lengths["sneak"]


def test_clips_of_other_proportions_are_retargeted_and_reported(clips):
    ml.save(made("walk", height=1.4), clips / "child.bvh")
    lib = Collection.ingest(clips, fps=30)
    assert lib.report.retargeted == ("child",)
    assert "child: retargeted" in str(lib.report)
    assert lib.motion("child").skeleton.same_joints(lib.motion("walk").skeleton)


def test_the_skeleton_can_be_given(clips):
    small = made("walk", height=1.4)
    lib = Collection.ingest(clips, fps=30, skeleton=small)
    assert set(lib.report.retargeted) == set(lib.ids)
    assert np.allclose(lib.frames.skeleton.offsets, small.skeleton.offsets)
    by_skeleton = Collection.ingest(clips, fps=30, skeleton=small.skeleton)
    assert by_skeleton.frames.n_rows == lib.frames.n_rows


def test_two_files_of_one_name_keep_their_suffix(clips):
    ml.save(made("walk"), clips / "walk.glb")
    lib = Collection.ingest(clips, fps=30)
    assert lib.ids == ("fast/run", "sneak", "walk.bvh", "walk.glb")


def test_files_that_cannot_be_read_are_left_out_and_reported(clips):
    (clips / "broken.bvh").write_text("HIERARCHY\nROOT hips\n")
    (clips / "empty.bvh").write_text("")
    (clips / "readme.txt").write_text("not a clip")
    lib = Collection.ingest(clips, fps=30)
    assert [file for file, _ in lib.report.left_out] == ["broken.bvh", "empty.bvh"]
    assert "left out: empty.bvh" in str(lib.report)
    again = Collection.ingest(clips, fps=30)
    assert again.report.read == 0
    assert again.report.left_out == lib.report.left_out


def test_a_rig_without_feet_is_left_out(clips):
    skeleton = ml.Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (9, 2, 1))
    ml.save(ml.Motion(skeleton, np.zeros((9, 3)), quats, 30), clips / "stick.bvh")
    lib = Collection.ingest(clips, fps=30)
    assert lib.ids == ("fast/run", "sneak", "walk")
    assert [file for file, _ in lib.report.left_out] == ["stick.bvh"]


def test_a_sliding_pelvis_under_a_root_bone_is_made_rigid_and_keeps_its_place(tmp_path):
    from motionloom.body.root_motion import with_root_bone
    from motionloom.tables.collection.common_skeleton import make_rigid

    motion = with_root_bone(made("walk"))
    rigid, notes = make_rigid(motion)
    assert rigid.joint_translations is None
    assert any("put into" in note for note in notes)
    apart = rigid.world_positions()[:, 1:] - motion.world_positions()[:, 1:]
    assert np.abs(apart).max() < 1e-9
    (tmp_path / "clips").mkdir()
    ml.save(motion, tmp_path / "clips" / "a.glb")
    lib = Collection.ingest(tmp_path / "clips", fps=30)
    lead = lib.motion("a").world_positions()[:, 1:]
    assert np.abs(lead - motion.world_positions()[:, 1:]).max() < BVH_TEXT_M


def mixed_folder(folder, rooted, plain):
    """Clips of one rig under a root bone and of another without, by height and seconds."""
    from motionloom.body.root_motion import with_root_bone

    folder.mkdir()
    for k, (height, seconds) in enumerate([*rooted, *plain]):
        motion = ml.synthetic.clip("walk", duration_s=seconds, fps=30, height=height).motion
        motion = with_root_bone(motion) if k < len(rooted) else motion
        ml.save(motion, folder / f"{k}.mlm")
    return folder


def test_a_rig_with_many_subjects_is_not_outvoted_by_two_clips_of_one(tmp_path):
    subjects = [(height, 1.5) for height in (1.5, 1.6, 1.65, 1.7, 1.75, 1.8)]
    folder = mixed_folder(tmp_path / "clips", [(1.9, 1.5), (1.9, 1.5)], subjects)
    lib = Collection.ingest(folder, fps=30)
    assert lib.frames.skeleton.names[0] != "root"


def test_frames_count_more_than_clips(tmp_path):
    short = [(1.7, 1.0)] * 3
    folder = mixed_folder(tmp_path / "clips", [(1.9, 5.0)], short)
    assert Collection.ingest(folder, fps=30).frames.skeleton.names[0] == "root"


def test_of_one_rig_the_bone_lengths_of_most_frames_are_taken(tmp_path):
    folder = mixed_folder(
        tmp_path / "clips", [], [(1.5, 1.5), (1.5, 1.5), (1.8, 4.0), (1.6, 1.5), (1.6, 1.0)]
    )
    lib = Collection.ingest(folder, fps=30)
    expected = ml.synthetic.clip("walk", height=1.8).motion.skeleton.offsets
    assert np.allclose(lib.frames.skeleton.offsets[1:], expected[1:], atol=1e-6)
    assert set(lib.report.retargeted) == {"0", "1", "3", "4"}


def test_a_given_skeleton_has_its_root_in_the_pelvis(tmp_path, clips):
    from motionloom.body.root_motion import with_root_bone

    given = with_root_bone(made("walk", height=1.4))
    for skeleton in (given, given.skeleton):
        lib = Collection.ingest(clips, fps=30, skeleton=skeleton)
        assert np.abs(lib.frames.skeleton.offsets[1]).max() == 0.0
        assert np.abs(np.abs(lib.frames.quats[:, 0]) - [1, 0, 0, 0]).max() < 1e-5


def test_labels_are_kept_on_disk_and_name_rows(clips):
    lib = Collection.ingest(clips, fps=30)
    lib.annotate("walk", "stroll", frames=(5, 9))
    lib.annotate("sneak", "stroll")
    again = Collection.open(lib.path)
    first = again.frames.row_of("walk", 5)
    assert set(range(first, first + 5)) < set(again.label_rows("stroll").tolist())
    assert {label.clip for label in again.labels} == {"walk", "sneak"}
    assert again.digest == lib.digest


def test_labels_of_a_clip_come_back_with_it(clips):
    lib = Collection.ingest(clips, fps=30)
    lib.annotate("walk", "stroll", frames=(5, 9))
    held = (clips / "walk.bvh").read_bytes()
    (clips / "walk.bvh").unlink()
    without = Collection.ingest(clips, fps=30)
    assert without.labels == ()
    (clips / "walk.bvh").write_bytes(held)
    assert len(Collection.ingest(clips, fps=30).labels) == 1


def test_labels_are_read_from_a_table(clips, tmp_path):
    (tmp_path / "labels.csv").write_text("label,clip,last,first\nrunning, fast/run, 20, 3\n")
    lib = Collection.ingest(clips, fps=30, labels=tmp_path / "labels.csv")
    assert lib.labels == (("fast/run", "running", 3, 20),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clip,name\nwalk,a\n", "missing: label"),
        ("clip,label,first,last\nwalk,a,x,9\n", "line 2: frames must be whole"),
        ("clip,label,first,last\nwalk,,0,9\n", "needs a clip and a name"),
        ("clip,label,first,last\nwaltz,a,0,9\n", "A clip must be one of the collection"),
        ("clip,label,first,last\nwalk,a,0,999\n", "has frames 0 to"),
        ("clip,label,first,last\nwalk,a,9,5\n", "at or after its first"),
    ],
)
def test_labels_that_fit_nothing_are_refused(clips, tmp_path, text, message):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(TableError, match=message):
        Collection.ingest(clips, fps=30, labels=tmp_path / "labels.csv")


def test_an_unknown_label_is_refused_with_a_list_of_those_available(clips):
    lib = Collection.ingest(clips, fps=30)
    with pytest.raises(TableError, match="has no labels"):
        lib.label_rows("fly")
    lib.annotate("walk", "stroll")
    with pytest.raises(TableError, match=r"labels are: stroll"):
        lib.label_rows("fly")


def test_folders_without_clips_are_refused(tmp_path):
    with pytest.raises(TableError, match="is not there"):
        Collection.ingest(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="holds no clip"):
        Collection.ingest(tmp_path / "empty")
    (tmp_path / "empty" / "a.bvh").write_text("HIERARCHY")
    with pytest.raises(TableError, match="no readable clip"):
        Collection.ingest(tmp_path / "empty")
    assert not (tmp_path / "empty.mlc").exists()


def test_a_folder_with_other_things_in_it_is_not_written_over(clips, tmp_path):
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.doc").write_text("years of work")
    with pytest.raises(TableError, match="other things in it"):
        Collection.ingest(clips, out=other, fps=30)
    assert [file.name for file in other.iterdir()] == ["thesis.doc"]


def test_what_is_no_collection_is_not_opened(tmp_path, lib):
    with pytest.raises(TableError, match="is not there"):
        Collection.open(tmp_path / "none.mlc")
    with pytest.raises(TableError, match="is no collection"):
        Collection.open(tmp_path)
    copy = Path(shutil.copytree(lib.path, tmp_path / "copy.mlc"))
    catalogue = copy / "catalogue.json"
    whole = catalogue.read_text()
    for text, message in (
        (whole[: len(whole) // 2], "damaged"),
        ("[]", "no catalogue"),
        (whole.replace('"schema":1', '"schema":99'), "schema 99"),
        (whole.replace('"generation":1', '"generation":7'), "is not there"),
    ):
        catalogue.write_text(text)
        with pytest.raises(TableError, match=message):
            Collection.open(copy)


def test_rows_that_rotted_are_found_and_rows_that_are_gone_too(tmp_path, lib):
    copy = Path(shutil.copytree(lib.path, tmp_path / "copy.mlc"))
    body = next(copy.glob("body.*"))
    data = bytearray(body.read_bytes())
    data[len(data) // 2] ^= 1
    body.write_bytes(bytes(data))
    assert len(Collection.open(copy).find_damage()) == 1
    body.write_bytes(bytes(data[:-1]))
    with pytest.raises(TableError, match="must hold"):
        Collection.open(copy)


def test_a_full_disk_is_reported_and_leaves_the_old_collection(clips, monkeypatch):
    from motionloom.tables.collection import store

    before = Collection.ingest(clips, fps=30).digest
    ml.save(made("jog"), clips / "a.bvh")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store.RowWriter, "append", full)
    with pytest.raises(TableError, match="the disk is full"):
        Collection.ingest(clips, fps=30)
    assert Collection.open(clips.with_name("clips.mlc")).digest == before
    monkeypatch.undo()
    assert len(Collection.ingest(clips, fps=30).ids) == 4


def test_wrong_arguments_are_refused_by_name(clips):
    with pytest.raises(ArrayError, match="fps"):
        Collection.ingest(clips, fps=-1)
    with pytest.raises(ArrayError, match="plants"):
        Collection.ingest(clips, plants="guess")
    with pytest.raises(ArrayError, match="source_fps"):
        Collection.ingest(clips, source_fps={"a": 0})
    with pytest.raises(ArrayError, match="folder"):
        Collection.ingest(3)


KILLED = """
import sys, os, signal
from motionloom.tables.collection import ingest, store
ingest.CHECKPOINT_S = 0.0
calls = 0
def counted(function):
    def wrapper(*args, **kwargs):
        global calls
        calls += 1
        if calls == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return wrapper
store.RowWriter.append = counted(store.RowWriter.append)
store.RowWriter.copy = counted(store.RowWriter.copy)
store.RowWriter.flush = counted(store.RowWriter.flush)
ingest.write_catalogue = counted(ingest.write_catalogue)
store.discard_generations = counted(store.discard_generations)
from motionloom.tables.collection.collection import Collection
Collection.ingest(sys.argv[1], out=sys.argv[2], fps=30)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_kill_at_any_moment_leaves_the_old_collection_and_is_made_good_by_the_next(
    clips, tmp_path
):
    out = tmp_path / "lib.mlc"
    before = Collection.ingest(clips, out=out, fps=30).digest
    ml.save(made("jog"), clips / "jog.bvh")
    ml.save(made("walk", turn=0.4), clips / "walk.bvh")
    expected = Collection.ingest(clips, out=tmp_path / "fresh.mlc", fps=30).digest
    deaths = 0
    for moment in (2, 4, 6, 8, 9, 10):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(clips), str(out), str(moment)], check=False
        )
        deaths += done.returncode == -signal.SIGKILL
        lib = Collection.open(out)
        assert lib.digest in (before, expected)
        assert lib.find_damage() == []
        if done.returncode == 0:
            break
    assert deaths >= 3
    assert Collection.ingest(clips, out=out, fps=30).digest == expected


def test_plants_can_be_learned_ones_on_every_skeleton(clips, monkeypatch):
    from motionloom.motion.motion import Footplants
    from motionloom.tables.collection import common_skeleton

    def everywhere(method, motion, body):
        assert method == "learned"
        return Footplants(np.ones((motion.n_frames, 4), dtype=bool))

    ml.save(made("walk", height=1.4), clips / "child.bvh")
    monkeypatch.setattr(common_skeleton, "plants_by", everywhere)
    lib = Collection.ingest(clips, fps=30, plants="learned")
    assert lib.report.retargeted == ("child",)
    assert lib.frames.planted.all()


def test_files_that_are_no_clips_are_in_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    (folder / "deep").mkdir(parents=True)
    ml.save(ml.synthetic.clip("walk", duration_s=1.0, fps=20).motion, folder / "walk.bvh")
    for name in ("notes.txt", "deep/take.c3d.bak", ".hidden", "old.mlt", "skeleton.asf"):
        (folder / name).write_text("no clip")
    lib = Collection.ingest(folder, out=folder / "lib.mlc", fps=20)
    assert lib.report.skipped == ("deep/take.c3d.bak", "notes.txt")
    assert "skipped, not clips: deep/take.c3d.bak, notes.txt" in str(lib.report)
    again = Collection.ingest(folder, out=folder / "lib.mlc", fps=20)  # nothing is read
    assert again.report.skipped == lib.report.skipped
    assert Collection.open(lib.path).report.skipped == ()
