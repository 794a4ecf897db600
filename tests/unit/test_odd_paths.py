"""Paths that no disk can have are answered with an error that can be printed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import motionloom as ml
from motionloom.drawing.film import save_film
from motionloom.drawing.strip import save_strip
from motionloom.errors import LONGEST_TEXT, MotionLoomError, TableError
from motionloom.studio.server.project import Project
from motionloom.studio.server.server import Studio
from motionloom.tables.collection.folder_clips import find_clip_files

WALK = ml.synthetic.clip("walk", duration_s=1.0, fps=30).motion
PATHS = {"long": "a" * 5000, "deep": "x/" * 3000, "NUL": "a\0b", "half": "a\ud800b"}
SETTINGS: dict[str, Any] = {"length_s": 0.3, "clusters": 2, "ways": (2,), "jobs": 1}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ml.TransitionTable:
    folder = tmp_path_factory.mktemp("paths") / "lib"
    folder.mkdir()
    for kind in ("walk", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0, fps=30).motion, folder / f"{kind}.bvh")
    return ml.build_table(ml.Collection.ingest(folder, fps=30.0), progress=False, **SETTINGS)


def calls(table: ml.TransitionTable, path: Any) -> dict[str, Callable[[], object]]:
    lib, curve = table.collection, ml.register([WALK, WALK])
    made, mlt = Path(str(path) + ".gif"), str(path) + ".mlt"
    page = ml.view(WALK)
    return {
        "Collection.open": lambda: ml.Collection.open(path),
        "ingest": lambda: ml.Collection.ingest(path),
        "ingest out": lambda: ml.Collection.ingest(lib.source_folder, out=path),
        "ingest labels": lambda: ml.Collection.ingest(lib.source_folder, labels=path),
        "ingest skeleton": lambda: ml.Collection.ingest(lib.source_folder, skeleton=path),
        "build_table": lambda: ml.build_table(lib, out=mlt, progress=False, **SETTINGS),
        "TransitionTable.open": lambda: ml.TransitionTable.open(path),
        "of a collection": lambda: ml.TransitionTable.open(table.file, collection=path),
        "extend_table": lambda: ml.extend_table(path, lib),
        "extend_table out": lambda: ml.extend_table(table.file, lib, out=path),
        "load": lambda: ml.load(path),
        "save": lambda: ml.save(WALK, path, format="bvh"),
        "curve save": lambda: curve.save(path),
        "view": lambda: page.save(path),
        "strip": lambda: save_strip(WALK, Path(path), kind="png"),
        "film": lambda: save_film(WALK[:2], made, size=(64, 64)),
        "studio": lambda: Studio(Path(path)),
        "studio project": lambda: Studio(None, project=Path(path)),
    }


@pytest.mark.parametrize("kind", PATHS)
def test_a_path_that_no_disk_can_have_is_refused(
    table: ml.TransitionTable, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda address: None)
    for name, call in calls(table, PATHS[kind]).items():
        try:
            call()
        except MotionLoomError as error:
            text = str(error)
        else:
            pytest.fail(f"{name} accepts it")
        text.encode("utf-8")
        assert len(text) <= LONGEST_TEXT
    assert not list(tmp_path.iterdir())


def test_a_collection_that_would_lie_at_such_a_path_is_refused(
    table: ml.TransitionTable, tmp_path: Path
) -> None:
    folder = shutil.copytree(table.collection.source_folder, tmp_path / ("b" * 254))
    with pytest.raises(MotionLoomError, match="`out` must be a path that a file can have"):
        ml.Collection.ingest(folder)


def test_a_table_of_the_collection_in_this_folder_lies_next_to_it(
    table: ml.TransitionTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shutil.copytree(table.collection.path, tmp_path / "here.mlc"))
    ml.build_table(ml.Collection.open("."), progress=False, **SETTINGS)
    assert (tmp_path / "here.mlt").is_file()


def test_a_folder_that_goes_while_it_is_searched_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> Any:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "rglob", gone)
    with pytest.raises(TableError, match=r"cannot be searched .* Try again"):
        find_clip_files(tmp_path)


def test_a_folder_that_may_not_be_entered_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object, **kwargs: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refused)
    for call in (
        lambda: ml.Collection.open("closed/lib.mlc"),
        lambda: ml.Collection.ingest("closed/clips", fps=30.0),
        lambda: Studio(Path("closed/clips")),
    ):
        with pytest.raises(MotionLoomError, match=r"closed.*Permission denied.*Check the rights"):
            call()
    with pytest.raises(ml.FormatError, match="cannot be reached"):
        Project(Path("closed/project.json")).load()
