"""Clips of markers without a skeleton: loaded, and as motions for registration."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, frozen, positive
from motionloom._records import one_line, record
from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import limits_for
from motionloom.files.reading import path_of, printable, read_file
from motionloom.files.writing import write_whole
from motionloom.findings import Finding
from motionloom.formats.archives.npz import write_members
from motionloom.formats.c3d_points import read_points
from motionloom.intake.axes import checked_up, to_world
from motionloom.intake.units import unit_metres
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Source
from motionloom.rotation import quat

BELOW_FLOOR = 0.9
"""Share of points below 0 from which on an up axis must point the other way: floors are at 0."""
_AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True, eq=False)
@record
class MarkerClip:
    """Markers of a capture over time, in metres and Y up.

    Attributes
    ----------
    names : tuple of str
        Names of the markers.
    positions : array
        Zeros where a marker was not seen. Shape (F, P, 3).
    seen : array of bool
        Whether a marker was seen. Shape (F, P).
    fps : float
        Frames per second.
    up : str
        Up axis of the file.
    unit_m : float
        Metres per unit of the file.
    path : str
        The file.
    findings : tuple of Finding
        What was detected: unit, up axis, and what is odd.

    Examples
    --------
    >>> clip = MarkerClip(("a", "b"), np.ones((3, 2, 3)), np.ones((3, 2), bool), 100.0)
    >>> clip.motion().world_positions()[:, 1:].tolist() == clip.positions.tolist()
    True
    """

    names: tuple[str, ...]
    positions: FloatArray
    seen: BoolArray
    fps: float
    up: str = "y"
    unit_m: float = 1.0
    path: str = ""
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        shape = (None, len(self.names), 3)
        positions = frozen(self.positions, "positions", shape)
        object.__setattr__(self, "positions", positions)
        seen = frozen(self.seen, "seen", positions.shape[:2], np.bool_)
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "fps", positive(self.fps, "fps"))

    @property
    def n_frames(self) -> int:
        """Number of frames F."""
        return len(self.positions)

    def motion(self) -> Motion:
        """The markers as a motion that can be registered and aligned, but not retargeted.

        A root follows the mean of the markers, without turning, and each marker is a joint that
        slides in it. Markers that were not seen are interpolated; those never seen are left out.

        Returns
        -------
        Motion
            One joint per marker, and the root.
        """
        present = np.flatnonzero(self.seen.any(axis=0))
        if not len(present):
            raise ArrayError("A clip of markers must have one that was seen at least once.")
        places = _filled(self.positions[:, present], self.seen[:, present])
        root = places.mean(axis=1)
        slides = np.concatenate([np.zeros((self.n_frames, 1, 3)), places - root[:, None]], axis=1)
        names = ["markers", *(self.names[k] for k in present)]
        while names[0] in names[1:]:
            names[0] += "_"
        skeleton = Skeleton(tuple(names), np.array([-1, *[0] * len(present)]), slides[0])
        turns = np.tile(quat.IDENTITY, (self.n_frames, len(names), 1))
        source = Source(
            format="c3d",
            path=self.path,
            unit_m=self.unit_m,
            up=self.up,
            fps=self.fps,
            findings=self.findings,
        )
        return Motion(skeleton, root, turns, self.fps, slides, source=source)

    def save(self, path: str | Path) -> None:
        """Write ``.csv`` or ``.npz``, in metres and Y up.

        A ``.csv`` has a row for every frame: ``time`` (seconds), and three columns for each marker,
        ``LFHD_x``, ``LFHD_y``, ``LFHD_z``, which are empty where it was not seen. An ``.npz`` has
        the arrays ``positions``, ``seen``, ``names``, ``fps``, ``unit_m`` and ``up``.

        Parameters
        ----------
        path
            The suffix picks the format. The file appears whole or not at all.
        """
        target = path_of(path, "path")
        suffix = target.suffix.lower()
        if suffix not in (".npz", ".csv"):
            raise FormatError(f"Markers are saved as .csv or .npz, got {suffix!r}.", path=target)
        write_whole(target, self._write_npz if suffix == ".npz" else self._write_csv)

    def _write_npz(self, stream: BinaryIO) -> None:
        arrays = {
            "positions": self.positions,
            "seen": self.seen,
            "names": np.array(self.names, dtype=np.str_),
            "fps": np.array(self.fps),
            "unit_m": np.array(1.0),
            "up": np.array("y"),
        }
        write_members(stream, {f"{key}.npy": array for key, array in arrays.items()})

    def _write_csv(self, stream: BinaryIO) -> None:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["time", *(f"{name}_{axis}" for name in self.names for axis in _AXES)])
        for frame, (places, seen) in enumerate(zip(self.positions, self.seen, strict=True)):
            cells = [
                [repr(value) for value in place] if visible else ["", "", ""]
                for place, visible in zip(places.tolist(), seen.tolist(), strict=True)
            ]
            rows.writerow([repr(frame / self.fps), *(cell for three in cells for cell in three)])
        text.flush()
        text.detach()

    def __repr__(self) -> str:
        n_markers = len(self.names)
        return one_line(
            f"MarkerClip({self.n_frames} frames, {self.fps:g} fps, {n_markers} markers)"
        )


def _filled(places: FloatArray, seen: BoolArray) -> FloatArray:
    """Places (F, P, 3) with the gaps of each marker bridged by straight lines."""
    filled = np.array(places)
    frames = np.arange(len(places))
    for k in range(places.shape[1]):
        at = np.flatnonzero(seen[:, k])
        for axis in range(3):
            filled[:, k, axis] = np.interp(frames, at, places[at, k, axis])
    return filled


def load_points(
    path: str | Path,
    *,
    unit: str | float | None = None,
    up: str | None = None,
    max_memory: int | str | None = None,
) -> MarkerClip:
    """The markers of a C3D file, in metres and Y up. Needs the extra ``c3d``.

    Parameters
    ----------
    path
        A ``.c3d`` file.
    unit
        Unit of the file, if the one it states is wrong.
    up
        Up axis of the file. By default what it states for screens, turned round where that would
        put the markers below 0; else the axis along which markers are spread most over a floor
        that stays, which is only a guess.
    max_memory
        As of :func:`load`.

    Returns
    -------
    MarkerClip
        Names, positions, which were seen, rate. ``findings`` lists what was detected;
        ``clip.motion()`` can be registered.

    Examples
    --------
    >>> clip = load_points("walk.c3d")  # doctest: +SKIP
    >>> clip.names[:2], clip.up  # doctest: +SKIP
    (('LFHD', 'RFHD'), 'z')
    """
    target = path_of(path, "path")
    stated_unit = None if unit is None else unit_metres(unit)
    stated_up = None if up is None else checked_up(up)
    limits = limits_for(max_memory)
    try:
        points = read_points(read_file(target, limits.max_bytes), limits)
    except FormatError as error:
        raise error if error.path else error.at(target) from None
    findings = [each for each in points.findings if stated_unit is None or each.where != "unit"]
    unit_m = points.unit_m if stated_unit is None else stated_unit
    axis, finding = _up_of(points.positions, points.seen, points.up, stated_up)
    dots = Skeleton(("a",), np.array([-1]), np.zeros((1, 3)))
    n_frames, n_points = points.seen.shape
    carrier = Motion(
        dots,
        points.positions.reshape(-1, 3),
        np.tile(quat.IDENTITY, (n_frames * n_points, 1, 1)),
        1.0,
    )
    turned = to_world(carrier, up=axis, unit_m=unit_m).root_positions
    n_hidden = int(np.count_nonzero(~points.seen))
    if n_hidden:
        share = 100.0 * n_hidden / points.seen.size
        findings.append(Finding("note", "markers", f"{share:.2g} % of the points were not seen."))
    return MarkerClip(
        points.names,
        turned.reshape(n_frames, n_points, 3),
        points.seen,
        points.fps,
        axis,
        unit_m,
        printable(str(target)),
        (*findings, finding),
    )


def _up_of(
    places: FloatArray, seen: BoolArray, in_file: str | None, stated: str | None
) -> tuple[str, Finding]:
    if stated is not None:
        return stated, Finding("note", "up axis", f"{stated}, as the caller says.")
    if in_file is not None:
        heights = places[..., _AXES.index(in_file[-1])][seen]
        below = heights > 0.0 if in_file[0] == "-" else heights < 0.0
        if len(heights) and below.mean() > BELOW_FLOOR:
            other = in_file.removeprefix("-") if in_file[0] == "-" else f"-{in_file}"
            text = f"{other}: {in_file}, as POINT:Y_SCREEN says, would put the markers below 0."
            return other, Finding("warning", "up axis", text, "Pass up= if it is another.")
        return in_file, Finding("note", "up axis", f"{in_file}, as POINT:Y_SCREEN says.")
    whole = np.flatnonzero(seen.sum(axis=1) >= 2)
    if not len(whole):
        return "z", Finding("warning", "up axis", "z, usual for C3D: too few points to detect it.")
    hidden = ~seen[whole][..., None]
    low = np.where(hidden, np.inf, places[whole]).min(axis=1)
    high = np.where(hidden, -np.inf, places[whole]).max(axis=1)
    score = np.median(high - low, axis=0) - 2.0 * low.std(axis=0)
    axis = _AXES[int(score.argmax())]
    text = f"{axis}, by the spread of the markers, which is a guess; the file states none."
    return axis, Finding("note", "up axis", text, "Pass up= if it is another.")
