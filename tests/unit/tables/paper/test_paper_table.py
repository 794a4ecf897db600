"""The papers' table: built, stored, asked, replayed and refused where it cannot serve."""

import pickle

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.rotation import quat
from motionloom.tables.collection.labels import Label
from motionloom.tables.evaluation.replay import replay_entries
from motionloom.tables.paper.paper_engine import make_recipe
from motionloom.tables.paper.pose_forms import mean_of_positions, nested_rotations
from motionloom.tables.paper.time_alignment import RecipeTimes, aligned
from motionloom.tables.runtime_file import save_runtime
from motionloom.tables.score.recipe import FAMILIES, Recipe
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_file import open_table_file, write_table_file

FPS, LENGTH, CLUSTERS = 30.0, 20, 6
KINDS = ("walk", "run", "sneak", "stand")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("paper")


@pytest.fixture(scope="module")
def lib(place):
    folder = place / "clips"
    folder.mkdir()
    for kind in KINDS:
        ml.save(ml.synthetic.clip(kind, duration_s=3.0).motion, folder / f"{kind}.bvh")
    lib = ml.Collection.ingest(folder, out=place / "clips.mlc", fps=FPS)
    lib.add_labels([Label("run", "fast", 30, 80)])
    return lib


def build(lib, file, **options):
    return ml.build_table(
        lib, out=file, length_s=LENGTH / FPS, clusters=CLUSTERS, progress=False,
        **{"method": "paper", **options},
    )  # fmt: skip


@pytest.fixture(scope="module", params=[2007, 2006])
def table(lib, place, request):
    return build(lib, place / f"{request.param}.mlt", edition=request.param)


def test_it_keeps_one_recipe_of_each_pair_with_its_time_alignment(table):
    assert table.method == "paper"
    assert table.between.shape == (CLUSTERS, CLUSTERS, 1, 2)
    times = RecipeTimes.of_file(table.arrays)
    borders = table.header.edition == 2006
    for i in range(CLUSTERS):
        for j in range(CLUSTERS):
            recipe = table.recipes(i, j).recipes[0]
            cached, family = times.entry(i, j, recipe.n_ways)
            again = aligned(table.frames, recipe, borders=borders).times
            if again is None:
                again = np.tile(np.arange(LENGTH)[:, None], (1, recipe.n_ways))
            assert np.array_equal(cached, again)
            assert family == "bernstein"
    assert times.lengths().min() >= 2
    assert times.lengths().max() <= 2 * LENGTH


def test_some_recipes_of_the_first_paper_are_warped(table):
    lengths = RecipeTimes.of_file(table.arrays).lengths()
    if table.header.edition == 2006:
        assert (lengths != LENGTH).any()


def test_the_same_bytes_whatever_the_number_of_threads(lib, place):
    one = build(lib, place / "one.mlt", jobs=1).file.read_bytes()
    assert build(lib, place / "two.mlt", jobs=2).file.read_bytes() == one


def test_entries_come_out_the_same_when_replayed(table):
    assert replay_entries(table, count=12) == []


def test_a_transition_is_the_cached_recipe_and_begins_and_ends_as_captured(table):
    joined = table.transition(("walk", 5), ("run", 70), lead_s=0.2, follow_s=0.2)
    first, last = joined.span
    assert last - first + 1 == joined.recipe.n_frames == len(joined.recipe.times)
    engine = table.paper_engine
    frames = table.frames
    source, target = frames.row_of("walk", 5), frames.row_of("run", 70)
    assert (joined.recipe.rows[0], joined.recipe.rows[-1] + LENGTH - 1) == (source, target)
    for frame, row in ((first, source), (last, target)):
        captured = quat.normalize(frames.quats[row].astype(np.float64))
        angles = quat.angle_between(joined.motion.local_quats[frame, 1:], captured[1:])
        assert angles == pytest.approx(0.0, abs=2e-3)
    assert joined.cost == engine.cost(joined.recipe) == pytest.approx(joined.score.total, rel=1e-5)
    assert joined.score.natural == (joined.score.total < 6.0 and not joined.failed)
    assert len(joined.candidates) == 1
    assert joined.candidates[-1].recipe is joined.recipe
    with pytest.raises(IndexError):
        joined.candidates[1]


def test_poses_are_those_of_the_edition_where_feet_are_free(table):
    recipe = table.paper_engine.recipe(
        table.frames.row_of("run", 4), table.frames.row_of("walk", 9)
    )
    made = make_recipe(table.paper_engine, recipe).frames
    form = {2006: nested_rotations, 2007: mean_of_positions}[table.header.edition]
    pose = form(table.frames, recipe)
    arms = [table.frames.body_map.left_elbow, table.frames.body_map.right_shoulder]
    assert quat.angle_between(made.quats[:, arms], pose.quats[:, arms]) == pytest.approx(
        0, abs=1e-6
    )


def test_bones_keep_their_lengths_and_feet_stand_where_they_are_labelled(table):
    joined = table.transition(("walk", 5), ("sneak", 60))
    joints = joined.motion.world_positions()
    parents = table.skeleton.parents
    bones = np.linalg.norm(joints[:, 1:] - joints[:, parents[1:]], axis=-1)
    lengths = np.linalg.norm(table.skeleton.offsets[1:], axis=-1)
    assert bones == pytest.approx(np.broadcast_to(lengths, bones.shape), abs=1e-6)
    assert joined.footplants.planted.any()


def test_a_label_is_arrived_at_and_a_variation_has_other_intermediaries(table):
    joined = table.transition(("walk", 5), label="fast")
    assert table.frames.place_of(joined.recipe.rows[-1] + LENGTH - 1)[0] == "run"
    over = next(
        joined.recipe
        for joined in (table.transition((a, 4), (b, 70)) for a in KINDS for b in KINDS)
        if joined.recipe.n_ways > 2
    )
    place_of = table.frames.place_of
    source, target = place_of(over.rows[0]), place_of(over.rows[-1] + LENGTH - 1)
    rows = {table.transition(source, target, variation=k).recipe.rows for k in range(8)}
    assert len(rows) > 1
    for number in range(8):
        varied = table.transition(source, target, variation=number)
        is_other = varied.recipe.rows != over.rows
        assert (f"is variation {number} of the cached recipe" in varied.why) == is_other
        assert ("is the cached recipe" in varied.why) == (not is_other)
    assert {(each[0], each[-1]) for each in rows} == {(over.rows[0], over.rows[-1])}


def test_paths_and_pickles_and_extended_tables_work(table, place):
    assert table.path(("walk", 5), ("run", 70)).table_in > 0.0
    joined = table.transition(("walk", 5), ("run", 70))
    assert pickle.loads(pickle.dumps(joined)).cost == joined.cost
    again = ml.extend_table(table.file, table.collection, out=place / "more.mlt")
    assert again.method == "paper"
    other = again.transition(("walk", 5), ("run", 70))
    assert np.array_equal(other.motion.local_quats, joined.motion.local_quats)


def test_why_names_the_cached_recipe_and_a_note_reports_a_longer_one(table):
    joined = table.transition(("walk", 5), ("run", 70), rescore=0)
    assert "is the cached recipe of the two clusters" in joined.why
    assert "no other" in joined.why or joined.verification.passed
    assert not any("cached recipe takes" in note for note in joined.notes)
    short = table.transition(("walk", 5), ("run", 70), longest_s=0.1)
    assert any("more than 0.1 s" in note for note in short.notes)


@pytest.mark.parametrize(
    "option", [{"search": True}, {"tolerance_s": 0.2}, {"rescore": 8}, {"still_feet": True}]
)
def test_options_that_choose_among_recipes_are_refused_in_words(table, option):
    with pytest.raises(ArrayError, match="one recipe for each pair"):
        table.transition(("walk", 5), ("run", 70), **option)


def test_what_it_cannot_do_is_refused_in_words(table, place):
    for ask in (lambda: table.stream(("walk", 0)), lambda: save_runtime(table, place / "t.mlr")):
        with pytest.raises(TableError, match="default method"):
            ask()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "papers"}, "`method` must be"),
        ({"method": "default", "edition": 2006}, "`edition` must be left out"),
        ({"edition": 2008}, "`edition` must be 2006 or 2007"),
        ({"score": "natural"}, '`score` must be "paper"'),
        ({"weights": "best"}, "`weights` must be"),
        ({"lookup": 9}, "`lookup` must be `clusters`"),
        ({"engine": ml.engine_of(jobs=1)}, "leave `engine` out"),
        ({"masses": [1.0, 2.0]}, "`masses` must be 16"),
        ({"masses": [0.0] * 16}, "`masses` must be 16 positive"),
        ({"method": "default", "weights": "search"}, "`weights` must be"),
    ],
)
def test_options_that_do_not_fit_are_refused(lib, place, options, text):
    with pytest.raises(ArrayError, match=text):
        build(lib, place / "no.mlt", **options)


def test_families_that_are_searched_cost_no_more_than_the_first(lib, place):
    plain = build(lib, place / "plain.mlt")
    searched = build(lib, place / "searched.mlt", weights="search")
    families = RecipeTimes.of_file(searched.arrays).families
    assert (searched.costs <= plain.costs).all()
    assert len(np.unique(families)) > 1
    assert (searched.costs[..., 0][families > 0] < plain.costs[..., 0][families > 0]).any()
    i, j = np.argwhere(families > 0)[0]
    ends = int(searched.ends[i]), int(searched.ends[j])
    recipe = searched.paper_engine.recipe(*ends)
    assert recipe.family == tuple(FAMILIES)[families[i, j]]
    assert searched.paper_engine.cost(recipe) == pytest.approx(searched.costs[i, j, 0], rel=1e-3)
    assert replay_entries(searched, count=12) == []


def test_masses_change_balance_and_are_kept_in_the_file(lib, place):
    heavy = np.ones(16)
    heavy[3] = 20.0
    for method in ("default", "paper"):
        plain = build(lib, place / "plain.mlt", method=method)
        fitted = build(lib, place / "masses.mlt", method=method, masses=heavy)
        assert fitted.header.masses == pytest.approx(heavy / heavy.sum())
        assert plain.header.masses is None
        again = TransitionTable.open(fitted.file)
        a, b = (each.transition(("walk", 5), ("run", 70)) for each in (fitted, again))
        assert a.cost == b.cost
        assert replay_entries(fitted, count=6) == []
        same = Recipe(a.recipe.rows, LENGTH)
        first, other = (each.query_engine.score([same.rows]).columns[0] for each in (plain, fitted))
        assert not np.array_equal(first, other)


def test_a_table_of_before_has_the_default_method(lib, place):
    table = build(lib, place / "default.mlt", method="default")
    assert "method" not in table.settings
    assert table.method == "default"
    with pytest.raises(KeyError):
        RecipeTimes.of_file(table.arrays)


def test_a_build_that_was_stopped_goes_on(lib, place, monkeypatch):
    from motionloom.tables.paper import paper_search

    whole = build(lib, place / "whole.mlt").file.read_bytes()
    searched = []

    def some(job, left, jobs):
        searched.append(len(left))
        for number, row in enumerate(rows(job, left, jobs)):
            if number == 2 and len(searched) == 1:
                raise KeyboardInterrupt
            yield row

    rows = paper_search.search_rows
    monkeypatch.setattr(paper_search, "search_rows", some)
    with pytest.raises(KeyboardInterrupt):
        build(lib, place / "stopped.mlt")
    assert build(lib, place / "stopped.mlt").file.read_bytes() == whole
    assert searched == [CLUSTERS, CLUSTERS - 2]


@pytest.mark.parametrize(
    ("name", "at", "value", "text"),
    [
        ("paper.times", (0, 0), LENGTH, "frames of windows"),
        ("paper.times", (3, 0), 0, "no frame or one"),
        ("paper.firsts", 0, 1, "follow one another"),
        ("paper.families", (0, 0), 9, "unknown family"),
    ],
)
def test_a_crafted_file_is_refused(table, place, name, at, value, text):
    file = open_table_file(table.file)
    arrays = {key: np.array(array) for key, array in file.arrays.items()}
    arrays[name][at] = value
    header = {key: file.header[key] for key in ("length", "settings", "ranking", "collection")}
    write_table_file(place / "bad.mlt", header, arrays)
    with pytest.raises(TableError, match=text):
        TransitionTable.open(place / "bad.mlt")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"method": "other"}, "'method' must be one of"),
        ({"edition": 1999}, "'edition' must be"),
        ({"families": ["none"]}, "'families' must be"),
        ({"masses": [1.0]}, "'masses' must be 16"),
    ],
)
def test_a_crafted_header_is_refused(table, place, settings, text):
    file = open_table_file(table.file)
    header = {key: file.header[key] for key in ("length", "settings", "ranking", "collection")}
    header["settings"] = {**header["settings"], **settings}
    write_table_file(place / "bad.mlt", header, file.arrays)
    with pytest.raises(TableError, match=text):
        TransitionTable.open(place / "bad.mlt")


def test_arrays_of_the_papers_are_unknown_to_other_tables(lib, place, table):
    plain = build(lib, place / "default.mlt", method="default")
    file = open_table_file(plain.file)
    header = {key: file.header[key] for key in ("length", "settings", "ranking", "collection")}
    write_table_file(
        place / "bad.mlt", header, {**file.arrays, "paper.families": np.zeros((2, 2), np.uint8)}
    )
    with pytest.raises(TableError, match="which no table has"):
        TransitionTable.open(place / "bad.mlt")
