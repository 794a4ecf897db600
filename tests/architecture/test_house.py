"""The house keeps its shape: names resolve, imports point one way, start-up is light."""

import ast
import doctest
import importlib
import json
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import motionloom
from motionloom import _extras

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(motionloom.__path__, "motionloom.")
    if not m.name.endswith("__main__")
)


@pytest.mark.parametrize("name", motionloom.__all__)
def test_every_public_name_resolves(name):
    assert getattr(motionloom, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'waltz'"):
        _ = motionloom.waltz


def test_imports_point_one_way():
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which(
        "lint-imports"
    )
    assert linter is not None
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_help_starts_without_the_heavy_libraries():
    code = (
        "import sys, json\n"
        "from motionloom.cli import main\n"
        "try:\n    main.typer_app()(['-h'], standalone_mode=False)\nexcept SystemExit:\n    pass\n"
        "heavy = [m for m in ('numpy', 'scipy', 'matplotlib') if m in sys.modules]\n"
        "print('HEAVY' + json.dumps(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.split("HEAVY")[1]) == []


def test_nothing_is_imported_that_is_not_installed_with_the_package():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    known = {re.split("[<>=~ ]", each)[0] for each in wanted}
    known |= {"motionloom", *sys.stdlib_module_names}
    extras = {module for modules in _extras.MODULES.values() for module in modules}
    extras |= {"mpl_toolkits", "h11", "dask"}  # with those
    for path in (ROOT / "src" / "motionloom").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            assert {name.split(".")[0] for name in names} <= known | extras, path


@pytest.mark.parametrize("name", MODULES)
def test_every_example_in_a_docstring_is_true(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_a_test_that_is_named_after_a_module_lies_in_its_folder():
    source, tests = ROOT / "src" / "motionloom", ROOT / "tests" / "unit"
    folders = {path.stem: path.parent.relative_to(source) for path in source.rglob("*.py")}
    misplaced = [
        str(path.relative_to(ROOT))
        for path in tests.rglob("test_*.py")
        if (folder := folders.get(path.stem.removeprefix("test_"))) is not None
        and not path.is_relative_to(tests / folder)
    ]
    assert misplaced == []
