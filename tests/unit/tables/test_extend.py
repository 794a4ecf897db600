"""Clips added to a collection: a table takes them in, and what it had stays."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.build import build_table
from motionloom.tables.collection.collection import Collection
from motionloom.tables.extend import extend_table
from motionloom.tables.index.clusters import find_lookup
from motionloom.tables.index.index_build import build_index, extend_index, growth_of, window_index
from motionloom.tables.table import TransitionTable

FPS = 30
SMALL = {"length_s": 0.5, "clusters": 4, "lookup": 6, "progress": False, "jobs": 1}
BEFORE = ("run", "stand", "walk")
ADDED = {"ramble": "walk", "spurt": "run"}
"""Clips by their kinds. They come in between by name, so that rows of the others move."""
ITSELF_M = 5e-3
"""A context asked for finds its own window this near, codes being rounded."""
FOUND = 0.9
"""Of windows that came later at least this part is found so; the ends of codes cut off some."""


def save(folder, name, kind, **options):
    clip = ml.synthetic.clip(kind, duration_s=2.0, fps=FPS, **options)
    ml.save(clip.motion, folder / f"{name}.bvh")


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "clips"
    folder.mkdir()
    for kind in BEFORE:
        save(folder, kind, kind)
    lib = Collection.ingest(folder, fps=FPS)
    build_table(lib, out=tmp_path / "lib.mlt", **SMALL)
    return tmp_path


def grown(home):
    for name, kind in ADDED.items():
        save(home / "clips", name, kind, phase=0.05)
    return Collection.ingest(home / "clips", fps=FPS)


def test_recipes_stay_and_new_clips_are_looked_up_as_if_built_with_the_same_representatives(home):
    was = TransitionTable.open(home / "lib.mlt")
    places = [was.frames.place_of(int(row)) for row in was.ends]
    lib = grown(home)
    table = extend_table(home / "lib.mlt", lib, out=home / "more.mlt")
    assert [table.frames.place_of(int(row)) for row in table.ends] == places
    assert np.array_equal(table.between, was.between)
    assert np.array_equal(table.costs, was.costs)
    whole = find_lookup(lib.frames, table.medoids, table.ends, length=table.length)
    for name, array in whole.arrays().items():
        assert np.array_equal(table.lookup.arrays()[name], array), name
    for clip in (*BEFORE, *ADDED):
        made = table.transition((clip, 20), ("walk", 40), longest_s=table.length_s)
        assert made.motion.n_frames == table.length


def test_the_old_table_may_be_replaced_and_is_found_by_its_collection(home):
    extend_table(home / "lib.mlt", grown(home))
    again = TransitionTable.open(home / "lib.mlt")
    assert set(again.frames.ids) == {*BEFORE, *ADDED}


def test_a_table_of_an_unchanged_collection_stays_as_it_is(home):
    before = (home / "lib.mlt").read_bytes()
    extend_table(home / "lib.mlt", Collection.open(home / "clips.mlc"))
    assert (home / "lib.mlt").read_bytes() == before


def test_extending_looks_at_new_windows_only(home, monkeypatch):
    from motionloom.tables.index import clusters
    from motionloom.tables.index import index_build as growth

    seen = []
    contexts, features = growth.contexts, clusters.stream_features

    def counted(frames, rows, **options):
        seen.append(len(rows))
        return contexts(frames, rows, **options)

    def streamed(frames, rows, shape):
        seen.append(len(rows))
        return features(frames, rows, shape)

    lib = grown(home)
    monkeypatch.setattr(growth, "contexts", counted)
    monkeypatch.setattr(clusters, "stream_features", streamed)
    extend_table(home / "lib.mlt", lib)
    new = sum(lib.frames.starts[k + 1] - lib.frames.starts[k] for k in range(5)
              if lib.frames.ids[k] in ADDED)  # fmt: skip
    assert 0 < max(seen) <= new


def test_a_grown_index_finds_every_window_by_its_own_start_and_end(home):
    from motionloom.tables.index.contexts import contexts

    was = Collection.open(home / "clips.mlc")
    index, before = window_index(was, 15), was.frames.ids
    lib = grown(home)
    frames = lib.frames
    more = extend_index(index, frames, growth_of(frames, before))
    fresh = build_index(frames, length=15)
    assert np.array_equal(more.ways, fresh.ways)
    assert np.array_equal(more.speeds, fresh.speeds)
    for rows in (more.by_start, more.by_end, more.by_both):
        assert np.array_equal(np.sort(rows.members), frames.windows(15))
        for k in range(len(rows.centres)):
            assert (np.diff(rows.members[rows.list_first[k] : rows.list_first[k + 1]]) > 0).all()
    windows = frames.windows(15)[::5]
    starts = contexts(frames, windows, side="start")
    ends = contexts(frames, windows + 14, side="end")
    near = [
        bool(more.nearest(start, end, count=1).distances[0] < ITSELF_M)
        for start, end in zip(starts, ends, strict=True)
    ]
    is_new = np.isin([frames.place_of(int(row))[0] for row in windows], list(ADDED))
    assert np.all(np.array(near)[~is_new])
    assert np.mean(np.array(near)[is_new]) > FOUND


def test_an_index_is_not_grown_by_what_it_cannot_write_down(home):
    was = Collection.open(home / "clips.mlc")
    index, before = window_index(was, 15), was.frames.ids
    save(home / "clips", "kick", "kick")
    lib = Collection.ingest(home / "clips", fps=FPS)
    assert extend_index(index, lib.frames, growth_of(lib.frames, before)) is None
    table = extend_table(home / "lib.mlt", lib)
    assert np.array_equal(table.neighbours.starts, build_index(lib.frames, length=15).starts)


def test_clips_that_changed_or_are_gone_are_named(home):
    save(home / "clips", "walk", "walk", speed=1.1)
    with pytest.raises(TableError, match="'walk' changed or is gone"):
        extend_table(home / "lib.mlt", Collection.ingest(home / "clips", fps=FPS))
    (home / "clips" / "walk.bvh").unlink()
    with pytest.raises(TableError, match="'walk' changed or is gone"):
        extend_table(home / "lib.mlt", Collection.ingest(home / "clips", fps=FPS))


def test_what_is_no_table_is_refused(home):
    (home / "other.mlt").write_bytes(b"something else")
    with pytest.raises(TableError, match="no motionloom table"):
        extend_table(home / "other.mlt", Collection.open(home / "clips.mlc"))
