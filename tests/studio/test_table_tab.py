"""The table tab over the socket: built, asked, compared, streamed, rated."""

from __future__ import annotations

import json
import shlex
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import motionloom as ml
from motionloom.studio.clips.library import Library
from motionloom.studio.messages.table_messages import TableBuild
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.server.server import Studio

BUILD_S = 60.0
"""A build takes seconds; on a busy machine much longer."""
SMALL = {"clusters": 8, "lookup": 8, "length_s": 0.5, "fps": 30.0}
FLOAT32_M = 1e-4
BVH_TEXT_M = 1e-4
KINDS = ("walk", "jog", "run")


def test_a_built_table_is_open_and_reports_what_it_is(ask_table, table_studio: Studio) -> None:
    head, _ = ask_table("table.state")
    table = head["table"]
    assert head["tables"] == ["built here"]
    assert head["job"]["state"] == "built"
    assert [clip["id"] for clip in table["clips"]] == sorted(KINDS)
    assert [clip["clip"] for clip in table["clips"]] == [f"{kind}.bvh" for kind in sorted(KINDS)]
    assert table["goals"] == table["labels"] == ["fast", "slow"]
    assert table["length"] == 15
    assert table["clusters"] == 8


def test_the_matrix_has_a_cost_from_each_representative_to_each(ask_table) -> None:
    head, arrays = ask_table("table.matrix")
    n = len(head["places"])
    assert arrays["costs"].shape == arrays["natural"].shape == (n, n)
    assert {clip for clip, _ in head["places"]} <= set(KINDS)
    known = np.isfinite(arrays["costs"])
    assert known.any()
    # What goes on as it was captured costs least and is natural.
    same = np.diagonal(arrays["natural"])
    assert (same > 0.5).all()
    assert same.mean() > arrays["natural"][known].mean()
    assert ((arrays["natural"][known] >= 0) & (arrays["natural"][known] <= 1)).all()


def test_a_query_makes_what_the_table_makes_and_explains_why(
    ask_table, table_studio: Studio
) -> None:
    head, arrays = ask_table("table.query", source=["walk", 20], target=["jog", 50])
    table = table_studio.tables.current().table
    made = table.transition(("walk", 20), ("jog", 50), lead_s=0.5, follow_s=0.5)
    root = arrays["points"][:, head["shown"]["looks"]["root"]]
    np.testing.assert_allclose(root, made.motion.root_positions, atol=FLOAT32_M)
    detail, why = head["detail"], head["why"]
    assert detail["span"] == list(made.span)
    assert detail["source"] == ["walk", 20]
    assert detail["target"] == ["jog", 50]
    costs = [each["cost"] for each in detail["candidates"]]
    assert costs == pytest.approx([each.cost for each in made.candidates])
    taken = [each["cost"] for each in detail["candidates"] if each["taken"]]
    assert taken == [pytest.approx(made.cost)]
    natural = next(row for row in why["rows"] if row["label"] == "naturalness")
    assert natural["value"] == pytest.approx(100 * made.score.naturalness, abs=1e-3)
    assert [source["clip"] for source in head["sources"]] == ["walk.bvh", "jog.bvh"]


def test_sources_stand_where_the_result_stands(ask_table) -> None:
    head, arrays = ask_table("table.query", source=["walk", 20], target=["run", 50])
    root, clock = head["shown"]["looks"]["root"], arrays["source_frames"]
    first, last = head["detail"]["span"]
    result = arrays["points"][:, root]
    assert np.isfinite(clock[first : last + 1]).all()
    assert np.isnan(clock[last + 1 :, 0]).all()
    for k, at in ((0, 0), (1, len(result) - 1)):
        theta, x0, z0 = head["sources"][k]["placement"]
        x, _, z = arrays[f"{k}.points"][round(float(clock[at, k])), root]
        c, s = np.cos(theta), np.sin(theta)
        placed = c * x + s * z + x0, c * z - s * x + z0
        np.testing.assert_allclose(placed, result[at, [0, 2]], atol=FLOAT32_M)


def test_sources_that_the_page_has_are_not_sent_again(ask_table) -> None:
    head, _ = ask_table("table.query", source=["walk", 20], target=["run", 50])
    keys = [source["key"] for source in head["sources"]]
    again = {"source": ["walk", 20], "target": ["run", 50], "lead_s": 0.3}
    head, arrays = ask_table("table.query", **again, have=keys)
    assert [source["shown"] for source in head["sources"]] == [None, None]
    assert not any(name.startswith(("0.", "1.")) for name in arrays)


def test_the_shown_command_line_and_python_make_the_same_motion(
    ask_table, table_studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from motionloom.cli.main import typer_app

    head, arrays = ask_table(
        "table.query", source=["walk", 20], label="fast", lead_s=0.3, search=True
    )
    root = arrays["points"][:, head["shown"]["looks"]["root"]]
    words = shlex.split(head["why"]["command"])
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(typer_app(), words[1:])
    assert done.exit_code == 0, done.output
    by_command = ml.load(tmp_path / "table.bvh")
    np.testing.assert_allclose(by_command.root_positions, root, atol=BVH_TEXT_M)
    (tmp_path / "table.bvh").unlink()
    exec(head["why"]["python"], {})
    exported, _ = ask_table("export.make", what=str(head["result"]), format="bvh")
    found = table_studio.exports.find(exported["url"].rpartition("/")[2])
    assert found is not None
    assert (tmp_path / "table.bvh").read_bytes() == found[0].read_bytes()


def test_graph_and_table_are_compared_in_words(ask_table) -> None:
    head, _ = ask_table("table.query", source=["walk", 10], target=["walk", 60], by="better")
    path = head["detail"]["path"]
    assert path["chosen"] in ("graph", "table", "neither")
    assert "graph" in path["why"]
    assert "table" in path["why"]
    assert head["detail"]["by"] == ("graph" if path["chosen"] == "graph" else "table")
    head, arrays = ask_table("table.query", source=["walk", 10], target=["walk", 60], by="graph")
    if head["type"] == "error":
        assert "no path" in head["text"]
    else:
        assert head["detail"]["by"] == "graph"
        assert np.isfinite(arrays["points"]).all()


def test_a_live_character_plays_on_and_goes_to_a_label(ask_table) -> None:
    head, _ = ask_table("stream.start", source=["walk", 0])
    live, points = head["live"], head["looks"]["points"]
    assert head["goals"] == ["fast", "slow"]

    def step(frames: int = 1) -> np.ndarray:
        message = ask_table("stream.step", live=live, frames=frames)
        number, _, _ = struct.unpack_from("<III", message, 4)
        assert number == live
        return np.frombuffer(message, "<f4", offset=16).reshape(points, 3)

    root = head["looks"]["root"]
    walked = [step()[root].copy() for _ in range(20)]
    head, _ = ask_table("stream.go", live=live, goal="fast")
    assert head["type"] == "done"
    ran = [step()[root].copy() for _ in range(45)]
    steps = np.linalg.norm(np.diff([*walked, *ran], axis=0)[:, [0, 2]], axis=1)
    assert steps[-10:].mean() > 1.2 * steps[:10].mean()  # it runs now
    assert steps.max() < 0.5  # and was carried nowhere on the way
    ask_table("stream.stop", live=live)
    head, _ = ask_table("stream.step", live=live)
    assert head["type"] == "error"


@pytest.fixture
def no_verdicts(table_studio: Studio) -> None:
    """The table without ratings of earlier tests."""
    table_studio.tables.current().verdicts.unlink(missing_ok=True)


def test_verdicts_become_the_file_that_evaluate_reads(
    ask_table, table_studio: Studio, no_verdicts: None
) -> None:
    from motionloom.cli.main import typer_app

    seen = []
    for natural in (True, False, True):
        head, _ = ask_table("label.next", rater="ada")
        rating = head["detail"]["rating"]
        assert head["why"]["rows"] == []  # no score leads the eye
        seen.append(rating["transition"])
        head, _ = ask_table(
            "label.save", transition=rating["transition"], natural=natural, rater="ada"
        )
    assert len(set(seen)) == 3
    assert head["rated"] == 3
    assert head["natural"] == 2
    head, _ = ask_table(
        "label.save", transition=seen[0], natural=False, rater="ada"
    )  # thought again
    assert (head["rated"], head["natural"]) == (3, 1)
    head, _ = ask_table("label.next", rater="bob")
    assert head["detail"]["rating"]["transition"] == seen[0]  # the same for everyone
    head, _ = ask_table("table.state")
    words = shlex.split(head["table"]["evaluate"])
    done = CliRunner().invoke(typer_app(), [*words[1:], "--pairs", "4", "--json"])
    assert done.exit_code == 0, done.output
    people = json.loads(done.stdout)["people"]
    assert (people["good"], people["bad"]) == (1, 2)
    head, _ = ask_table("label.file")
    found = table_studio.exports.find(head["url"].removeprefix("download/"))
    assert found is not None
    assert found[0].read_text().splitlines()[0] == "transition,natural,rater"


def test_failures_have_clear_texts(ask_table) -> None:
    for kind, body, part in (
        ("table.query", {"source": ["nobody", 0], "target": ["walk", 30]}, "nobody"),
        ("table.query", {"source": ["walk", 9999], "target": ["walk", 30]}, "frames"),
        ("table.query", {"source": ["walk", 0]}, "label"),
        ("table.query", {"source": ["walk", 0], "label": "nothing"}, "nothing"),
        ("table.query", {"source": ["walk", 0], "label": "fast", "by": "graph"}, "graph"),
        ("table.query", {"source": ["walk", 0], "label": "fast", "lead_s": 1e3}, "30"),
        ("table.build", {"clusters": 100_000}, "clusters"),
        ("table.build", {"fps": 1e9}, "fps"),
        ("stream.step", {"live": 77}, "ended"),
        ("label.next", {"rater": "  "}, "name"),
    ):
        head, _ = ask_table(kind, **body)
        assert head["type"] == "error", kind
        assert part in head["text"], head["text"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("table.open", {"table": "../../etc/passwd"}),
        ("table.open", {"table": "/etc/passwd"}),
        ("table.open", {"table": ""}),
        ("table.build", {"folder": "/etc"}),
        ("table.build", {"out": "/tmp/x.mlt"}),
        ("table.query", {"source": ["../clips/walk", 0], "target": ["/etc/passwd", 0]}),
        ("table.query", {"source": ["walk", -5], "target": ["walk", 20]}),
        ("stream.start", {"source": ["../walk", 0]}),
        ("stream.go", {"live": 1, "goal": "/etc/passwd"}),
        ("stream.step", {"live": 1, "frames": 10**9}),
        ("label.save", {"transition": "../../x", "natural": True, "rater": "a"}),
        ("label.save", {"transition": "walk:1>/etc/x:2", "natural": True, "rater": "a"}),
        ("label.save", {"transition": "walk:1>walk:20\nx,1,y", "natural": True, "rater": "a"}),
        ("label.save", {"transition": "walk:1>walk:20", "natural": True, "rater": "\n\r="}),
        ("label.file", {"path": "/etc/passwd"}),
    ],
)
def test_no_path_and_no_other_id_gets_in(
    ask_table, table_studio: Studio, kind: str, body: dict
) -> None:
    opened = table_studio.tables.current()
    before = opened.verdicts.read_bytes() if opened.verdicts.is_file() else b""
    head, _ = ask_table(kind, **body)
    assert head["type"] == "error"
    assert table_studio.tables.current() is opened
    after = opened.verdicts.read_bytes() if opened.verdicts.is_file() else b""
    assert before == after


def test_a_raters_name_stays_one_cell(ask_table, table_studio: Studio, no_verdicts: None) -> None:
    name = '=cmd|"calc",x\nwalk:1>walk:20,1,eve'
    head, _ = ask_table("label.save", transition="walk:1>walk:20", natural=True, rater=name)
    assert head["type"] == "labels"
    from motionloom.tables.evaluation.evaluation import read_verdicts

    verdicts = read_verdicts(table_studio.tables.current().verdicts).verdicts
    assert verdicts[-1].rater == 'cmd|"calc",xwalk:1>walk:20,1,eve'[:40]
    assert not any(verdict.rater == "eve" for verdict in verdicts)


def test_tables_of_the_folder_are_listed_but_not_what_links_point_to(
    table_studio: Studio, tmp_path: Path
) -> None:
    folder = tmp_path / "inner" / "clips"
    folder.mkdir(parents=True)
    built = table_studio.tables.current().table.file
    (folder / "link.mlt").symlink_to(built)
    tables = Tables(Library(folder), tmp_path / "state")
    assert tables.state().body.tables == []
    (folder / "mine.mlt").write_bytes(b"no table")
    assert tables.state().body.tables == ["mine.mlt"]
    with pytest.raises(ml.MotionLoomError):
        tables.open("mine.mlt")


def test_a_build_can_be_stopped(table_clips: Path, tmp_path: Path) -> None:
    tables = Tables(Library(table_clips), tmp_path / "state")
    state = tables.build(TableBuild(id=0, **SMALL)).body.job
    assert state.state == "running"
    with pytest.raises(ml.MotionLoomError, match="being built"):
        tables.build(TableBuild(id=0, **SMALL))
    state = tables.cancel().body.job
    assert state.state == "stopped"
    assert tables.state().body.table is None


def test_a_build_takes_the_default_number_of_clusters(table_clips: Path, tmp_path: Path) -> None:
    tables = Tables(Library(table_clips), tmp_path / "state")
    tables.build(TableBuild(id=0, length_s=0.5, fps=30.0))
    end = time.monotonic() + BUILD_S
    while (job := tables.state().body.job).state == "running" and time.monotonic() < end:
        time.sleep(0.1)
    assert job.state == "built", job.error
    lib = ml.Collection.ingest(table_clips, out=tmp_path / "same.mlc", fps=30)
    usual = ml.build_table(lib, out=tmp_path / "same.mlt", length_s=0.5, progress=False)
    assert tables.state().body.table.clusters == usual.info()["clusters"] < 50


def test_a_build_that_fails_reports_why(table_clips: Path, tmp_path: Path) -> None:
    tables = Tables(Library(table_clips), tmp_path / "state")
    tables.build(TableBuild(id=0, clusters=100, lookup=8, length_s=0.5, fps=30.0))
    end = time.monotonic() + BUILD_S
    while (job := tables.state().body.job).state == "running" and time.monotonic() < end:
        time.sleep(0.1)
    assert job.state == "failed"
    assert job.error


def test_frames_left_open_are_found_and_are_no_worse_than_others(
    ask_table, table_studio: Studio
) -> None:
    head, _ = ask_table("table.query", source=["walk", None], target=["run", None])
    table = table_studio.tables.current().table
    found = table.transition(tuple(head["detail"]["source"]), tuple(head["detail"]["target"])).cost
    others = [
        table.transition(("walk", a), ("run", b)).cost for a in (5, 25, 45) for b in (20, 40, 60)
    ]
    assert found <= np.median(others)
    head, _ = ask_table("table.query", source=["walk", 30], target=["run", None])
    assert head["detail"]["source"] == ["walk", 30]
