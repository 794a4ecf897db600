"""Labels: whole frames only, and a bad line in their file closes nothing."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, MotionLoomError, TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.labels import (
    LABELS,
    Label,
    checked_label,
    read_labels,
    usable_labels,
)


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels") / "clips"
    folder.mkdir()
    ml.save(ml.synthetic.clip("walk", duration_s=1.0, fps=30).motion, folder / "walk.bvh")
    return Collection.ingest(folder, fps=30)


@pytest.fixture
def fresh(lib):
    (lib.path / LABELS).unlink(missing_ok=True)
    return Collection.open(lib.path)


@pytest.mark.parametrize(
    "frames",
    [(0, 5.5), (0.0, 5), (True, 5), ("0", "5"), (0, np.float64(5)), (0, None), (0, float("nan")),
     (5,), (5, 6, 7), 5, "ab", (0, 10**6), (-1, 5), (7, 3)],
)  # fmt: skip
def test_frames_that_are_not_two_whole_numbers_of_the_clip_are_refused_and_nothing_is_written(
    fresh, frames
):
    with pytest.raises(MotionLoomError):
        fresh.annotate("walk", "w", frames=frames)
    assert not (fresh.path / LABELS).exists()
    assert Collection.open(fresh.path).labels == ()


def test_whole_numbers_of_numpy_are_kept_as_plain_ones(fresh):
    fresh.annotate("walk", "w", frames=(np.int64(2), np.int32(5)))
    assert (fresh.path / LABELS).read_text() == "clip,label,first,last\nwalk,w,2,5\n"
    assert Collection.open(fresh.path).labels == fresh.labels == (Label("walk", "w", 2, 5),)


def test_a_name_is_the_same_after_opening_again(fresh):
    fresh.annotate("walk", " slow walk ")
    assert fresh.labels == Collection.open(fresh.path).labels
    assert fresh.labels[0].label == "slow walk"


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "a\nb"])
def test_names_that_a_line_cannot_hold_are_refused(fresh, name):
    with pytest.raises(TableError, match="name"):
        fresh.annotate("walk", name)


@pytest.mark.parametrize(("clip", "label"), [(5, "a"), ("walk", 5), ("walk", ["run"])])
def test_clip_and_label_are_texts(lib, clip, label):
    with pytest.raises(ArrayError, match="must be a str"):
        checked_label(Label(clip, label, 0, 1), lib.frames)


def test_a_bad_line_is_reported_and_the_other_labels_count(fresh):
    text = "clip,label,first,last\nwalk,good,0,3\nwalk,bad,0,5.5\nwalk,,1,2\nwalk,too,4,5\n"
    (fresh.path / LABELS).write_text(text)
    opened = Collection.open(fresh.path)
    assert [label.label for label in opened.labels] == ["good", "too"]
    assert [fault.split(LABELS)[1][:8] for fault in opened.label_faults] == [", line 3", ", line 4"]
    assert opened.find_damage()[:2] == list(opened.label_faults)
    with pytest.raises(TableError, match=r"line 3.*Repair or delete that line"):
        opened.annotate("walk", "new")
    assert (fresh.path / LABELS).read_text() == text


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b"clip;label\n", b"clip,label,first,last\nwalk," + b"x" * 200_000],
)
def test_a_file_that_holds_no_labels_closes_no_collection(fresh, content):
    (fresh.path / LABELS).write_bytes(content)
    opened = Collection.open(fresh.path)
    assert opened.labels == ()
    assert len(opened.label_faults) == 1
    with pytest.raises(TableError):
        read_labels(fresh.path / LABELS)


def test_new_labels_are_not_added_to_a_damaged_file_and_nothing_is_ingested_first(fresh, tmp_path):
    more_labels = tmp_path / "more.csv"
    more_labels.write_text("clip,label\nwalk,more\n")
    (fresh.path / LABELS).write_text("clip,label,first,last\nwalk,bad,x,y\n")
    with pytest.raises(TableError, match="line 2"):
        Collection.ingest(fresh.source_folder, fps=30, labels=more_labels)


def test_a_missing_file_is_reported(tmp_path):
    labels, faults = usable_labels(tmp_path / "none.csv")
    assert labels == []
    assert "no such file" in faults[0]
