"""A plain installation: NumPy, the command line, and an error for each extra that names it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

import motionloom as ml
from motionloom import _extras

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

WORK = """
import json, sys
from pathlib import Path
import motionloom as ml

place = Path(sys.argv[1])
(place / "clips").mkdir()
for kind in ("walk", "jog", "run", "wave"):
    ml.save(ml.synthetic.clip(kind, duration_s=2.0, fps=30).motion, place / "clips" / f"{kind}.bvh")
walk, jog, wave = (ml.load(place / "clips" / f"{kind}.bvh") for kind in ("walk", "jog", "wave"))
results = ml.transition(walk, jog), ml.blend([walk, jog], [0.5, 0.5]), ml.splice(wave, walk)
for suffix in (".glb", ".fbx", ".usda", ".npz"):
    ml.save(results[0].motion, place / f"joined{suffix}")
ml.render(results[0], place / "page.html")
lib = ml.Collection.ingest(place / "clips", out=place / "lib.mlc", fps=20)
table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
ml.save_play_page(table, place / "play.html")
for name in ml.__all__:
    getattr(ml, name)
print(json.dumps({
    "notebook": "<iframe" in walk._repr_html_(),
    "frames": [result.motion.n_frames for result in results],
    "modules": sorted({name.partition(".")[0] for name in sys.modules}),
}))
"""

WITHOUT = """
import json, sys
from pathlib import Path
import motionloom as ml

place, walk = Path(sys.argv[1]), ml.synthetic.clip("walk").motion
(place / "a.c3d").write_bytes(b"\\2\\x50" + bytes(600))
calls = {
    "pictures": [
        lambda: ml.render(walk, place / "walk.png"),
        lambda: ml.render(walk, place / "walk.gif"),
        lambda: ml.write_demo(place / "demo"),
    ],
    "video": [lambda: ml.render(walk, place / "walk.mp4")],
    "studio": [lambda: ml.Studio()],
    "c3d": [lambda: ml.load_points(place / "a.c3d")],
    "gpu": [lambda: ml.engine_of(device="cuda")],
    "cluster": [lambda: ml.engine_of(dask="local")],
}
errors = {extra: [] for extra in calls}
for extra, several in calls.items():
    for call in several:
        try:
            call()
        except ml.MotionLoomError as error:
            errors[extra].append(str(error))
print(json.dumps({"errors": errors, "files": sorted(path.name for path in place.iterdir())}))
"""


def requirements(names: list[str]) -> set[str]:
    """Installed distributions that ``names`` and all they require belong to."""
    waiting, seen = list(names), set()
    while waiting:
        name = re.split(r"[\[<>=!~; (]", waiting.pop())[0]
        if name in seen:
            continue
        seen.add(name)
        waiting += [each for each in distribution(name).requires or [] if "; " not in each]
    return seen


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a Python that finds motionloom and what a plain installation brings."""
    folder = tmp_path_factory.mktemp("plain")
    for name in requirements(PROJECT["dependencies"]):
        parts = {file.parts[0] for file in distribution(name).files or []}
        for part in parts - {"..", "__pycache__"}:
            (folder / part).symlink_to(Path(str(distribution(name).locate_file(part))))
    others = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return {**others, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'src'}"}


def run(env: dict[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    """Python without the packages of this environment (``-S``)."""
    command = [sys.executable, "-S", *map(str, words)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_clips_are_made_saved_and_shown_with_numpy_alone(plain, tmp_path) -> None:
    done = run(plain, "-c", WORK, tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["notebook"]
    assert all(frames > 30 for frames in facts["frames"])
    others = {module for modules in _extras.MODULES.values() for module in modules}
    assert not set(facts["modules"]) & {*others, "typer", "rich", "scipy"}


def test_an_extra_that_is_not_installed_is_named_with_the_command(plain, tmp_path) -> None:
    done = run(plain, "-c", WITHOUT, tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    for extra, errors in answer["errors"].items():
        assert errors
        for text in errors:
            assert f"needs the extra `{extra}`, which is not installed (No module named" in text
            assert text.endswith(f"Run pip install 'motionloom[{extra}]'.")
    assert answer["files"] == ["a.c3d"]


def test_commands_work_or_name_the_extra(plain, tmp_path) -> None:
    walk, joined = tmp_path / "walk.bvh", tmp_path / "joined.glb"
    done = run(plain, "-m", "motionloom", "--help")
    assert done.returncode == 0 and "transition" in done.stdout
    ml.save(ml.synthetic.clip("walk", duration_s=2.0, fps=30).motion, walk)
    done = run(plain, "-m", "motionloom", "transition", walk, walk, "-o", joined)
    assert done.returncode == 0, done.stderr
    assert joined.stat().st_size > 1000
    for extra, words in {
        "pictures": ("render", walk, "-o", tmp_path / "walk.svg"),
        "studio": ("studio", "--no-browser"),
    }.items():
        done = run(plain, "-m", "motionloom", *words)
        assert done.returncode == 2
        assert done.stderr.startswith("motionloom: ")
        assert done.stderr.endswith(f"Run pip install 'motionloom[{extra}]'.\n")
        assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["joined.glb", "walk.bvh"]


def test_extras_are_those_of_the_project(monkeypatch) -> None:
    named = set(PROJECT["optional-dependencies"]) - {"all", "docs", "dev", "bench"}
    assert set(_extras.MODULES) == named
    assert all(_extras.has_extra(extra) for extra in ("pictures", "video", "studio", "c3d"))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert not _extras.has_extra("studio")


def test_everything_that_installs_everywhere_is_in_all() -> None:
    (named,) = PROJECT["optional-dependencies"]["all"]
    assert set(named.removeprefix("motionloom[").rstrip("]").split(",")) == set(_extras.MODULES) - {
        "gpu",
        "cluster",
        "usd",
    }
