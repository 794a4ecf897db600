"""parametrize() and measure(): ask for a turn, a speed or a height instead of weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from motionloom._arrays import FloatArray, IntArray, finite, flag, numbers, of_kind, one_of
from motionloom._records import record
from motionloom.blending.blend import Blend, blend
from motionloom.body.body_map import BodyMap, facing, roles_for
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion, velocities
from motionloom.registration.curve import RegistrationCurve
from motionloom.rotation.quat import PlanarTransform

MAX_DISTANCE = 1e6
"""Points farther from the examples than this, in units of their ranges, are first moved closer."""
LARGEST_VALUE = 1e100
"""Largest value of a parameter, positive or negative."""
LIMBS = ("left_wrist", "right_wrist", "left_ankle", "right_ankle")
"""Joints whose reach and speed can be measured, by role."""
PER_LIMB = ("height", "forward", "side", "direction", "speed")
MEASURES = ("speed", "turn", *(f"{limb}.{what}" for limb in LIMBS for what in PER_LIMB))
START_S = 0.1
"""The body's heading and place at the start are means over these first seconds."""
NEGLIGIBLE = 1e-9
"""Parts of a mixture, and errors, that count as zero."""
MAX_EXCHANGES = 50
"""Exchanges of the simplex method per column of its table; a fit usually takes one or two."""
SUM_WEIGHT = 1e4
"""Weight of the condition that a mixture sums to 1, against its error in a parameter."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class ParameterSpace:
    """Named parameters of a family of motions, and the region of them that can be reached.

    Attributes
    ----------
    curve : RegistrationCurve
        The examples, registered.
    names : tuple of str
        Names of the parameters.
    values : array
        Parameters of every sample, in the order of the names. (S, P)
    sample_weights : array
        Weights of the examples at every sample. (S, K)

    Examples
    --------
    >>> import motionloom as ml
    >>> speeds = (1.0, 1.4)
    >>> walks = [ml.synthetic.clip("walk", speed=speed).motion for speed in speeds]
    >>> space = ml.parametrize(ml.register(walks), {"speed": speeds})
    >>> space.range("speed"), space.contains(speed=2.0)
    ((1.0, 1.4), False)
    >>> space.weights(speed=1.2).round(3).tolist()
    [0.5, 0.5]
    """

    curve: RegistrationCurve
    names: tuple[str, ...]
    values: FloatArray
    sample_weights: FloatArray

    def range(self, name: str) -> tuple[float, float]:
        """Smallest and largest value of a parameter that some blend has.

        Returns
        -------
        smallest, largest : float
            In the unit of the parameter.
        """
        column = self.values[:, self.names.index(one_of(name, self.names, "name"))]
        return float(column.min()), float(column.max())

    def contains(self, **wanted: float) -> bool:
        """Whether these values, all of them together, can be reached.

        Returns
        -------
        bool
            True if some blend has them.
        """
        return self._mix(self._point(wanted))[1] <= 1e-6

    def weights(self, *, clamp: bool = False, **wanted: float) -> FloatArray:
        """Weights (K,) of the examples whose blend has these values.

        Parameters
        ----------
        clamp
            If the values cannot be reached, use the nearest point of the region instead of raising
            an error.
        wanted
            One value per parameter: ``space.weights(turn=0.5, speed=1.2)``.

        Returns
        -------
        (K,) array
            One weight for each example; they sum to 1.
        """
        clamp = flag(clamp, "clamp")
        point = self._point(wanted)
        mixed, miss = self._mix(point)
        if miss > 1e-6 and not clamp:
            ranges = ", ".join("{} {:.4g} to {:.4g}".format(n, *self.range(n)) for n in self.names)
            shown = ", ".join(f"{n}={v:g}" for n, v in zip(self.names, point, strict=True))
            raise ArrayError(
                f"{shown} cannot be reached by these examples ({ranges}, not all combinations). "
                "Choose values inside, or pass clamp=True for the nearest."
            )
        return mixed

    def _point(self, wanted: Mapping[str, float]) -> FloatArray:
        if set(wanted) != set(self.names):
            raise ArrayError(
                f"Every parameter must be given once: {', '.join(self.names)}; "
                f"got {', '.join(wanted) or 'none'}."
            )
        point = np.array([finite(wanted[name], name) for name in self.names])
        if not _bounded(point):
            raise ArrayError(f"Parameters must lie within {LARGEST_VALUE:g}, got {point.tolist()}.")
        return point

    def _mix(self, point: FloatArray) -> tuple[FloatArray, float]:
        """Weights of the nearest reachable point, and its distance in units of the ranges.

        Many mixtures of samples can give the same point. The one of nearby samples is taken:
        motions with similar parameters are similar, and few of them blend better than many.
        """
        scale = np.maximum(np.ptp(self.values, axis=0), 1e-9)
        samples = self.values / scale
        target = _not_too_far(point / scale, samples.mean(axis=0))
        mixture, miss = exact_mixture(samples, target), 0.0
        if mixture is None:
            mixture = closest_mixture(samples, target)
            miss = float(np.linalg.norm(samples.T @ mixture - target))
        w = mixture @ self.sample_weights
        return w / w.sum(), miss


def _not_too_far(target: FloatArray, centre: FloatArray) -> FloatArray:
    """The target, moved towards the centre if it is too far away to compute with."""
    away = target - centre
    distance = float(np.abs(away).max())
    return target if distance <= MAX_DISTANCE else centre + away * (MAX_DISTANCE / distance)


def parametrize(
    curve: RegistrationCurve,
    values: Mapping[str, Sequence[float]] | Sequence[str],
    *,
    measure: Callable[[Blend], Mapping[str, float]] | None = None,
) -> ParameterSpace:
    """A family of motions by named parameters.

    Parameters
    ----------
    curve
        K examples.
    values
        For each parameter one value per example. Or a list of names of :func:`motionloom.measure`:
        these are then measured of every example, and of blends as with ``measure``.
    measure
        Function that measures the parameters of a blend; parameters do not mix linearly (a blend of
        a left and a right turn walks straight, but not at the mean speed). With it blends between
        every two examples and of all of them are made and measured, and asked-for values are met
        between those.

    Returns
    -------
    ParameterSpace
        Its ``weights(**parameters)`` returns weights for :func:`motionloom.blend`.

    Examples
    --------
    >>> from motionloom import register, synthetic
    >>> turns = (-0.8, 0.0, 0.8)
    >>> curve = register([synthetic.clip("walk", turn=t).motion for t in turns])
    >>> space = parametrize(curve, {"turn": turns})
    >>> space.weights(turn=0.4).round(3).tolist(), space.range("turn")
    ([0.0, 0.5, 0.5], (-0.8, 0.8))
    """
    n = len(of_kind(curve, RegistrationCurve, "curve").motions)
    if measure is None and isinstance(values, list | tuple) and values:
        measure = _measure_of(tuple(values))
        each = [measure(blend(curve, row)) for row in np.eye(n)]
        values = {name: [numbers_of[name] for numbers_of in each] for name in values}
    if not isinstance(values, Mapping) or not values:
        raise ArrayError(
            "`values` must name at least one parameter, such as {'turn': [-0.8, 0.8]} or, to "
            "measure it, ['turn'], got "
            f"{type(values).__name__}."
        )
    if measure is not None and not callable(measure):
        raise ArrayError(f"`measure` must be a function of a blend, got {measure!r}.")
    for name, column in values.items():
        if not isinstance(name, str):
            raise ArrayError(f"`values` must be keyed by the parameters' names, got {name!r}.")
        sized = isinstance(column, Sequence | np.ndarray) and not isinstance(column, str)
        if not sized or len(column) != n or not _bounded(numbers(column, name)):
            raise ArrayError(
                f"Parameter {name!r} must have one finite value per example ({n}), got {column!r}."
            )
    names = tuple(values)
    weights = [np.eye(n)[k] for k in range(n)]
    points = [np.array([float(values[name][k]) for name in names]) for k in range(n)]
    if measure is not None:
        mixtures = [(np.eye(n)[a] + np.eye(n)[b]) / 2 for a, b in combinations(range(n), 2)]
        if n > 2:
            mixtures.append(np.full(n, 1.0 / n))
        for w in mixtures:
            measured = measure(blend(curve, w))
            weights.append(w)
            points.append(_measured(measured, names))
    return ParameterSpace(curve, names, np.array(points), np.array(weights))


def _measure_of(names: tuple[str, ...]) -> Callable[[Blend], Mapping[str, float]]:
    """A function that measures these properties of a blend."""

    def measure_blend(blended: Blend) -> Mapping[str, float]:
        return {name: measure(blended.motion, name, body=blended.curve.body) for name in names}

    return measure_blend


def _bounded(values: FloatArray) -> bool:
    """Whether values are finite and small enough to be squared."""
    return bool(np.isfinite(values).all() and np.abs(values).max(initial=0.0) <= LARGEST_VALUE)


def _measured(value: object, names: tuple[str, ...]) -> FloatArray:
    """The result of a caller's ``measure``, checked: one number per parameter. (P,)."""
    if not isinstance(value, Mapping) or any(name not in value for name in names):
        raise ArrayError(
            f"`measure` must return a value for every parameter ({', '.join(names)}), got "
            f"{value!r}."
        )
    return np.array([finite(value[name], f"measure(blend)[{name!r}]") for name in names])


# --- Measuring a motion


def measure(motion: Motion, name: str, *, body: BodyMap | None = None) -> float:
    """A property of a whole motion as a number.

    Parameters
    ----------
    motion
        The motion.
    name
        ``"speed"``, metres per second of the pelvis along the ground; ``"turn"``, radians from the
        first to the last frame, positive to the left. Or where a hand or foot reaches, at the
        moment when it is farthest from the pelvis over the ground: ``"right_wrist.height"`` over
        the ground, ``"right_wrist.forward"`` and ``"right_wrist.side"`` from where the pelvis was
        at the start, in metres, the side positive to the left, and ``"right_wrist.direction"``, the
        angle of the two in radians, 0 straight on and positive to the left. Or how forceful a punch
        or kick is: ``"right_wrist.speed"``, the largest speed of the joint against the pelvis,
        metres per second. The same for ``left_wrist``, ``left_ankle`` and ``right_ankle``.
    body
        Roles of the joints; guessed where not given.

    Returns
    -------
    float
        In metres, seconds and radians.

    Raises
    ------
    ArrayError
        There is no such property, or the motion is too short for it.
    SkeletonMismatchError
        The skeleton lacks a joint that is needed.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk", speed=1.4).motion
    >>> round(measure(walk, "speed"), 1)
    1.4
    """
    of_kind(motion, Motion, "motion")
    if not isinstance(name, str) or name not in MEASURES:
        raise ArrayError(
            f"`name` must be speed, turn, or one of {', '.join(LIMBS)} with one of "
            f"{', '.join(PER_LIMB)}, such as 'right_wrist.height', got {name!r}."
        )
    if motion.n_frames < 2:
        raise ArrayError(f"`motion` must have two frames or more, got {motion.n_frames}.")
    body = roles_for(motion.skeleton, body)
    if name == "speed":
        pelvis = motion.world_positions()[:, body.pelvis or 0]
        steps = np.diff(pelvis[:, ::2], axis=0)
        distance = float(np.linalg.norm(steps, axis=1).sum())
        return distance * motion.fps / (motion.n_frames - 1)
    if name == "turn":
        headings = facing(motion, body=body)
        return float(headings[-1] - headings[0])
    limb, what = name.split(".")
    if what == "speed":
        return _top_speed(motion, limb, body)
    side, height, forward = _reach(motion, limb, body)
    values = {
        "height": height, "forward": forward, "side": side,
        "direction": float(np.arctan2(side, forward)),
    }  # fmt: skip
    return values[what]


def _reach(motion: Motion, limb: str, body: BodyMap) -> tuple[float, float, float]:
    """Left, up and ahead of a joint, metres, at its farthest from the pelvis over the ground."""
    (joint,) = body.require(limb, task=f"measuring {limb}")
    positions = motion.world_positions()
    pelvis = positions[:, body.pelvis or 0]
    n = max(1, round(START_S * motion.fps))
    heading = float(np.mean(facing(motion, body=body)[:n]))
    back = PlanarTransform(-heading, 0.0, 0.0)
    from_body: FloatArray = back.apply(positions[:, joint] - pelvis)  # (F, 3)
    farthest = int(np.argmax(np.hypot(from_body[:, 0], from_body[:, 2])))
    reached = back.apply(positions[farthest, joint] - pelvis[:n].mean(axis=0))
    return float(reached[0]), float(positions[farthest, joint, 1]), float(reached[2])


def _top_speed(motion: Motion, limb: str, body: BodyMap) -> float:
    """Largest speed of a joint against the pelvis, metres per second."""
    (joint,) = body.require(limb, task=f"measuring {limb}")
    positions = motion.world_positions()
    rates = velocities(positions[:, joint] - positions[:, body.pelvis or 0], motion.fps)
    return float(np.linalg.norm(rates, axis=-1).max())


# --- Mixtures of samples


def exact_mixture(samples: FloatArray, target: FloatArray) -> FloatArray | None:
    """Parts (S,) of the samples whose weighted mean is the target, of samples near to it.

    By linear programming: of all mixtures that give the target, the one with the smallest sum of
    squared distances to its samples. The parts are not negative, sum to 1, and few are above 0.
    None where no mixture gives the target.

    Parameters
    ----------
    samples : (S, P)
        Points, in units of about 1.
    target : (P,)
        The point to be met.

    Examples
    --------
    >>> exact_mixture(np.array([[0.0], [1.0], [3.0]]), np.array([2.0])).tolist()
    [0.0, 0.5, 0.5]
    """
    away = samples - target
    n = len(away)
    rows = np.vstack([away.T, np.ones(n)])
    wanted = np.append(np.zeros(len(target)), 1.0)
    # Simplex method in two phases. The first starts with artificial variables only, which stand for
    # the error of the mixture, and minimizes them.
    table = np.hstack([rows, np.eye(len(rows)), wanted[:, None]])
    basis = np.arange(n, n + len(rows))
    errors = np.append(np.zeros(n), np.ones(len(rows)))
    if not _descend(table, basis, errors) or errors[basis] @ table[:, -1] > NEGLIGIBLE:
        return None
    for row in np.flatnonzero(basis >= n):
        others = np.flatnonzero(np.abs(table[row, :n]) > NEGLIGIBLE)
        if len(others):
            _exchange(table, basis, int(row), int(others[0]))
    needed = basis < n  # the other rows are redundant
    table, basis = np.hstack([table[needed, :n], table[needed, -1:]]), basis[needed]
    if not _descend(table, basis, np.sum(away**2, axis=1)):
        return None
    mixture = np.zeros(n)
    mixture[basis] = np.maximum(table[:, -1], 0.0)
    return np.asarray(mixture / mixture.sum())


def _descend(table: FloatArray, basis: IntArray, costs: FloatArray) -> bool:
    """Exchange columns of the basis while that lowers the cost; whether an optimum was reached.

    Bland's rule (1977), to take the first column that helps, keeps it from cycling.
    """
    for _ in range(MAX_EXCHANGES * table.shape[1]):
        cheaper = np.flatnonzero(costs - costs[basis] @ table[:, :-1] < -NEGLIGIBLE)
        if not len(cheaper):
            return True
        enters = int(cheaper[0])
        bounds = np.flatnonzero(table[:, enters] > NEGLIGIBLE)
        if not len(bounds):
            return False
        ratios = table[bounds, -1] / table[bounds, enters]
        first = bounds[ratios <= ratios.min() + NEGLIGIBLE]
        _exchange(table, basis, int(first[np.argmin(basis[first])]), enters)
    return False


def _exchange(table: FloatArray, basis: IntArray, row: int, enters: int) -> None:
    """Make a column part of the basis, in place of the one of this row."""
    table[row] /= table[row, enters]
    others = np.arange(len(table)) != row
    table[others] -= table[others, enters, None] * table[row]
    basis[row] = enters


def closest_mixture(samples: FloatArray, target: FloatArray) -> FloatArray:
    """Parts (S,), not negative and of sum 1, whose weighted mean is nearest to the target.

    By non-negative least squares, after Lawson and Hanson (1974).

    Parameters
    ----------
    samples : (S, P)
        Points, in units of about 1.
    target : (P,)
        The point to come near to.
    """
    rows = np.vstack([(samples - target).T, np.full(len(samples), SUM_WEIGHT)])
    wanted = np.append(np.zeros(len(target)), SUM_WEIGHT)
    least = 10.0 * max(rows.shape) * np.finfo(np.float64).eps * np.abs(rows).sum(axis=0).max()
    mixture, used = np.zeros(len(samples)), np.zeros(len(samples), dtype=bool)
    for _ in range(3 * len(samples)):
        slope = np.where(used, -np.inf, rows.T @ (wanted - rows @ mixture))
        if slope.max() <= least:
            break
        enters = int(np.argmax(slope))
        used[enters] = True
        while True:
            tried = np.zeros(len(samples))
            tried[used] = np.linalg.lstsq(rows[:, used], wanted, rcond=None)[0]
            below = used & (tried <= 0.0)
            if not below.any():
                break
            if below[enters]:
                return np.asarray(mixture / mixture.sum())  # it helps by no more than rounding
            share = np.min(mixture[below] / (mixture[below] - tried[below]))
            mixture = mixture + share * (tried - mixture)
            used &= mixture > NEGLIGIBLE
        mixture = tried
    return np.asarray(mixture / mixture.sum())
