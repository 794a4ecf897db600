"""What is killed: small commands that write, with their inputs, and what must hold afterwards."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.cli.main import typer_app
from motionloom.tables.collection.collection import Collection
from motionloom.tables.extend import grow_collection

__all__ = ["Job", "all_jobs", "tree_of"]

FPS = 30
TABLE: dict[str, Any] = {"length_s": 0.3, "clusters": 3, "ways": (2, 3), "progress": False}
Tree = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Job:
    """One command. It reads ``in`` and writes ``out``, both in the folder that it is given."""

    name: str
    run: Callable[[Path], None]
    state: Callable[[Path], object]
    """What a reader sees in ``out``; raises where it is damaged. Only what it was before the
    command or what it is after it may be seen, in every part of a tuple."""
    template: Path
    """Inputs, and the outputs of earlier commands."""

    def prepare(self, folder: Path) -> None:
        """Put inputs and earlier outputs into a folder, which is made new."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.template, folder)


def tree_of(folder: Path) -> Tree:
    """Every file in a folder, with its bytes."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def all_jobs(home: Path) -> list[Job]:
    """Every command, with its inputs made in a folder."""
    clip, other, more = (_clip(kind) for kind in ("walk", "run", "jog"))
    plain = _folder(home / "plain")
    for name in ("a", "b", "sub/c"):
        (plain / "in" / name).parent.mkdir(exist_ok=True)
        ml.save(clip, plain / "in" / f"{name}.bvh")
        (plain / "out" / name).parent.mkdir(exist_ok=True)
        ml.save(other, plain / "out" / f"{name}.glb")
        ml.save(other, plain / "out" / f"{name}.bvh")
    fresh = _folder(home / "fresh")
    for name, motion in (("a", clip), ("b", other)):
        ml.save(motion, fresh / "in" / f"{name}.bvh")
    built = _copied(fresh, home / "built")
    Collection.ingest(built / "in", out=built / "out/lib.mlc", fps=FPS)
    _collection(built).annotate("a", "first")
    changed = _copied(built, home / "changed")
    ml.save(more, changed / "in/a.bvh")
    table = _copied(built, home / "table")
    ml.build_table(_collection(table), out=table / "out/lib.mlt", **TABLE)
    rebuilt = _copied(table, home / "rebuilt")
    grown, extended = _copied(built, home / "grown"), _copied(table, home / "extended")
    for folder in (grown, extended):
        ml.save(more, folder / "in/c.bvh")
        (folder / "labels.csv").write_text("clip,label\nb,quick\nc,last\n")
    return [
        Job("save", lambda at: ml.save(clip, at / "out/a.bvh"), _bytes, plain),
        Job("save archive", lambda at: ml.save(clip, at / "out/new.mlm"), _bytes, plain),
        Job("convert file", _convert_file, _bytes, plain),
        Job("convert folder", _convert_folder, _bytes, plain),
        Job("ingest", _ingest, _collection_state, fresh),
        Job("ingest again", _ingest, _collection_state, changed),
        Job("grow", _grow, _collection_state, grown),
        Job("table build", _build, _table_state, built),
        Job("table build again", _rebuild, _table_state, rebuilt),
        Job("table extend", _extend, _table_state, extended),
        Job("annotate", lambda at: _collection(at).annotate("b", "quick", frames=(2, 9)),
            _labels, built),
    ]  # fmt: skip


def _clip(kind: str) -> ml.Motion:
    return ml.synthetic.clip(kind, duration_s=0.8, fps=FPS).motion


def _folder(path: Path) -> Path:
    for part in ("in", "out"):
        (path / part).mkdir(parents=True)
    return path


def _copied(path: Path, target: Path) -> Path:
    return Path(shutil.copytree(path, target))


def _collection(at: Path) -> Collection:
    return Collection.open(at / "out/lib.mlc")


def _cli(*words: object) -> None:
    typer_app()([str(word) for word in words], standalone_mode=False)


def _convert_file(at: Path) -> None:
    _cli("convert", at / "in/a.bvh", at / "out/a.glb", "--force")


def _convert_folder(at: Path) -> None:
    _cli("convert", at / "in", at / "out", "--to", "glb", "--force")


def _ingest(at: Path) -> None:
    Collection.ingest(at / "in", out=at / "out/lib.mlc", fps=FPS)


def _grow(at: Path) -> None:
    grow_collection(_collection(at), at / "in")
    _ingest(at)  # removes the files that the call before had mapped itself


def _build(at: Path) -> None:
    ml.build_table(_collection(at), out=at / "out/lib.mlt", jobs=1, **TABLE)


def _rebuild(at: Path) -> None:
    options = {**TABLE, "seed": 3, "clusters": 4}
    ml.build_table(_collection(at), out=at / "out/lib.mlt", jobs=1, **options)


def _extend(at: Path) -> None:
    _cli("table", "build", at / "in", "-o", at / "out/lib.mlt", "--extend",
         "--labels", at / "labels.csv")  # fmt: skip


def _bytes(at: Path) -> tuple[object, ...]:
    """The bytes of every file that another program would see."""
    names = ("a.bvh", "new.mlm", "a.glb", "b.glb", "sub/c.glb")
    return tuple(_digest(at / "out" / name) for name in names)


def _digest(file: Path) -> str | None:
    return hashlib.blake2b(file.read_bytes()).hexdigest() if file.exists() else None


def _labels(at: Path) -> tuple[object, ...]:
    return (_collection(at).labels,)


def _collection_state(at: Path) -> tuple[object, ...]:
    if not (at / "out/lib.mlc/catalogue.json").exists():
        return (None,)
    lib = _collection(at)
    damage = lib.find_damage()
    if damage:
        raise AssertionError(damage[0])
    return (lib.digest,)


def _table_state(at: Path) -> tuple[object, ...]:
    """The table with its collection and labels: opened, asked, and checked for damage."""
    if not (at / "out/lib.mlt").exists():
        return (None, _collection(at).labels)
    table = ml.TransitionTable.open(at / "out/lib.mlt")
    damage = table.find_damage()
    if damage:
        raise AssertionError(damage[0])
    total = float(np.nansum(np.asarray(table.costs, dtype=np.float64)))
    return ((table.collection.digest, table.n_ends, total), table.collection.labels)
