"""Tables: built, opened, asked, and distinguished from other files."""

import gc
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.tables.build import build_table
from motionloom.tables.collection.collection import Collection
from motionloom.tables.evaluation.replay import replay_entries
from motionloom.tables.synthesis.fill import fill
from motionloom.tables.synthesis.gap_windows import WindowQuery
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_contents import NO_RECIPE, NO_WINDOW

FPS = 30
LENGTH_S = 0.5
CLUSTERS = 5
SMALL = {"length_s": LENGTH_S, "clusters": CLUSTERS, "lookup": 8, "progress": False, "jobs": 1}


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table") / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "sneak", "stand"):
        clip = ml.synthetic.clip(kind, duration_s=2.0, fps=FPS)
        ml.save(clip.motion, folder / f"{kind}.bvh")
    made = Collection.ingest(folder, fps=FPS)
    made.annotate("run", "fast")
    return made


@pytest.fixture(scope="module")
def table(lib):
    return build_table(lib, **SMALL)


def copied(table, tmp_path):
    """The table and its collection somewhere else, to be corrupted."""
    shutil.copytree(table.collection.path, tmp_path / table.collection.path.name)
    return Path(shutil.copy(table.file, tmp_path / table.file.name))


def test_it_lies_beside_its_collection_and_leaves_nothing_else(table, lib):
    assert table.file == lib.path.with_suffix(".mlt")
    assert not table.file.with_name(f"{table.file.name}.part").exists()


def test_every_entry_has_recipes_over_clusters_the_best_first(table):
    costs = table.costs.astype(np.float64)
    assert np.isfinite(costs[..., 0]).all()
    assert (np.diff(costs, axis=-1) >= 0.0).all()
    there = table.between[table.between < NO_RECIPE]
    assert there.max() < CLUSTERS
    assert (table.between == NO_WINDOW).any()


def test_an_entry_has_the_real_windows_at_its_ends(table):
    entry = table.entry(("walk", 10), ("run", 40))
    first = table.frames.row_of("walk", 10)
    last = table.frames.row_of("run", 40) - table.length + 1
    assert entry.recipes
    for recipe in entry.recipes:
        assert (recipe.rows[0], recipe.rows[-1]) == (first, last)
        assert set(recipe.rows[1:-1]) <= set(table.medoids.tolist())
    between = table.recipes(entry.source, entry.target)
    assert [recipe.rows[1:-1] for recipe in entry.recipes] == [
        recipe.rows[1:-1] for recipe in between.recipes
    ]


def test_frames_near_the_ends_of_a_clip_use_its_last_and_first_window(table):
    entry = table.entry(("walk", 60), ("run", 0))
    assert entry.recipes[0].rows[0] == table.frames.row_of("walk", 60) - table.length + 1
    assert entry.recipes[0].rows[-1] == table.frames.row_of("run", 0)


def test_opened_again_it_has_the_same_info(table, lib):
    again = TransitionTable.open(table.file)
    assert again.collection.path == lib.path
    assert again.info() == table.info()
    assert again.find_damage() == []
    assert again.info()["labels"] == ["fast"]


def test_built_again_it_has_the_same_bytes_for_any_number_of_workers(table, lib, tmp_path):
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}" / table.file.name
        again = build_table(lib, out=out, **{**SMALL, "jobs": jobs})
        assert again.between.tobytes() == table.between.tobytes()
        assert again.costs.tobytes() == table.costs.tobytes()
        assert again.settings == table.settings
    first, second = (tmp_path / f"{jobs}" / table.file.name for jobs in (1, 2))
    assert first.read_bytes() == second.read_bytes()


def test_as_many_representatives_as_clusters_is_the_papers_table(lib, tmp_path):
    paper = build_table(lib, out=tmp_path / "p.mlt", **{**SMALL, "lookup": CLUSTERS})
    assert np.array_equal(paper.ends, paper.medoids)


def test_more_ways_never_cost_more(lib, tmp_path):
    options = {**SMALL, "lookup": CLUSTERS}
    tables = [
        build_table(lib, out=tmp_path / f"{len(ways)}.mlt", ways=ways, **options)
        for ways in ((2,), (2, 3), (2, 3, 4))
    ]
    best = [each.costs[..., 0].astype(np.float64) for each in tables]
    assert (best[1] <= best[0]).all()
    assert (best[2] <= best[1]).all()
    assert len(tables[0].recipes(0, 1).recipes) == 1


def test_a_table_finds_its_collection_where_both_were_moved(table, tmp_path):
    moved = copied(table, tmp_path)
    assert TransitionTable.open(moved).collection.path == tmp_path / table.collection.path.name


def test_a_table_away_from_its_collection_opens_with_the_path_of_it(table, lib, tmp_path):
    alone = Path(shutil.copy(table.file, tmp_path / "alone.mlt"))
    with pytest.raises(TableError, match="Pass its place as collection="):
        TransitionTable.open(alone)
    assert TransitionTable.open(alone, collection=lib.path).n_ends == 8
    assert TransitionTable.open(alone, collection=lib).n_ends == 8


def test_changed_sources_are_named(table, lib, tmp_path):
    folder = Path(shutil.copytree(lib.source_folder, tmp_path / "clips"))
    moved = copied(table, tmp_path)
    ml.save(ml.synthetic.clip("walk", duration_s=2.0, fps=FPS, seed=3).motion, folder / "walk.bvh")
    (folder / "sneak.bvh").unlink()
    ml.save(ml.synthetic.clip("jog", duration_s=2.0, fps=FPS).motion, folder / "jog.bvh")
    Collection.ingest(folder, out=tmp_path / lib.path.name, fps=FPS)
    with pytest.raises(TableError, match=r"changed: walk; gone: sneak; new: jog"):
        TransitionTable.open(moved)


def test_a_damaged_table_is_refused(table, tmp_path):
    moved = copied(table, tmp_path)
    data = bytearray(moved.read_bytes())
    data[-table.costs.nbytes // 2] ^= 1
    moved.write_bytes(bytes(data))
    with pytest.raises(TableError, match="damaged"):
        TransitionTable.open(moved)


def test_damaged_frames_are_found_by_looking(table, tmp_path):
    moved = copied(table, tmp_path)
    rows = next((tmp_path / table.collection.path.name).glob("points.*.rows"))
    data = bytearray(rows.read_bytes())
    data[100] ^= 1
    rows.write_bytes(bytes(data))
    assert any("damaged" in each for each in TransitionTable.open(moved).find_damage())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": 250}, "at least 250 windows"),
        ({"length_s": 5.0}, "longest of the"),
        ({"length_s": 0.01}, "length_s"),
        ({"ways": (2, 5)}, "ways"),
        ({"ways": ()}, "ways"),
        ({"clusters": 1}, "clusters"),
        ({"lookup": 3}, "lookup"),
        ({"score": "beauty"}, "score"),
        ({"jobs": 0}, "jobs"),
    ],
)
def test_invalid_builds_are_refused(lib, tmp_path, options, message):
    with pytest.raises((TableError, ArrayError), match=message):
        build_table(lib, out=tmp_path / "a.mlt", **{**SMALL, "lookup": None, **options})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_a_table(lib, tmp_path):
    with pytest.raises(TableError, match="is a folder"):
        build_table(lib, out=tmp_path, **SMALL)


def test_invalid_places_are_refused(table):
    with pytest.raises(TableError, match="must be a representative"):
        table.recipes(0, 99)
    with pytest.raises(TableError, match="must be one of the collection"):
        table.entry(("waltz", 0), ("run", 20))
    with pytest.raises(TableError, match="has frames 0 to"):
        table.entry(("walk", 999), ("run", 20))


def test_every_entry_replays_to_the_last_bit(table):
    assert replay_entries(table, count=64) == []


def test_an_entry_that_was_changed_does_not_replay(table, tmp_path):
    moved = copied(table, tmp_path)
    corrupted = TransitionTable.open(moved)
    corrupted.between[2, 3, 0] = (corrupted.between[2, 3, 0] + 1) % CLUSTERS
    corrupted.costs[4, 4, 0] += 1.0
    found = {(each.source, each.target) for each in replay_entries(corrupted, count=64)}
    assert found == {(2, 3), (4, 4)}


def test_as_many_entries_are_replayed_as_are_asked_for(table, tmp_path):
    corrupted = TransitionTable.open(copied(table, tmp_path))
    corrupted.costs[..., 0] += 1.0
    for count in (1, 5):
        found = replay_entries(corrupted, count=count)
        assert len({(each.source, each.target) for each in found}) == count
        assert all("the best costs" in str(each) for each in found)
    assert found != replay_entries(corrupted, count=5, seed=1)


def test_an_entry_has_one_cost_for_each_recipe_as_far_as_they_are_kept(table, tmp_path):
    corrupted = TransitionTable.open(copied(table, tmp_path))
    assert corrupted.costs.shape[2] > 2
    for count in range(3):
        corrupted.between[2, 3, count:] = NO_RECIPE
        entry = corrupted.recipes(2, 3)
        assert len(entry.recipes) == count
        assert entry.costs.tolist() == table.costs[2, 3, :count].astype(np.float64).tolist()
        corrupted.between[2, 3] = table.between[2, 3]
    entry = table.recipes(2, 3)
    assert len(entry.costs) == min(len(entry.recipes), table.costs.shape[2])


@pytest.mark.parametrize("last", [10 + 15 - 3, 26])
def test_a_gap_is_filled_from_its_clips_by_the_index_where_that_has_its_length(table, last):
    frames = table.frames
    walk = frames.motion(0, int(frames.starts[1]) - 1)
    made = table.fill(walk, 10, last, count=4)
    alone = fill(frames, walk, 10, last, WindowQuery(count=4))
    assert made.span == (10, last)
    at = made.span[0] + 1
    for each in (made, alone):  # its own second, which is as near as can be
        source = each.provenance.sources[int(each.provenance.body.clip[at, 0])]
        assert (source, each.provenance.body.time[at, 0]) == (frames.ids[0], at / frames.fps)
    kept = np.r_[0:10, last + 1 : walk.n_frames]
    assert np.array_equal(made.motion.root_positions[kept], walk.root_positions[kept])


def test_a_table_that_nobody_holds_is_released_with_its_files(table):
    """A server that opens one table after the other must not keep them all."""
    used = TransitionTable.open(table.file)
    made = used.transition(("walk", 5), ("run", 30))
    stream = used.stream(("walk", 5))
    stream.go(frame=("run", 30))
    stream.step()
    gone = weakref.ref(used), weakref.ref(used.frames.quats)
    del used, made, stream
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_threads_that_share_a_table_get_what_one_alone_gets(table):
    """Queries of several pages at once mixed up each other's windows, one in a thousand."""
    places = [(name, frame) for name in ("walk", "run", "sneak") for frame in (3, 12, 25)]
    asked = [(a, b) for a in places for b in places if a != b]

    def made(pair):
        found = table.transition(*pair)
        return found.recipe.rows, found.taken.cost

    alone = [made(pair) for pair in asked]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(made, asked)) == alone
