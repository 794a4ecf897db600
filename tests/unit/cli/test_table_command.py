"""motionloom table: a folder of clips to transitions, on the command line."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb

FPS = 30
BUILD = (
    "--length", "0.5", "--clusters", "4", "--lookup", "6", "--fps", str(FPS), "--jobs", "1"
)  # fmt: skip


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips") / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "stand"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0, fps=FPS).motion, folder / f"{kind}.bvh")
    (folder / "broken.bvh").write_text("HIERARCHY")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("table")


@pytest.fixture
def table(run, clips: Path, home: Path) -> Path:
    """Built by the first test that wants it."""
    out = home / "lib.mlt"
    if not out.exists():
        labels = clips.parent / "labels.csv"
        labels.write_text("clip,label,first,last\nrun,fast,20,50\n")
        done = run("table", "build", clips, "-o", out, *BUILD, "--labels", labels)
        assert done.code == 0, done.err
        assert "3 clips" in done.out
        assert "left out: broken.bvh" in done.err
    return out


def test_a_table_is_built_whole_with_its_collection_beside_it(table: Path) -> None:
    assert sorted(file.name for file in table.parent.iterdir()) == ["lib.mlc", "lib.mlt"]


def test_what_exists_is_not_built_over(run, clips, table: Path) -> None:
    before = table.read_bytes()
    done = run("table", "build", clips, "-o", table, *BUILD)
    assert done.code == 2
    assert "exists already" in done.err
    again = run("table", "build", table.with_suffix(".mlc"), "-o", table, "--force", *BUILD)
    assert again.code == 0, again.err
    assert table.read_bytes() == before


def test_clips_and_labels_that_end_dead_are_warned_of(
    run, clips, table: Path, tmp_path, monkeypatch
):
    ends = ml.DeadEnds(tuple("abcdefgh"), ("fast",))
    monkeypatch.setattr(ml.TransitionTable, "dead_ends", lambda self, *, progress: ends)
    done = run("table", "build", table.with_suffix(".mlc"), "-o", tmp_path / "again.mlt", *BUILD)
    assert done.code == 0, done.err
    assert "8 clips end dead" in done.err
    assert "(a, b, c, d, e, f, ...)" in done.err
    assert "1 labels cannot" not in done.err
    assert "1 label cannot be held (fast)" in done.err


def test_a_transition_of_a_table_goes_on_a_character(run, table: Path, tmp_path: Path) -> None:
    man = box_man(ml.synthetic.skeleton(1.5))
    (tmp_path / "man.glb").write_bytes(box_man_glb(man))
    words = ("table", "synthesize", table, "walk:15", "run:40", "-o", tmp_path / "out.fbx")
    done = run(*words, "--allow-flawed", "--character", tmp_path / "man.glb")
    assert done.code == 0, done.err
    assert [mesh.name for mesh in ml.load_character(tmp_path / "out.fbx").meshes] == ["hat", "man"]


@pytest.fixture
def growing(clips: Path, table: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The clips and one more, and a table that was built before it came."""
    more, grown = tmp_path / "clips", tmp_path / "lib.mlt"
    shutil.copytree(clips, more)
    shutil.copytree(table.with_suffix(".mlc"), tmp_path / "lib.mlc")
    shutil.copy(table, grown)
    ml.save(ml.synthetic.clip("jog", duration_s=2.0, fps=FPS).motion, more / "jog.bvh")
    return more, grown


def test_a_table_takes_in_clips_that_are_added_later_at_its_own_rate(run, growing) -> None:
    more, grown = growing
    done = run("table", "build", more, "-o", grown, "--extend")
    assert done.code == 0, done.err
    assert "4 clips" in done.out
    assert "added since the search  1 of the clips" in done.out
    opened = ml.TransitionTable.open(grown)
    assert opened.collection.fps == FPS
    assert opened.transition(("jog", 5), ("walk", 20)).motion.n_frames > 0
    again = run("table", "build", more, "-o", grown, "--extend", "--fps", FPS)
    assert again.code == 0, again.err
    assert again.out.splitlines()[1:] == done.out.splitlines()[1:]


def test_a_table_is_extended_on_its_own_skeleton_whatever_comes(run, growing) -> None:
    more, grown = growing
    bones = ml.TransitionTable.open(grown).frames.skeleton.offsets
    for kind in ("jog", "sneak", "wave", "kick"):
        motion = ml.synthetic.clip(kind, duration_s=2.0, fps=FPS).motion
        own = motion.skeleton
        taller = motion.replace(
            skeleton=ml.Skeleton(own.names, own.parents, 1.2 * own.offsets),
            root_positions=1.2 * motion.root_positions,
        )
        ml.save(taller, more / f"a_{kind}.bvh")  # more than there were, and first in their order
    done = run("table", "build", more, "-o", grown, "--extend", "--json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["report"]["retargeted"]) == 4
    np.testing.assert_array_equal(ml.TransitionTable.open(grown).frames.skeleton.offsets, bones)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--fps", "60"), "--fps is 30.0, not 60.0"),
        (("--plants", "learned"), "--plants is 'thresholds'"),
        (("--ground",), "--ground is False"),
        (("--keep-glitches",), "--keep-glitches is False"),
        (("--skeleton", "{other}"), "--skeleton is another one"),
        (("--source-unit", "mm"), "would be read otherwise"),
        (("--source-fps", "walk*=45"), "'walk' changed"),
        (("--clusters", "9"), "--clusters would change nothing"),
        (("--jobs", "2", "--seed", "3"), "--seed, --jobs would change nothing"),
        (("--labels", "none.csv"), "none.csv: There is no such file"),
    ],
)
def test_an_extension_that_is_refused_leaves_all_as_it_was(
    run, growing, tmp_path, arguments, text
) -> None:
    more, grown = growing
    motion = ml.synthetic.clip("walk", fps=FPS).motion
    own = motion.skeleton
    other = motion.replace(skeleton=ml.Skeleton(own.names, own.parents, 1.2 * own.offsets))
    ml.save(other, tmp_path / "other.bvh")
    before = contents(tmp_path)
    words = [each.format(other=tmp_path / "other.bvh") for each in arguments]
    found = run("table", "build", more, "-o", grown, "--extend", *words)
    assert found.code == 2
    assert text in found.err
    assert contents(tmp_path) == before
    assert run("table", "info", grown).code == 0


@pytest.mark.parametrize("change", ["edited", "gone", "alone"])
def test_clips_that_changed_are_refused_before_anything_is_written(
    run, growing, tmp_path, change
) -> None:
    more, grown = growing
    if change == "edited":
        ml.save(ml.synthetic.clip("run", duration_s=2.5, fps=FPS).motion, more / "walk.bvh")
    for file in more.iterdir():
        if file.stem in {"gone": ("walk",), "alone": ("walk", "run", "stand")}.get(change, ()):
            file.unlink()
    before = contents(tmp_path)
    found = run("table", "build", more, "-o", grown, "--extend")
    assert found.code == 2
    assert "Nothing was changed" in found.err
    assert contents(tmp_path) == before
    assert run("table", "info", grown).code == 0


def test_an_extension_needs_a_table(run, growing, tmp_path) -> None:
    missing = run("table", "build", growing[0], "-o", tmp_path / "none.mlt", "--extend")
    assert missing.code == 2
    assert "needs a table" in missing.err


def test_labels_of_added_clips_come_with_them(run, growing, tmp_path) -> None:
    more, grown = growing
    labels = tmp_path / "more.csv"
    labels.write_text("clip,label,first,last\njog,easy,10,40\n")
    done = run("table", "build", more, "-o", grown, "--extend", "--labels", labels)
    assert done.code == 0, done.err
    assert "easy" in run("table", "info", grown).out


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_info_prints_it_in_json_and_in_words(run, table: Path) -> None:
    facts = json.loads(run("table", "info", table, "--json").out)
    assert facts["clips"] == 3
    assert facts["clusters"] == 4
    assert facts["labels"] == ["fast"]
    assert facts["clip_ids"] == ["run", "stand", "walk"]
    assert facts["report"]["left_out"][0]["file"] == "broken.bvh"
    assert "over 4 clusters" in run("table", "info", table).out


def test_a_search_refuses_times_to_play_on(run, table: Path) -> None:
    places = ("walk:10", "run:40")
    assert run("table", "query", table, *places, "--search").code == 0
    for option in ("--longest", "--tolerance"):
        done = run("table", "query", table, *places, "--search", option, "0.5")
        assert done.code == 2
        assert f"{option} must be left out" in done.err.replace("`", "")


def test_an_edition_needs_the_papers_method(run, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    done = run("table", "build", tmp_path / "clips", "-o", tmp_path / "t.mlt", "--edition", "2006")
    assert done.code == 2
    assert "must be left out" in done.err


def test_a_query_lists_recipes_with_their_costs(run, table: Path) -> None:
    done = run("table", "query", table, "walk:10", "run:40", "--longest", "0.5", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert " candidates between the frames it joins" in found["why"]
    assert found["candidates"][0]["windows"][0] == "walk:10"
    assert found["candidates"][0]["windows"][-1] == "run:26"
    costs = [each["cost"] for each in found["candidates"]]
    assert costs == sorted(costs)
    assert "->" in run("table", "query", table, "walk:10", "run:40").out


def test_a_transition_is_written_with_the_clips_around_it(run, table: Path, tmp_path) -> None:
    out = tmp_path / "a.bvh"
    done = run(
        "table", "synthesize", table, "walk:15", "run:40", "-o", out, "--lead", "0.3",
        "--follow", "0.2", "--json", "--allow-flawed",
    )  # fmt: skip
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    made = ml.load(out)
    before, after = facts["plays"]
    assert made.n_frames == facts["frames"] == 9 + before + 15 + after + 6
    assert facts["span"] == [9 + before, 23 + before]


def test_a_transition_goes_to_a_label(run, table: Path, tmp_path) -> None:
    out = tmp_path / "a.glb"
    done = run(
        "table", "synthesize", table, "walk:15", "--label", "fast", "-o", out, "--allow-flawed"
    )
    assert done.code == 0, done.err
    assert "wrote" in done.out
    assert out.exists()


def test_a_sound_table_is_verified(run, table: Path) -> None:
    done = run("table", "verify", table, "--entries", "36", "--transitions", "0", "--json")
    assert done.code == 0, done.out
    assert json.loads(done.out) == {"file": str(table), "sound": True, "problems": []}


def test_a_damaged_table_and_changed_sources_are_findings(run, table: Path, tmp_path) -> None:
    shutil.copytree(table.with_suffix(".mlc"), tmp_path / "lib.mlc")
    copy = Path(shutil.copy(table, tmp_path / "lib.mlt"))
    data = bytearray(copy.read_bytes())
    data[-100] ^= 1
    copy.write_bytes(bytes(data))
    done = run("table", "verify", copy)
    assert done.code == 1
    assert "damaged" in done.out
    copy.write_bytes(table.read_bytes())
    rows = next((tmp_path / "lib.mlc").glob("quats.*.rows"))
    rotten = bytearray(rows.read_bytes())
    rotten[5] ^= 1
    rows.write_bytes(bytes(rotten))
    assert run("table", "verify", copy).code == 1
    (tmp_path / "lib.mlc").rename(tmp_path / "gone")
    done = run("table", "verify", copy, "--json")
    assert done.code == 1
    assert "collection=" in json.loads(done.out)["problems"][0]


def test_the_table_is_held_against_a_graph_and_against_people(run, table: Path, tmp_path) -> None:
    verdicts = tmp_path / "verdicts.csv"
    verdicts.write_text(
        "transition,natural,rater\nwalk:10>walk:40,1,ann\nwalk:10>run:40,0,ann\n"
        "stand:5>stand:30,1,ann\nrun:10>stand:40,0,ann\n"
    )
    done = run("table", "evaluate", table, "--pairs", "6", "--verdicts", verdicts, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert sum(found["counts"].values()) == 6
    assert (found["people"]["good"], found["people"]["bad"]) == (2, 2)
    assert 0.0 <= found["people"]["areas"]["papers' sum"] <= 1.0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("query", "{table}", "walk", "run:3"), "CLIP:FRAME"),
        (("query", "{table}", "waltz:3", "run:30"), "The first clip must be one of the collection"),
        (("query", "{table}", "walk:3", "run:3000"), "got 3000 in the second CLIP:FRAME"),
        (("query", "{table}", "walk:3"), "--label"),
        (("query", "{table}", "walk:3", "--label", "slow"), "labelled 'slow'"),
        (("synthesize", "{table}", "walk:3", "run:30"), "-o FILE"),
        (("info", "nowhere.mlt"), "is not there"),
        (("verify", "{clips}/walk.bvh"), "no motionloom table"),
        (("build", "nowhere", "-o", "a.mlt"), "is not there"),
        (("build", "{clips}", "-o", "{out}", "--ways", "two"), "--ways"),
        (("build", "{clips}", "-o", "{out}", "--fps", "30", "--length", "9"), "longest of the"),
        (("build", "{clips}", "-o", "{out}", "--fps", "30", "--labels", "none.csv"), "none.csv"),
    ],
)
def test_bad_input_is_one_line_with_what_to_do(
    run, table: Path, clips: Path, tmp_path, monkeypatch, arguments, text
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [each.format(table=table, clips=clips, out=tmp_path / "a.mlt") for each in arguments]
    found = run("table", *words)
    assert found.code == 2
    assert text in found.err
    assert "Traceback" not in found.err
    assert not (tmp_path / "a.mlt").exists()


def test_a_table_is_exported_into_one_file_and_its_contents_are_named(run, table, tmp_path) -> None:
    out = tmp_path / "lib.mlr"
    done = run("table", "export", table, "-o", out)
    assert done.code == 0, done.err
    assert f"{out.stat().st_size / 1e6:.2f} MB" in done.out
    assert "3 clips" in done.out
    assert "fast" in done.out
    assert out.read_bytes().startswith(b"MLRtime1")
    before = out.read_bytes()
    again = run("table", "export", table, "-o", out)
    assert again.code == 2
    assert "exists already" in again.err
    assert run("table", "export", table, "-o", table).code == 2
    facts = json.loads(run("table", "export", table, "-o", out, "--force", "--json").out)
    assert facts["bytes"] == len(before)
    assert facts["labels"] == ["fast"]
    assert out.read_bytes() == before


def test_what_a_page_of_ones_own_needs_is_put_next_to_it(run, table, tmp_path, monkeypatch) -> None:
    from motionloom.studio import play_page

    monkeypatch.setattr(play_page, "web_files", lambda: {"motionloom.wasm": b"core"})
    out = tmp_path / "lib.mlr"
    assert run("table", "export", table, "-o", out, "--web").code == 0
    assert (tmp_path / "motionloom.wasm").read_bytes() == b"core"
    out.unlink()
    done = run("table", "export", table, "-o", out, "--web")
    assert done.code == 2
    assert "motionloom.wasm" in done.err
    assert not out.exists()


def test_a_page_has_all_it_needs_in_it(run, table, tmp_path, monkeypatch) -> None:
    from motionloom.drawing import page
    from motionloom.studio import play_page

    # Neither the built page nor the core for browsers is needed to test the command.
    monkeypatch.setattr(page, "_built", lambda name: f"/* {name} */")
    monkeypatch.setattr(play_page, "_core_for_browsers", lambda: b"core")
    out = tmp_path / "play.html"
    done = run("table", "page", table, "-o", out, "--title", "a <b>")
    assert done.code == 0, done.err
    text = out.read_text(encoding="utf-8")
    assert "<title>a &lt;b&gt;</title>" in text
    assert "'wasm-unsafe-eval'" in text
    (data,) = re.findall(r'id="play-file">(.*?)</script>', text)
    assert gzip.decompress(base64.b64decode(data)).startswith(b"MLRtime1")
    assert re.findall(r"(?:src|href)=", text) == []  # nothing is loaded
    assert run("table", "page", table, "-o", out).code == 2
    plain = run("table", "page", table, "-o", out, "--force", "--plain", "--json")
    assert json.loads(plain.out)["bytes"] == out.stat().st_size
    (data,) = re.findall(r'id="play-file">(.*?)</script>', out.read_text(encoding="utf-8"))
    assert base64.b64decode(data).startswith(b"MLRtime1")


def test_info_lists_every_clip(run, table: Path) -> None:
    done = run("table", "info", table)
    assert done.code == 0
    last = done.out.splitlines()[-1]
    assert last.startswith("clips  ")
    for clip in ("run", "stand", "walk"):
        assert f"{clip} (" in last


@pytest.mark.parametrize(
    ("option", "value"),
    [("--clusters", "0"), ("--length", "nan"), ("--seed", "-1"), ("--edition", "1999"),
     ("--score", "foo"), ("--weights", "foo"), ("--method", "foo"), ("--ways", "7"),
     ("--plants", "foo"), ("--source-unit", "foo"), ("--labels", "gone.csv")],
)  # fmt: skip
def test_a_wrong_option_of_a_build_leaves_nothing_behind(
    run, tmp_path: Path, option: str, value: str
) -> None:
    (tmp_path / "clips").mkdir()
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "clips" / "walk.bvh")
    done = run("table", "build", tmp_path / "clips", "-o", tmp_path / "lib.mlt", option, value)
    assert done.code == 2
    assert option in done.err or value in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["clips"]


def test_masses_are_fitted_to_a_collection_and_built_with(run, table: Path, tmp_path: Path) -> None:
    lib, masses, out = table.with_suffix(".mlc"), tmp_path / "masses.csv", tmp_path / "own.mlt"
    done = run("table", "fit-masses", lib, "-o", masses, "--clips", "walk,run", "--json")
    assert done.code == 0, done.err
    fit = json.loads(done.out)
    assert fit["after_m"] < fit["before_m"]
    assert fit["masses"] == pytest.approx(ml.read_masses(masses).tolist(), rel=1e-4)
    done = run("table", "build", lib, "-o", out, *BUILD, "--masses", masses)
    assert done.code == 0, done.err
    assert ml.TransitionTable.open(out).header.masses == pytest.approx(fit["masses"], rel=1e-4)
    masses.write_text(masses.read_text().replace("head,", "head,-"))
    done = run("table", "build", lib, "-o", tmp_path / "bad.mlt", *BUILD, "--masses", masses)
    assert done.code == 2
    assert "masses.csv: --masses must be 16 positive parts" in done.err
    assert "for head" in done.err
    assert not (tmp_path / "bad.mlt").exists()


@pytest.mark.parametrize("option", ["--masses", "--labels", "--skeleton"])
def test_a_build_does_not_overwrite_what_it_reads(
    run, clips: Path, tmp_path: Path, option: str
) -> None:
    read = tmp_path / "read.csv"
    read.write_text("clip,label,first,last\nrun,fast,20,50\n")
    done = run("table", "build", clips, "-o", read, option, read, "--force", *BUILD)
    assert done.code == 2
    assert "never overwritten" in done.err
    assert read.read_text().startswith("clip,label")


def test_a_build_does_not_overwrite_clips_of_its_folder(run, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    (folder / "walk.bvh").write_text("HIERARCHY")
    (folder / "body.asf").write_text(":version 1.10")
    for name in ("walk.bvh", "body.asf"):
        before = (folder / name).read_bytes()
        done = run("table", "build", folder, "-o", folder / name, "--force", *BUILD)
        assert done.code == 2
        assert "never overwritten" in done.err
        assert (folder / name).read_bytes() == before
    (folder / "old.mlt").write_text("an old table")  # which is no clip
    (folder / "nowhere.bvh").symlink_to(folder / "gone.bvh")
    done = run("table", "build", folder, "-o", folder / "old.mlt", "--force", *BUILD)
    assert "never overwritten" not in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("table", "fit-masses", "{lib}", "-o", "{lib}/{name}"),
        ("table", "build", "{clips}", "-o", "{lib}/{name}"),
        ("table", "build", "{lib}", "-o", "{lib}/{name}"),
        ("table", "synthesize", "{table}", "walk:15", "run:40", "-o", "{lib}/{name}"),
        ("table", "export", "{table}", "-o", "{lib}/{name}"),
        ("table", "export", "{table}", "-o", "{lib}/below/{name}"),
        ("table", "page", "{table}", "-o", "{lib}/play.html"),
        ("convert", "{clips}/walk.bvh", "-o", "{lib}/{name}"),
        ("check", "{clips}/walk.bvh", "--accept", "{lib}/{name}"),
        ("check", "{clips}", "--report", "{lib}/report"),
        ("clean", "{clips}", "-o", "{lib}"),
        ("clean", "{clips}", "-o", "{lib}/cleaned"),
        ("clean", "{clips}", "-o", "{lib}.cleaned", "--report", "{lib}/report"),
    ],
)
@pytest.mark.parametrize("name", ["catalogue.json", "quats.1.rows", "new.bvh"])
def test_nothing_is_written_into_a_collection(
    run, clips: Path, table: Path, tmp_path: Path, words: tuple[str, ...], name: str
) -> None:
    lib = tmp_path / "lib.mlc"
    shutil.copytree(table.with_suffix(".mlc"), lib)
    before = contents(tmp_path)
    given = {"lib": lib, "clips": clips, "table": table, "name": name}
    done = run(*(word.format(**given) for word in words), "--force")
    assert done.code == 2
    assert "lies in the collection lib.mlc" in done.err
    assert contents(tmp_path) == before


def test_a_link_into_a_collection_is_no_way_around(run, table: Path, tmp_path: Path) -> None:
    lib = tmp_path / "lib.mlc"
    shutil.copytree(table.with_suffix(".mlc"), lib)
    (tmp_path / "link.csv").symlink_to(lib / "catalogue.json")
    before = contents(lib)
    done = run("table", "fit-masses", lib, "-o", tmp_path / "link.csv", "--force")
    assert done.code == 2
    assert "lies in the collection lib.mlc" in done.err
    assert contents(lib) == before


def test_a_folder_with_some_other_catalogue_is_no_collection(run, table, tmp_path: Path) -> None:
    (tmp_path / "catalogue.json").write_text('{"books": []}')
    done = run("table", "fit-masses", table.with_suffix(".mlc"), "-o", tmp_path / "masses.csv")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    "words", [("fit-masses", "{lib}"), ("export", "{table}"), ("build", "{lib}")]
)
def test_commands_that_write_a_file_refuse_standard_output(
    run, table: Path, tmp_path: Path, monkeypatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"lib": table.with_suffix(".mlc"), "table": table}
    done = run("table", *(word.format(**given) for word in words), "-o", "-")
    assert done.code == 2
    assert "cannot write to standard output. Name a file." in done.err
    assert list(tmp_path.iterdir()) == []


def test_accepted_paths_do_not_overwrite_a_clip(run, clips: Path, tmp_path: Path) -> None:
    clip = Path(shutil.copy(clips / "walk.bvh", tmp_path))
    before = clip.read_bytes()
    for given in (clip, tmp_path):
        done = run("check", given, "--accept", clip, "--force")
        assert done.code == 2
        assert "never overwritten" in done.err
        assert clip.read_bytes() == before


def test_help_lists_all_weights_and_what_the_search_needs(run) -> None:
    words = " ".join(run("table", "build", "--help").out.split())
    assert "eased, bernstein, hat; with --method paper also search" in words


def test_a_build_recommends_no_option_that_it_lacks(run, tmp_path: Path) -> None:
    rod = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (90, 2, 1))
    (tmp_path / "clips").mkdir()
    motion = ml.Motion(rod, np.zeros((90, 3)), still, fps=60)
    ml.save(motion, tmp_path / "clips" / "rod.bvh")
    done = run("table", "build", tmp_path / "clips", "-o", tmp_path / "lib.mlt")
    assert done.code == 2
    assert "--body" not in done.err
    assert "left_hip" in done.err
