"""parametrize(): ask for a turn, a speed or a height instead of weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from motionloom._arrays import FloatArray, finite, flag, numbers, of_kind, one_of
from motionloom._records import record
from motionloom.blending import measures
from motionloom.blending.blend import Blend, blend
from motionloom.blending.mixtures import closest_mixture, exact_mixture
from motionloom.errors import ArrayError
from motionloom.registration.curve import RegistrationCurve

FARTHEST = 1e6
"""Ranges of the examples; the nearest reachable point of what is farther is that of this far."""
LARGEST = 1e100
"""Largest value of a parameter, of either sign."""


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
            raise ArrayError(f"Parameters must lie within {LARGEST:g}, got {point.tolist()}.")
        return point

    def _mix(self, point: FloatArray) -> tuple[FloatArray, float]:
        """Weights of the nearest reachable point, and how far it is in units of the ranges.

        Of all mixtures of samples that give the point, the one of nearest samples: neighbours in
        the parameters are neighbours in motion, and the weights stay few.
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
    """The target, or where the way to it from the centre leaves what can be computed with."""
    away = target - centre
    distance = float(np.abs(away).max())
    return target if distance <= FARTHEST else centre + away * (FARTHEST / distance)


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
    """What finds these properties of a blend."""

    def of_blend(one: Blend) -> Mapping[str, float]:
        return {name: measures.measure(one.motion, name, body=one.curve.body) for name in names}

    return of_blend


def _bounded(values: FloatArray) -> bool:
    """Whether values are finite and their squares too."""
    return bool(np.isfinite(values).all() and np.abs(values).max(initial=0.0) <= LARGEST)


def _measured(value: object, names: tuple[str, ...]) -> FloatArray:
    """What ``measure`` found of a blend, one number per parameter."""
    if not isinstance(value, Mapping) or any(name not in value for name in names):
        raise ArrayError(
            f"`measure` must return a value for every parameter ({', '.join(names)}), got "
            f"{value!r}."
        )
    return np.array([finite(value[name], f"measure(blend)[{name!r}]") for name in names])
