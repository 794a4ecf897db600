"""--json: every result under the same keys, whatever made it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import motionloom as ml

KEYS = {"output", "frames", "fps", "span", "notes", "verification", "cleanup"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips, a folder of one, and a table of both."""
    folder = tmp_path_factory.mktemp("json")
    for name in ("clips", "one"):
        (folder / name).mkdir()
    for kind in ("walk", "jog"):
        motion = ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion
        ml.save(motion, folder / "clips" / f"{kind}.bvh")
    ml.save(motion, folder / "one" / "jog.bvh")
    lib = ml.Collection.ingest(folder / "clips", fps=20)
    ml.build_table(lib, out=folder / "t.mlt", length_s=0.5, clusters=3, jobs=1, progress=False)
    return folder


@pytest.mark.parametrize(
    ("command", "inside"),
    [
        ("transition clips/walk.bvh clips/jog.bvh -o {0}", "transitions"),
        ("sequence clips/walk.bvh clips/jog.bvh -o {0}", None),
        ("blend clips/walk.bvh clips/jog.bvh -o {0}", None),
        ("splice -u clips/jog.bvh -l clips/walk.bvh -o {0}", "splices"),
        ("clean clips/walk.bvh -o {0}", "clips"),
        ("balance clips/walk.bvh -o {0}", "clips"),
        ("table synthesize t.mlt walk:2 jog:12 -o {0}", None),
    ],
)
def test_every_result_has_the_same_keys(
    run, place: Path, tmp_path: Path, monkeypatch, command: str, inside: str | None
) -> None:
    monkeypatch.chdir(place)
    out = tmp_path / "out.bvh"
    done = run(*command.format(out).split(), "--allow-flawed", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    result = facts if inside is None else facts[inside][0]
    assert set(result) >= KEYS
    assert result["output"] == str(out)
    assert result["frames"] == ml.load(out).n_frames
    first, last = result["span"]
    assert 0 <= first <= last
    assert isinstance(result["verification"]["passed"], bool)


def test_results_of_a_data_set_have_them_too(run, place: Path, tmp_path: Path) -> None:
    done = run("clean", place / "one", "-o", tmp_path / "out", "--jobs", "1", "--json")
    assert done.code == 0, done.err
    (result,) = json.loads(done.out)["clips"]
    assert set(result) >= KEYS - {"notes"}
    assert result["verification"]["passed"]
    assert result["frames"] == ml.load(result["output"]).n_frames
