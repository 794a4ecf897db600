"""RegistrationCurve: which frames of several motions belong together, and how they stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motionloom._arrays import FloatArray, finite_numbers, frozen, of_kind, whole
from motionloom._records import one_line, record
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.motion.contacts import Footplants, contacts_for
from motionloom.motion.motion import Motion
from motionloom.registration.constraints import ConstraintMatch
from motionloom.registration.gait_cycles import UncutClips
from motionloom.registration.splines import Spline
from motionloom.registration.storage import read_curve, write_curve
from motionloom.rotation.planar import PlanarTransform


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
@record
class RegistrationCurve:
    """K motions in correspondence: times, alignment, and matched plants.

    The parameter ``u`` counts average frames: over one unit of it the motions advance by one frame
    on average.

    Attributes
    ----------
    motions : tuple of Motion
        Same skeleton, same rate.
    footplants : tuple of Footplants
        Contacts of every motion.
    times : Spline
        Frame of every motion over the curve. (n, K)
    alignment : tuple
        For each motion its turn and the offset of its root from the reference's, (n, 3); None for
        the reference, which stays where it is.
    matches : Mapping
        Plants that belong together, per kind (left heel, ...), in ``u``.
    reference : int
        Index of the motion to which the others are aligned.
    frames_per_knot : float
        Average frames between control points.
    costs : tuple of float
        Root mean square distance of each motion's frames from the reference's, metres.
    notes : tuple of str
        What was decided.
    body : BodyMap or None
        Roles of the joints; None where they are to be guessed.
    uncut : UncutClips or None
        The clips that the motions were cut from by ``cycles``, with which blends are compared;
        None where the motions are not cut.
    """

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    times: Spline
    alignment: tuple[Spline | None, ...]
    matches: Mapping[str, tuple[ConstraintMatch, ...]]
    reference: int
    frames_per_knot: float
    costs: tuple[float, ...]
    notes: tuple[str, ...] = ()
    body: BodyMap | None = None
    uncut: UncutClips | None = None

    @property
    def u_range(self) -> tuple[float, float]:
        """First and last parameter."""
        return 0.0, self.times.u_end * self.frames_per_knot

    def frames(self, u: FloatArray | float) -> FloatArray:
        """Frame number of every motion at ``u`` (...), fractional. (..., K).

        Returns
        -------
        (..., K) array
            One number for each motion.
        """
        u = finite_numbers(u, "u")
        last = np.array([m.n_frames - 1.0 for m in self.motions])
        return np.clip(self.times(np.asarray(u) / self.frames_per_knot), 0.0, last)

    def rates(self, u: FloatArray | float) -> FloatArray:
        """Frames that every motion goes per unit of ``u``. (..., K).

        Returns
        -------
        (..., K) array
            One number for each motion.
        """
        return (
            self.times.slope(finite_numbers(u, "u") / self.frames_per_knot) / self.frames_per_knot
        )

    def alignments(self, u: FloatArray | float) -> PlanarTransform:
        """Transforms that align every motion with the reference at ``u``. Fields (..., K).

        Returns
        -------
        PlanarTransform
            One transform for each motion.
        """
        u = finite_numbers(u, "u")
        at = u / self.frames_per_knot
        frames = self.frames(u)
        roots = roots_at(self.motions[self.reference], frames[..., self.reference])
        each = [
            PlanarTransform.identity()
            if spline is None
            else transform_at(spline(at), roots_at(motion, frames[..., k]), roots)
            for k, (spline, motion) in enumerate(zip(self.alignment, self.motions, strict=True))
        ]
        return PlanarTransform(
            np.stack([np.broadcast_to(t.theta, u.shape) for t in each], axis=-1),
            np.stack([np.broadcast_to(t.x0, u.shape) for t in each], axis=-1),
            np.stack([np.broadcast_to(t.z0, u.shape) for t in each], axis=-1),
        )

    def u_of(self, k: int, frame: FloatArray | float) -> FloatArray:
        """Parameter at which motion ``k`` is at ``frame``; nan outside the curve.

        Returns
        -------
        array
            Shaped like ``frame``.
        """
        k = whole(k, "k", least=0, most=len(self.motions) - 1)
        low, high = self.times(np.array([0.0, self.times.u_end]))[:, k]
        frame = finite_numbers(frame, "frame")
        u = self.times.inverse(k, frame) * self.frames_per_knot
        inside = (frame >= low - 1e-9) & (frame <= high + 1e-9)
        return np.where(inside, np.clip(u, *self.u_range), np.nan)

    def save(self, path: str | Path) -> None:
        """Write the curve, with its motions, into one versioned file.

        Examples
        --------
        >>> import tempfile
        >>> import motionloom as ml
        >>> curve = ml.register([ml.synthetic.clip(kind).motion for kind in ("walk", "jog")])
        >>> with tempfile.TemporaryDirectory() as place:
        ...     curve.save(f"{place}/gaits.mlreg")
        ...     len(RegistrationCurve.load(f"{place}/gaits.mlreg").motions)
        2
        """
        names = (each.name for each in dataclasses.fields(self))
        write_curve(path, {name: getattr(self, name) for name in names})

    @staticmethod
    def load(path: str | Path, *, max_memory: int | str | None = None) -> RegistrationCurve:
        """The curve that :meth:`save` wrote.

        Parameters
        ----------
        path
            The file.
        max_memory
            Memory that reading may take, as in :func:`motionloom.load`.

        Returns
        -------
        RegistrationCurve
            The same curve, with its motions.

        Raises
        ------
        FormatError
            The file cannot be read, is no registration curve, or takes more memory.
        """
        return RegistrationCurve(**read_curve(path, max_memory=max_memory))

    def shifted(
        self,
        first_frames: tuple[int, ...],
        motions: tuple[Motion, ...],
        footplants: tuple[Footplants, ...],
    ) -> RegistrationCurve:
        """The same curve for the whole clips of which its motions are parts.

        Parameters
        ----------
        first_frames
            Frame of each whole clip at which its part begins.
        motions, footplants
            The whole clips.

        Returns
        -------
        RegistrationCurve
            A new curve; this one stays as it is.
        """
        for name, value in (("motions", motions), ("footplants", footplants)):
            if not isinstance(value, tuple | list) or len(value) != len(self.motions):
                raise ArrayError(
                    f"`{name}` must have one entry per motion of the curve ({len(self.motions)}), "
                    f"got {value!r}."
                )
        shift = frozen(first_frames, "first_frames", (len(self.motions),), np.int64)
        for k, (motion, plants) in enumerate(zip(motions, footplants, strict=True)):
            of_kind(motion, Motion, f"motions[{k}]")
            contacts_for(plants, motion.n_frames, f"footplants[{k}]")
            if not 0 <= shift[k] <= motion.n_frames - self.motions[k].n_frames:
                raise ArrayError(
                    f"`first_frames[{k}]` must be where motion {k} of the curve "
                    f"({self.motions[k].n_frames} frames) begins in the whole clip "
                    f"({motion.n_frames} frames), got {shift[k]}."
                )
        points = self.times.points + shift
        return dataclasses.replace(
            self,
            motions=tuple(motions),
            footplants=tuple(footplants),
            times=Spline(points),
            uncut=None,
        )

    def __repr__(self) -> str:
        names = ", ".join(m.name or f"motion {k}" for k, m in enumerate(self.motions))
        count = f"{len(self.motions)} motions"
        listed = names if len(names) <= 80 else count
        return one_line(f"RegistrationCurve({listed}; {self.u_range[1]:.0f} average frames)")


def transform_at(
    values: FloatArray, roots: FloatArray, reference_roots: FloatArray
) -> PlanarTransform:
    """The transform that turns by ``values[..., 0]`` and puts the root next to the reference's.

    Parameters
    ----------
    values : (..., 3)
        From the alignment spline: turn, and offset (x, z) from the reference's root.
    roots, reference_roots : (..., 3)
        Where both roots are in their own coordinates there, metres.
    """
    theta = values[..., 0]
    turned = PlanarTransform(theta, 0.0, 0.0).apply(roots)
    place = reference_roots - turned
    return PlanarTransform(theta, place[..., 0] + values[..., 1], place[..., 2] + values[..., 2])


def roots_at(motion: Motion, frames: FloatArray) -> FloatArray:
    """Root positions at fractional frames. (..., 3)."""
    low = np.minimum(np.floor(frames).astype(np.int64), motion.n_frames - 1)
    high = np.minimum(low + 1, motion.n_frames - 1)
    t = (frames - low)[..., None]
    below, above = motion.root_positions[low], motion.root_positions[high]
    return np.asarray(below + t * (above - below))
