"""Files built from the grammar of each format, with odd values where a reader may trust them.

Unlike ``mutate.py``, nothing is damaged: each file is put together from its parts as a tool would
write it. A few of its counts, numbers, names, types and links are odd: counts that disagree, NaN
and huge numbers, names that repeat, cycles, deep hierarchies, wrong types, other line ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from grammar_binary import amass_members, archive_members, arrays_members, glb_bytes, zip_bytes

__all__ = ["FORMATS", "built"]

NAMES = (
    *("Hips", "Spine", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg"),
    *(
        "RightFoot",
        "LeftArm",
        "a",
        "a b",
        "",
        "Hüfte",
        "骨",
        "😀",
        "x" * 300,
        "End",
        "JOINT",
        "a#b",
    ),
)
ODD_NUMBERS = (
    *("0", "-0", "1e9", "-1e9", "1e12", "1e13", "1e308", "-1e308", "1e309", "1e-308", "5e-324"),
    *("nan", "inf", "-inf", "1e", ".", "-", "+1", "1.", ".5", "1,5", "0x1", "9" * 30, "1e-90"),
    *("180", "-180", "360", "1e6", "0.1" + "3" * 40, "1d0", "1_0", "٣"),
)
LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n", "\n\t")
CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation", "Xscale")


class Grammar:
    """Choices of one file. ``odd(p)`` is True in one of ``1 / p`` places, and more in odd files."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.oddness = rng.choice((0.0, 0.3, 1.0, 1.0, 3.0))

    def odd(self, chance: float) -> bool:
        return self.rng.random() < chance * self.oddness

    def number(self, low: float = -1.0, high: float = 1.0) -> str:
        if self.odd(0.004):
            return self.rng.choice(ODD_NUMBERS)
        return f"{self.rng.uniform(low, high):.4g}"

    def numbers(self, count: int, low: float = -1.0, high: float = 1.0) -> str:
        if self.odd(0.01):
            count = max(0, count + self.rng.choice((-1, 1, -count, 9)))
        return " ".join(self.number(low, high) for _ in range(count))

    def count(self, true: int) -> str:
        if self.odd(0.04):
            return self.rng.choice(
                ("0", "-1", "1", "1e3", "2.5", "99999999999", "x", "", str(true + 1))
            )
        return str(true)

    def name(self, index: int) -> str:
        if self.odd(0.05):
            return self.rng.choice(NAMES)
        return f"{NAMES[index % 10]}{index // 10 or ''}"

    def parents(self, n: int) -> list[int]:
        """A tree: a chain, a star or a random one."""
        kind = self.rng.randrange(3)
        if kind == 0:
            return [j - 1 for j in range(n)]
        if kind == 1:
            return [-1, *[0] * (n - 1)]
        return [-1, *(self.rng.randrange(j) for j in range(1, n))]

    def size(self) -> int:
        """Joints of a skeleton."""
        return (
            self.rng.choice((1, 2, 3, 5, 9, 9))
            if not self.odd(0.02)
            else self.rng.choice((40, 150))
        )

    def frames(self) -> int:
        return self.rng.choice((1, 2, 3, 4, 8)) if not self.odd(0.05) else self.rng.choice((0, 40))


def bvh(g: Grammar) -> bytes:
    """A hierarchy, its channels, and rows."""
    n, rng = g.size(), g.rng
    parents = g.parents(n)
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(parents):
        children.setdefault(parent, []).append(joint)
    lines, width = ["HIERARCHY" if not g.odd(0.01) else "hierarchy"], 0
    todo: list[int | str] = [0]
    while todo:
        joint = todo.pop()
        if isinstance(joint, str):
            lines.append(joint)
            continue
        own = list(CHANNELS[3:6]) if joint else list(CHANNELS[:6])
        if rng.random() < 0.3:
            rng.shuffle(own)
        if g.odd(0.05):
            own = rng.choices(CHANNELS, k=rng.randrange(0, 11))
        word = "JOINT" if joint else "ROOT"
        lines += [f"{word} {g.name(joint)}", "{"]
        if not g.odd(0.02):
            lines.append(f"OFFSET {g.numbers(3, -50, 50)}")
        if own or not g.odd(0.5):
            lines.append(f"CHANNELS {g.count(len(own))} {' '.join(own)}")
            width += len(own)
        ending = "}" if not g.odd(0.01) else rng.choice(("", "}}", "} }"))
        below = children.get(joint, [])
        todo.append(ending)
        todo += reversed(below)
        if not below and rng.random() < 0.7:
            todo.append(f"End Site\n{{\nOFFSET {g.numbers(3)}\n}}")
    rows = g.frames()
    lines += ["MOTION" if not g.odd(0.01) else "motion", f"Frames: {g.count(rows)}"]
    lines.append(f"Frame Time: {g.number(0.001, 0.1)}")
    if g.odd(0.02):
        rng.shuffle(lines)
    lines += [g.numbers(width, -90, 90) for _ in range(rows)]
    if g.odd(0.03):
        lines.insert(
            rng.randrange(len(lines)), rng.choice(("# note", "// note", "\x00", "foot 1 2"))
        )
    return _text(g, lines)


def asf(g: Grammar, n: int, names: Sequence[str], dofs: Sequence[Sequence[str]]) -> bytes:
    parents = g.parents(n)
    lines = [":version 1.10", ":name x", ":units", " mass 1", f" length {g.number(0.1, 1)}"]
    lines += [f" angle {'deg' if not g.odd(0.05) else g.rng.choice(('rad', 'x', ''))}", ":root"]
    lines += [f" order {' '.join(g.rng.sample(('TX', 'TY', 'TZ', 'RX', 'RY', 'RZ'), 6))}"]
    lines += [" axis XYZ", f" position {g.numbers(3)}", f" orientation {g.numbers(3)}", ":bonedata"]
    for joint in range(1, n):
        order = g.rng.choice(("XYZ", "ZYX")) if not g.odd(0.02) else g.rng.choice(("", "XXY", "x"))
        lines += [" begin", f" id {joint}", f" name {names[joint]}"]
        lines += [f" direction {g.numbers(3)}", f" length {g.number(0, 9)}"]
        lines += [f" axis {g.numbers(3, -90, 90)} {order}"]
        if dofs[joint]:
            lines.append(f" dof {' '.join(dofs[joint])}")
        lines.append(" end" if not g.odd(0.01) else "")
    lines += [":hierarchy", " begin"]
    for joint in range(1, n):
        parent = parents[joint]
        if g.odd(0.03):  # a cycle, a bone twice, or one that is missing
            parent = g.rng.randrange(n)
        lines.append(f" {'root' if parent <= 0 else names[parent]} {names[joint]}")
    lines.append(" end")
    if g.odd(0.02):
        g.rng.shuffle(lines)
    return _text(g, lines)


def amc(g: Grammar) -> tuple[bytes, bytes]:
    """A motion, and the skeleton that it belongs to."""
    n = max(2, g.size())
    names = ["root", *(g.name(j).replace(" ", "_") or "b" for j in range(1, n))]
    some = ("rx", "ry", "rz", "tx", "l", "qq")
    dofs: list[list[str]] = [["r"] * 6]
    dofs += [
        list(some[:3]) if not g.odd(0.2) else g.rng.choices(some, k=g.rng.randrange(5))
        for _ in range(1, n)
    ]
    skeleton = asf(g, n, names, dofs)
    lines = ["#!OML:ASF", ":FULLY-SPECIFIED", ":DEGREES" if not g.odd(0.1) else ":RADIANS"]
    if g.odd(0.2):
        lines.append(f":SAMPLES-PER-SECOND {g.number(1, 200)}")
    for frame in range(g.frames()):
        lines.append(
            str(frame + 1) if not g.odd(0.03) else g.rng.choice(("1", "9" * 25, "-1", "x"))
        )
        lines += [
            f"{names[joint]} {g.numbers(len(dofs[joint]), -90, 90)}"
            for joint in range(n)
            if dofs[joint] and not g.odd(0.02)
        ]
    return _text(g, lines), skeleton


def deepmimic(g: Grammar) -> bytes:
    """JSON with rows of 44 numbers."""
    rows = []
    for _ in range(g.frames()):
        row = [g.number(0.01, 0.05), *(g.number() for _ in range(3))]
        for size in (4, 4, 4, 4, 1, 4, 4, 1, 4, 1, 4, 4, 1):
            row += [g.number() for _ in range(size)]
        row = ["null" if v in ("nan", "inf") and g.odd(0.3) else v for v in row]
        if g.odd(0.02):
            row = row[: g.rng.randrange(44)]
        if g.odd(0.01):
            row[-1:] = [g.rng.choice(('"x"', "[]", "{}", "true", "NaN", "-Infinity", "[1]"))]
        rows.append(f"[{', '.join(row)}]")
    frames = (
        f"[{', '.join(rows)}]"
        if not g.odd(0.02)
        else g.rng.choice(("[]", "{}", "3", "[[]]", '"x"'))
    )
    loop = g.rng.choice(("true", "null", "[]", "3")) if g.odd(0.1) else '"wrap"'
    parts = [f'"Loop": {loop}', f'"Frames": {frames}']
    if g.odd(0.05):
        parts.append(g.rng.choice((parts[-1], '"\\ud800": 1', '"x": [[[]]]', '"y": {"Frames": 1}')))
    if g.odd(0.1):
        g.rng.shuffle(parts)
    return _text(g, ["{", ",\n".join(parts), "}"])


def _text(g: Grammar, lines: Sequence[str]) -> bytes:
    end = g.rng.choice(LINE_ENDS) if g.odd(0.2) else "\n"
    text = end.join(lines) + (end if not g.odd(0.1) else "")
    if g.odd(0.02):
        return text.encode(g.rng.choice(("utf-16", "latin-1", "utf-8-sig")), "replace")
    return text.encode("utf-8", "surrogatepass")


FORMATS: dict[str, Callable[[Grammar], Any]] = {
    "bvh": bvh,
    "amc": amc,
    "deepmimic": deepmimic,
    "glb": glb_bytes,
    "archive": lambda g: zip_bytes(g, archive_members(g)),
    "arrays": lambda g: zip_bytes(g, arrays_members(g)),
    "amass": lambda g: zip_bytes(g, amass_members(g)),
}


def built(seed: int, number: int, only: str | None = None) -> tuple[str, bytes, bytes]:
    """Format, file, and the skeleton file that belongs to it, of one case; always the same."""
    rng = Random(f"{seed}-{number}")
    names = tuple(FORMATS) if only is None else (only,)
    name = names[number % len(names)]
    made = FORMATS[name](Grammar(rng))
    data, companion = made if isinstance(made, tuple) else (made, b"")
    return name, data, companion
