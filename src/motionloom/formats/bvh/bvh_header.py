"""The head of a BVH file: its hierarchy, channels, frame count and frame time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn

from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.text import LARGEST, MARK, decoded, quoted

CHANNEL_NAMES = (
    *("Xposition", "Yposition", "Zposition"),
    *("Xrotation", "Yrotation", "Zrotation"),
    *("Xscale", "Yscale", "Zscale"),
)
"""By kind: a channel's kind is its index here."""
Vector = tuple[float, float, float]
N_POSITIONS, N_TURNS = 3, 6
"""Kinds below the first are positions, below the second positions and rotations."""
_KINDS = {name.lower().encode(): kind for kind, name in enumerate(CHANNEL_NAMES)}
_BLANKS = re.compile(rb"[\s\x00]*+(?:(?:#|//)[^\r\n]*+[\s\x00]*+)*+")
_TOKEN = re.compile(rb"[{}]|[^\s\x00{}]+")
_NAME = re.compile(rb"[^\r\n{]*")
_NAME_COMMENT = re.compile(rb"(?:^|(?<=\s))(?:#|//).*")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?=[\s\x00{}+-]|$)")
_PLAIN = rb"[ \t]+(-?\d{1,9}\.\d{1,12})"
_OFFSET = re.compile(3 * _PLAIN + rb"(?=[ \t]*[\r\n])")
"""Three numbers on the rest of a line, as nearly every joint has them; others are read slowly."""
_CHANNELS = re.compile(
    rb"[ \t]+(\d)((?:[ \t]+[XYZ](?:position|rotation)){1,6})"
    rb"(?=[ \t]*\r?\n[ \t]*(?:JOINT|End|\})\s)"
)
"""Channels as nearly every joint names them, where what follows is not one more."""
_FRAMES = re.compile(rb"frames[ \t]*:?[ \t]*([^\s\x00]*)", re.IGNORECASE)
_FRAME_TIME = re.compile(
    rb"frame[ \t]*time[ \t]*:?[ \t]*([^\s\x00]*)(?:[ \t]*[a-z()]+[ \t]*(?=[\r\n]))?", re.IGNORECASE
)
_END = -1
_MOST_FINDINGS = 20
_WORDS_PER_JOINT = 64
"""Words that a joint and its end sites may take in the hierarchy; twenty are usual."""
_LONGEST_NAME = 4096


class NeedMore(Exception):  # noqa: N818 - a signal between two functions, not an error
    """The head goes on beyond the bytes that were given."""


@dataclass(slots=True)
class Node:
    """One joint as the file states it."""

    name: str
    parent: int
    root: int
    """Which ROOT block it belongs to."""
    offset: Vector | None = None
    channels: list[int] = field(default_factory=list)
    """Kinds, in the file's order."""
    ends: list[Vector] = field(default_factory=list)


@dataclass(slots=True)
class Header:
    """All that stands above the first row of numbers."""

    nodes: list[Node]
    frames: int | None
    """Stated frame count, None where it is missing or no count."""
    frame_time: str
    """Stated frame time, as text."""
    stop: int
    """First byte after the head."""
    line: int
    """Line of that byte, from 1."""
    findings: list[Finding]


def parse_header(data: bytes, *, max_joints: int, complete: bool) -> Header:
    """The head of the BVH file that begins with ``data``.

    Raises :class:`NeedMore` where ``data`` ends inside the head, unless it is the whole file.
    """
    return _Parser(data, max_joints, complete).parse()


class _Parser:
    """Reads tokens with a stack of open blocks, so that no depth of nesting can exhaust it."""

    def __init__(self, data: bytes, max_joints: int, complete: bool) -> None:
        self.data = data
        self.complete = complete
        self.max_joints = max_joints
        self.at = len(MARK) if data.startswith(MARK) else 0
        self.nodes: list[Node] = []
        self.findings: list[Finding] = []
        self.n_ends = 0
        self.words_left = _WORDS_PER_JOINT * (max_joints + 1)

    def parse(self) -> Header:
        first = self.token("HIERARCHY")
        if first.upper() != b"HIERARCHY":
            self.fail(f"A BVH file must begin with HIERARCHY, got {quoted(first)}.")
        self.hierarchy()
        if not self.nodes:
            self.fail("A hierarchy must have a ROOT joint, got none.")
        frames, frame_time = self.timing()
        return Header(self.nodes, frames, frame_time, self.at, self.line, self.findings)

    def hierarchy(self) -> None:
        """The joints after HIERARCHY, up to MOTION."""
        blocks: list[int] = []  # node of every open block, _END for an end site
        pending = _END
        n_roots = 0
        while True:
            token = self.token("MOTION")
            word = token.upper()
            inside = blocks[-1] if blocks else None
            if word == b"}":
                if blocks:
                    blocks.pop()
                else:
                    self.note("There is a '}' too many; it was passed over.")
                continue
            if word == b"MOTION":
                if blocks:
                    self.note(f"{len(blocks)} '}}' are missing before MOTION.")
                return
            if word in (b"ROOT", b"JOINT") and inside is None:
                pending = self.add_node(-1, n_roots)
                n_roots += 1
            elif word in (b"ROOT", b"JOINT") and inside != _END:
                assert inside is not None
                pending = self.add_node(inside, self.nodes[inside].root)
            elif word in (b"END", b"ENDSITE") and inside not in (None, _END):
                self.add_end()
                pending = _END
            elif word == b"OFFSET" and inside is not None:
                self.offset(blocks)
                continue
            elif word == b"CHANNELS" and inside is not None:
                self.channels(inside)
                continue
            else:
                place = "outside of all joints" if inside is None else "inside this block"
                self.fail(f"The hierarchy must not have {quoted(token)} {place}.")
            brace = self.token("'{'")
            if brace != b"{":
                self.fail(f"A joint must open with '{{', got {quoted(brace)}.")
            blocks.append(pending)

    def add_node(self, parent: int, root: int) -> int:
        if len(self.nodes) >= self.max_joints:
            self.fail(f"A skeleton may have at most {self.max_joints} joints; this one has more.")
        self.nodes.append(Node(self.name(), parent, root))
        return len(self.nodes) - 1

    def add_end(self) -> None:
        self.name()  # "Site", sometimes with a name
        self.n_ends += 1
        if self.n_ends > self.max_joints:
            self.fail(f"A file may have at most {self.max_joints} end sites; this one has more.")

    def offset(self, blocks: list[int]) -> None:
        if (match := _OFFSET.match(self.data, self.at)) is not None:
            self.advance(match.end())
            self.count_word(3)
            offset = (float(match[1]), float(match[2]), float(match[3]))
        else:
            offset = (self.number(), self.number(), self.number())
        if blocks[-1] == _END:
            self.nodes[blocks[-2]].ends.append(offset)
        else:
            self.nodes[blocks[-1]].offset = offset

    def channels(self, inside: int) -> None:
        if inside != _END and not self.nodes[inside].channels:
            match = _CHANNELS.match(self.data, self.at)
            names = [] if match is None else match[2].lower().split()
            if match is not None and len(names) == int(match[1]):
                self.advance(match.end())
                self.count_word(1 + len(names))
                self.nodes[inside].channels = [_KINDS[name] for name in names]
                return
        count = self.token("the number of channels")
        kinds = [_KINDS[count.lower()]] if count.lower() in _KINDS else []
        while True:
            self.skip_blanks()
            match = _TOKEN.match(self.data, self.at)
            word = match[0] if match else b""
            kind = _KINDS.get(word.lower())
            if kind is None:
                break
            kinds.append(kind)
            self.advance(match.end() if match else self.at)
            self.count_word()
        stated = int(count) if count.isdigit() and len(count) < 10 else -1
        if len(kinds) < stated and re.fullmatch(rb"[xyzw]\w{2,}", word, re.IGNORECASE):
            self.fail(
                f"A channel must be one of {', '.join(CHANNEL_NAMES[:6])}, got {quoted(word)}."
            )
        if inside == _END:
            if kinds:
                self.fail("An End Site must not have channels.", "Make it a JOINT.")
            return
        node = self.nodes[inside]
        if stated != len(kinds):
            self.note(
                f"Joint {quoted(node.name)} states {quoted(count)} channels and names "
                f"{len(kinds)}; the names were used."
            )
        if len(node.channels) + len(kinds) > len(CHANNEL_NAMES):
            self.fail(f"Joint {quoted(node.name)} has more than {len(CHANNEL_NAMES)} channels.")
        node.channels.extend(kinds)

    def timing(self) -> tuple[int | None, str]:
        """The stated frame count and frame time, which stand in either order."""
        count, time = None, None
        for _ in range(2):
            self.skip_blanks()
            if time is None and (match := _FRAME_TIME.match(self.data, self.at)):
                time = match[1]
            elif count is None and (match := _FRAMES.match(self.data, self.at)):
                count = match[1]
            else:
                break
            self.advance(match.end())
        if count is None:
            self.note("The line `Frames:` is missing; the rows were counted.")
            return None, decoded(time or b"")
        text = decoded(count)
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not (0.0 <= number <= LARGEST and number.is_integer()):
            self.note(f"`Frames:` must be a count, got {quoted(text)}; rows were counted.")
            return None, decoded(time or b"")
        return int(number), decoded(time or b"")

    def name(self) -> str:
        """The rest of the line, up to a brace or comment: names may have spaces."""
        match = _NAME.match(self.data, self.at)
        assert match is not None
        self.advance(match.end())
        if len(match[0]) > _LONGEST_NAME:
            self.fail(f"A name may have at most {_LONGEST_NAME} bytes, got {len(match[0])}.")
        name = decoded(_NAME_COMMENT.sub(b"", match[0]))
        return " ".join(name.replace("\x00", " ").split())

    def number(self) -> float:
        self.skip_blanks()
        match = _NUMBER.match(self.data, self.at)
        if match is None:
            token = _TOKEN.match(self.data, self.at)
            got = quoted(token[0]) if token else "nothing"
            self.fail(f"An OFFSET must be three finite numbers, got {got}.")
        self.advance(match.end())
        self.count_word()
        value = float(match[0])
        if not abs(value) <= LARGEST:
            self.fail(f"An OFFSET must be three finite numbers, got {quoted(match[0])}.")
        return value

    def token(self, wanted: str) -> bytes:
        self.skip_blanks()
        match = _TOKEN.match(self.data, self.at)
        if match is None:
            self.fail(f"The file ends where {wanted} must follow.", "It may have been cut short.")
        self.advance(match.end())
        self.count_word()
        return match[0]

    def count_word(self, n: int = 1) -> None:
        self.words_left -= n
        if self.words_left < 0:
            raise FormatError(
                f"A hierarchy may have {_WORDS_PER_JOINT} words for each of at most "
                f"{self.max_joints} joints; this one has more.",
                where=f"line {self.line}",
                fix="This may not be a BVH file.",
            )

    @property
    def line(self) -> int:
        """Line of the next byte, from 1. Counted when it is asked for, which is seldom."""
        data, stop = self.data, self.at
        pairs = data.count(b"\r\n", 0, stop)
        return 1 + data.count(b"\n", 0, stop) + data.count(b"\r", 0, stop) - pairs

    def skip_blanks(self) -> None:
        match = _BLANKS.match(self.data, self.at)
        assert match is not None
        self.at = match.end()
        if self.at >= len(self.data) and not self.complete:
            raise NeedMore

    def advance(self, stop: int) -> None:
        self.at = stop
        if stop >= len(self.data) and not self.complete:
            raise NeedMore

    def note(self, problem: str) -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding("warning", f"line {self.line}", problem))

    def fail(self, problem: str, fix: str | None = None) -> NoReturn:
        if not self.complete and len(self.data) - self.at < 64:
            raise NeedMore  # the token may look wrong only because the block ends in it
        raise FormatError(problem, where=f"line {self.line}", fix=fix)
