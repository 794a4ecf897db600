"""``<include>`` of MuJoCo models: the elements of other files, put where they are named."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from motionloom.errors import FormatError
from motionloom.formats.robots.safe_xml import DEEPEST, LARGEST_BYTES, Element, parse_xml
from motionloom.formats.text import quoted
from motionloom.reading.opening import read_file

MOST_FILES = 64
ROOTS = ("mujoco", "mujocoinclude")
"""What an included file may begin with; its children are taken."""


class Includes:
    """The files of one model, each of which may be included once, as in MuJoCo."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.taken: set[Path] = set()
        self.n_bytes = 0

    def resolve(self, element: Element, depth: int = 0) -> None:
        """Replace every ``<include>`` within an element by what its file holds."""
        if depth > DEEPEST:
            raise FormatError(
                f"Elements may be {DEEPEST} deep, with those of included files.",
                where=f"line {element.line}",
            )
        children: list[Element] = []
        for child in element.children:
            if child.tag == "include":
                root = self._file(child)
                self.resolve(root, depth + 1)
                children += root.children
            else:
                self.resolve(child, depth + 1)
                children.append(child)
        element.children = children

    def _file(self, element: Element) -> Element:
        name, where = element.get("file"), f"line {element.line}"
        if self.folder is None:
            raise FormatError(
                f"The model includes {quoted(name)}, which a text cannot reach.",
                where=where,
                fix="Load it by its path.",
            )
        path = self._place(name, self.folder.resolve(), where)
        if path in self.taken or len(self.taken) >= MOST_FILES:
            raise FormatError(
                f"A file may be included once, {MOST_FILES} in all; {quoted(name)} is one more.",
                where=where,
            )
        self.taken.add(path)
        try:
            data = read_file(path, LARGEST_BYTES)
            self.n_bytes += len(data)
            if self.n_bytes > LARGEST_BYTES:
                raise FormatError(f"Included files may have {LARGEST_BYTES} bytes together.")
            root = parse_xml(data)
            if root.tag not in ROOTS:
                raise FormatError(
                    f"An included file must begin with <mujoco>, got <{root.tag[:40]}>."
                )
        except FormatError as error:
            raise error if error.path else error.at(path) from None
        return root

    @staticmethod
    def _place(name: str, folder: Path, where: str) -> Path:
        """A file in the folder of the model or below it, and no other."""
        relative = PurePosixPath(name)
        unsafe = not name or ":" in name or "\\" in name or "\0" in name
        try:
            path = Path(folder, *relative.parts).resolve()
            unsafe = unsafe or relative.is_absolute() or not path.is_relative_to(folder)
        except (OSError, ValueError, RuntimeError):
            unsafe = True
        if unsafe:
            raise FormatError(
                f"Files are only included from the model's folder, got {quoted(name)}.",
                where=where,
                fix="Save the compiled model: mujoco.mj_saveLastXML('flat.xml', model).",
            )
        return path
