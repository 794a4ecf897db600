"""The Python and the command that the studio shows write the studio's own export, byte for byte.

With clips of two skeletons, rates, units and layouts of the root, on every tab.
"""

from __future__ import annotations

import dataclasses
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import motionloom as ml
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.matches import Matches
from motionloom.studio.messages.messages import BlendMake, SpliceMake, TransitionMake
from motionloom.studio.messages.table_messages import TableBuild, TableQuery
from motionloom.studio.panels.blend_panel import BlendPanel
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.panels.splice_panel import make_splice
from motionloom.studio.panels.table_panel import TablePanel
from motionloom.studio.panels.transition_panel import make_transition
from motionloom.studio.results.result import Result

BUILD_S = 60.0
"""A build takes seconds; on a busy machine much longer."""
STEERED = [[1.0 - k / 60, k / 60] for k in range(60)]
WISHES: dict[str, Any] = {
    "transition": TransitionMake(id=1, a="walk.bvh", b="jog.bvh"),
    "transition, raw": TransitionMake(id=1, a="walk.bvh", b="jog.bvh", clean=False),
    "transition of another length": TransitionMake(id=1, a="walk.bvh", b="jog.bvh", length_s=0.1),
    "transition onto the other": TransitionMake(id=1, a="jog.bvh", b="walk.bvh", length_s=0.4),
    "blend": BlendMake(id=1, clips=["walk.bvh", "jog.bvh"], weights=[0.5, 0.5]),
    "blend, raw": BlendMake(id=1, clips=["walk.bvh", "jog.bvh"], weights=[0.5, 0.5], clean=False),
    "blend of cycles": BlendMake(
        id=1, clips=["walk.bvh", "jog.bvh"], weights=[0.5, 0.5], cycles=True, sync_contacts=True
    ),
    "blend as steered": BlendMake(id=1, clips=["jog.bvh", "walk.bvh"], recorded=STEERED),
    "splice": SpliceMake(id=1, upper="jog.bvh", lower="walk.bvh"),
    "transition from a root bone": TransitionMake(id=1, a="rooted.bvh", b="walk.bvh"),
    "blend of a root bone": BlendMake(id=1, clips=["rooted.bvh", "jog.bvh"], weights=[0.3, 0.7]),
    "splice on a root bone": SpliceMake(id=1, upper="jog.bvh", lower="rooted.bvh"),
    "splice of an arm": SpliceMake(id=1, upper="walk.bvh", lower="jog.bvh", where="left_arm"),
    "table": TableQuery(id=1, source=("walk", 20), target=("jog", 40)),
    "table, back": TableQuery(id=1, source=("jog", 10), target=("walk", 50), lead_s=0.2),
    "table, a label": TableQuery(id=1, source=("walk", 20), label="fast", search=True),
    "table, the graph": TableQuery(id=1, source=("walk", 10), target=("walk", 60), by="graph"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walk in inches; a jog on a smaller skeleton, with other names and at another rate; a run
    under a root bone that lies still."""
    folder = tmp_path_factory.mktemp("two skeletons")
    walk = ml.synthetic.clip("walk", duration_s=3.0).motion
    small = ml.synthetic.clip("jog", duration_s=3.0, height=1.5, fps=50.0).motion
    names = tuple(f"rig:{name}" for name in small.skeleton.names)
    other = dataclasses.replace(small.skeleton, names=names)
    rooted = ml.with_root_bone(ml.synthetic.clip("run", duration_s=3.0).motion)
    ml.save(walk, folder / "walk.bvh", unit="in")
    ml.save(ml.travel_on_pelvis(rooted, like=rooted[:1]), folder / "rooted.bvh")
    ml.save(small.replace(skeleton=other), folder / "jog.bvh")
    (folder / "labels.csv").write_text("clip,label\nwalk,slow\njog,fast\n")
    return folder


@pytest.fixture(scope="module")
def tables(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """A small table of both clips, built by the studio."""
    tables = Tables(Library(folder), tmp_path_factory.mktemp("state"))
    tables.build(TableBuild(id=0, clusters=8, lookup=8, length_s=0.5, fps=30.0))
    end = time.monotonic() + BUILD_S
    while (job := tables.state().body.job).state == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert job.state == "built", job.error
    return tables


@pytest.fixture(scope="module")
def results(folder: Path, tables: Tables) -> dict[str, Result]:
    """Every wish's result."""
    matches = Matches(Library(folder))
    blends = BlendPanel(matches)
    makers: dict[type, Any] = {
        TransitionMake: lambda wish: make_transition(matches, wish),
        BlendMake: blends.make,
        SpliceMake: lambda wish: make_splice(matches, wish),
        TableQuery: TablePanel(tables).make,
    }
    return {name: makers[type(wish)](wish) for name, wish in WISHES.items()}


@pytest.mark.parametrize("name", WISHES)
def test_the_python_shown_writes_the_bytes_of_the_export(
    results: dict[str, Result], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = results[name]
    monkeypatch.chdir(tmp_path)
    for file, text in result.files.items():
        Path(file).write_text(text)
    exec(result.why.python, {})
    written = next(Path().glob("*.bvh")).read_bytes()
    ml.save(result.motion, tmp_path / "export.bvh")
    assert written == (tmp_path / "export.bvh").read_bytes()


@pytest.mark.parametrize("name", [name for name in WISHES if not name.startswith("table")])
def test_the_command_shown_writes_the_bytes_of_the_export(
    results: dict[str, Result], name: str, tmp_path: Path
) -> None:
    result = results[name]
    for file, text in result.files.items():
        (tmp_path / file).write_text(text)
    program, *arguments = shlex.split(result.why.command)
    assert program == "motionloom"
    command = [sys.executable, "-m", "motionloom", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written = next(tmp_path.glob("*.bvh")).read_bytes()
    ml.save(result.motion, tmp_path / "export.bvh")
    assert written == (tmp_path / "export.bvh").read_bytes()
