"""Pages of the reference: every public name by its docstring, every command by its help text.

Both are read from the package: ``motionloom.__all__`` and the tree of commands. No list of names is
kept by hand.
"""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import motionloom as ml

__all__ = ["write_reference"]

TITLES = {
    "intake": "Loading and saving",
    "motion": "Motions and skeletons",
    "body": "Bodies",
    "features": "Contacts and quality",
    "retargeting": "Retargeting",
    "cleanup": "Foot clean-up",
    "registration": "Registration curves",
    "blending": "Blending and transitions",
    "splicing": "Splicing",
    "tables": "Transition tables",
    "drawing": "Drawing",
    "synthetic": "Embedded clips",
}
"""Title of each package of public names; other packages come after them under their own name."""
COMMANDS = """# Commands

Every command with its help text. `motionloom COMMAND --help` prints the same.

Exit codes: 0 done, 1 something was found, 2 bad input or usage, 3 the result fails its quality
check and was not written, 130 stopped by the user.
"""
OTHERS = "errors"
"""Page of the names that modules at the top of the package define."""


def write_reference(folder: Path) -> list[Path]:
    """Paths of the pages written: one per package of public names, and one for the commands."""
    folder.mkdir(parents=True, exist_ok=True)
    pages: dict[str, list[str]] = {}
    for name in sorted(ml.__all__, key=lambda name: (name.lower(), name)):
        if name.startswith("_"):
            continue
        pages.setdefault(_package_of(getattr(ml, name)), []).append(name)
    order = [*TITLES, *sorted(set(pages) - set(TITLES) - {OTHERS}), OTHERS]
    texts = {
        f"api-{number:02d}-{package}.md": _page(package, pages[package])
        for number, package in enumerate((each for each in order if each in pages), 1)
    }
    texts["commands.md"] = _commands()
    for stale in set(folder.glob("*.md")) - {folder / name for name in texts}:
        stale.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # keeps Sphinx quick
            path.write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _package_of(value: Any) -> str:
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    parts = str(home).split(".")
    is_package = len(parts) > 2 or isinstance(value, ModuleType)
    return parts[1] if is_package and len(parts) > 1 else OTHERS


def _page(package: str, names: list[str]) -> str:
    title = TITLES.get(package, "Errors and findings" if package == OTHERS else package.title())
    text = f"# {title}\n"
    for name in names:
        value = getattr(ml, name)
        if isinstance(value, ModuleType):
            own = [each for each in value.__all__ if each not in ml.__all__]
            text += "".join(_entry(f"{name}.{each}", getattr(value, each)) for each in own)
        else:
            text += _entry(name, value)
    return text


def _entry(name: str, value: Any) -> str:
    directive, options = "data", ""
    if inspect.isclass(value):
        directive, options = (
            "class",
            "\n:members:\n:inherited-members: BaseException, Exception, object, tuple, int, str",
        )
    elif callable(value):
        directive = "function"
    options = options.replace("\n", "\n   ")
    return f"\n## {name}\n\n```{{eval-rst}}\n.. auto{directive}:: motionloom.{name}{options}\n```\n"


def _commands() -> str:
    os.environ["COLUMNS"] = "88"
    from motionloom.cli.main import command_tree

    return COMMANDS + "".join(_help_of(command_tree(), ["motionloom"]))


def _help_of(command: Any, path: list[str]) -> list[str]:
    context = command.context_class(command, info_name=" ".join(path), max_content_width=88)
    help_text = re.sub(r"\x1b\[[0-9;]*m", "", command.get_help(context))
    parts = [f"\n## {' '.join(path)}\n\n```text\n{help_text.strip()}\n```\n"]
    for name in getattr(command, "commands", {}):
        parts += _help_of(command.commands[name], [*path, name])
    return parts
