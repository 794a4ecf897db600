"""The checks for numba code, which cannot call the core: for transitions.tables.table_check alone.

Line by line the kernels of core/src/check_series.c and core/src/check_judge.c. To be deleted with
the last numba kernel that calls them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.features.checks.judge import (
    BEND_FREE,
    BEND_MORE,
    SINK,
    SPEED_MORE,
    TURN_FREE,
    TURN_MORE,
)
from motionloom.features.checks.limits import BRAKE, HOVER, TRAVEL, Limits
from motionloom.features.checks.notes import (
    BACKWARDS,
    BEND,
    BRAKING,
    CONTACT,
    DRAGGED,
    FAST,
    FLIP,
    FOLDED,
    HOVERING,
    PELVIS,
    PLAN,
    ROOT_BONE,
    SOLE,
    SPEED,
    TURN,
)
from motionloom.features.checks.rig import CheckRig
from motionloom.features.checks.series import Series
from motionloom.features.checks.soles import DRAG_SPEED, N_SPANS, SHORTEST_CONTACT

__all__ = ["judge", "measure"]

FLIP_TIMES, FLIP_FREE, FLIP_S = 3.0, np.radians(200.0), 0.1
FLIP_MORE, FLIP_ALONE, FLIP_STEP = 1.2, 0.5, np.radians(4.0)
PELVIS_MORE, PELVIS_FREE = 1.5, np.radians(150.0)
PLAN_OFF = np.radians(30.0)
BRAKE_MORE, BRAKE_FREE, BRAKE_S = 1.3, 9.0, 0.15
TRAVEL_MORE, TRAVEL_FREE = 1.3, 0.5
BACK_MORE, BACK_FREE = np.radians(3.0), np.radians(-5.0)
FOLD_MORE, FOLD_FREE = np.radians(10.0), np.radians(160.0)
SLIDE_FREE = 0.04
DRAG_MORE, DRAG_FREE, DRAG_HEIGHT_M = 1.2, 0.10, 0.015
HOVER_MORE, HOVER_FREE, HOVER_M = 1.2, 0.12, 0.06
FALL, FALL_S = -4.0, 0.05
SPAN_S = 1.0 / 15.0
PAST_HALF = np.radians(-120.0)


@njit(cache=True, error_model="numpy")
def note(
    found: FloatArray, n: int, check: int, joint: int, frame: int, value: float, limit: float
) -> int:
    """Keep a failure, and the worse of two of the same check and joint; how many there are."""
    over = abs(value - limit)
    for k in range(n):
        if found[k, 0] == check and found[k, 1] == joint:
            if over > abs(found[k, 3] - found[k, 4]):
                found[k, 2], found[k, 3], found[k, 4] = frame, value, limit
            return n
    if n == len(found):
        return n
    found[n, 0], found[n, 1], found[n, 2], found[n, 3], found[n, 4] = (
        check, joint, frame, value, limit,
    )  # fmt: skip
    return n + 1


@njit(cache=True, error_model="numpy", inline="always")
def _apart(quats: FloatArray, t: int, j: int) -> float:
    """Angle between a rotation and that of the frame before, radians, for small ones."""
    same, other = 0.0, 0.0
    for c in range(4):
        now, before = quats[t, j, c], quats[t - 1, j, c]
        same += (now - before) * (now - before)
        other += (now + before) * (now + before)
    return float(2.0 * np.sqrt(min(same, other)))


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def measure(
    rig: CheckRig,
    fps: float,
    positions: FloatArray,
    world: FloatArray,
    quats: FloatArray,
    out: Series,
) -> None:
    """Fill ``out`` from world positions (F, J, 3), world and local rotations (F, J, 4)."""
    n_frames, square_rate = len(positions), fps * fps
    pelvis = rig.judged[0]
    for t in range(n_frames):
        low = positions[t, pelvis, 1]
        for c in range(3):
            out.pelvis[t, c] = positions[t, pelvis, c]
        for n in range(len(rig.judged)):
            j = rig.judged[n]
            low = min(low, positions[t, j, 1])
            if t == 0:
                continue
            out.turn[t, n] = fps * (_apart(world, t, j) if n == 0 else _apart(quats, t, j))
            x = positions[t, j, 0] - positions[t - 1, j, 0]
            y = positions[t, j, 1] - positions[t - 1, j, 1]
            z = positions[t, j, 2] - positions[t - 1, j, 2]
            if t < n_frames - 1:
                bx = positions[t + 1, j, 0] - positions[t, j, 0] - x
                by = positions[t + 1, j, 1] - positions[t, j, 1] - y
                bz = positions[t + 1, j, 2] - positions[t, j, 2] - z
                out.bend[t, n] = square_rate * np.sqrt(bx * bx + by * by + bz * bz)
            if n > 0:
                p = rig.parents[j]
                x -= positions[t, p, 0] - positions[t - 1, p, 0]
                y -= positions[t, p, 1] - positions[t - 1, p, 1]
                z -= positions[t, p, 2] - positions[t - 1, p, 2]
            out.speed[t, n] = fps * np.sqrt(x * x + y * y + z * z)
        out.lowest[t] = low
        if t > 0:
            for n in range(len(rig.carriers)):
                out.carried[t, n] = fps * _apart(world, t, rig.carriers[n])
            if rig.head >= 0:
                out.head[t] = fps * _apart(world, t, rig.head)
    for side in range(len(rig.legs)):
        _legs(rig, side, positions, world, out)
    _headings(rig.across, positions, out.heading)


@njit(cache=True, error_model="numpy", inline="always")
def _turned(
    w: float, x: float, y: float, z: float, a: float, b: float, c: float
) -> tuple[float, float, float]:
    """A vector turned by a quaternion."""
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    )


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _legs(rig: CheckRig, side: int, positions: FloatArray, world: FloatArray, out: Series) -> None:
    """Flexion of one knee, as ``motion.knees`` defines it, and heel and ball of its foot."""
    hip, knee, ankle = rig.legs[side, 0], rig.legs[side, 1], rig.legs[side, 2]
    a, b, c = rig.hinges[side, 0], rig.hinges[side, 1], rig.hinges[side, 2]
    for t in range(len(positions)):
        x, y, z = _turned(
            world[t, hip, 0], world[t, hip, 1], world[t, hip, 2], world[t, hip, 3], a, b, c
        )
        ux = positions[t, knee, 0] - positions[t, hip, 0]
        uy = positions[t, knee, 1] - positions[t, hip, 1]
        uz = positions[t, knee, 2] - positions[t, hip, 2]
        vx = positions[t, ankle, 0] - positions[t, knee, 0]
        vy = positions[t, ankle, 1] - positions[t, knee, 1]
        vz = positions[t, ankle, 2] - positions[t, knee, 2]
        along_u, along_v = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
        # Both bones without what they have along the hinge: their product in its plane.
        dot = ux * vx + uy * vy + uz * vz - along_u * along_v
        cross = x * (uy * vz - uz * vy) + y * (uz * vx - ux * vz) + z * (ux * vy - uy * vx)
        angle = np.arctan2(cross, dot)
        out.flexion[t, side] = angle + 2.0 * np.pi if angle < PAST_HALF else angle
        for point in range(2):
            x, y, z = _turned(
                world[t, ankle, 0], world[t, ankle, 1], world[t, ankle, 2], world[t, ankle, 3],
                rig.soles[side, point, 0], rig.soles[side, point, 1], rig.soles[side, point, 2],
            )  # fmt: skip
            k = 2 * side + point
            out.soles[t, k, 0] = positions[t, ankle, 0] + x
            out.soles[t, k, 1] = positions[t, ankle, 1] + y
            out.soles[t, k, 2] = positions[t, ankle, 2] + z
            out.lowest[t] = min(out.lowest[t], out.soles[t, k, 1])


@njit(cache=True, error_model="numpy")
def _headings(across: IntArray, positions: FloatArray, out: FloatArray) -> None:
    """Heading from the lines between left and right joints; kept while the body lies on a side."""
    before = 0.0
    for t in range(len(positions)):
        x, z = 0.0, 0.0
        for k in range(len(across)):
            left, right = positions[t, across[k, 0]], positions[t, across[k, 1]]
            dx, dy, dz = left[0] - right[0], left[1] - right[1], left[2] - right[2]
            size = np.sqrt(dx * dx + dy * dy + dz * dz)
            if size > 0.0:
                x += dx / size
                z += dz / size
        if np.sqrt(x * x + z * z) < 0.2 * max(len(across), 1):
            out[t] = before
            continue
        heading = np.arctan2(-z, x)
        if t > 0:
            turn = heading - before
            heading = before + turn - 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
        out[t] = heading
        before = heading


@njit(cache=True, error_model="numpy", inline="always")
def slide_span(n_frames: int, fps: float) -> int:
    """Which of the ``N_SPANS`` limits a contact of so many frames has."""
    width = max(2, round(SPAN_S * fps))
    for span in range(N_SPANS - 1):
        if n_frames <= width:
            return span
        width *= 2
    return N_SPANS - 1


@njit(cache=True, error_model="numpy", inline="always")
def is_dragged(soles: FloatArray, floor: FloatArray, t: int, k: int, fps: float) -> bool:
    """Whether a point moves along the floor in the step into a frame."""
    high = floor[k] + DRAG_HEIGHT_M
    if soles[t, k, 1] >= high or soles[t - 1, k, 1] >= high:
        return False
    x, z = soles[t, k, 0] - soles[t - 1, k, 0], soles[t, k, 2] - soles[t - 1, k, 2]
    return bool((x * x + z * z) * fps * fps > DRAG_SPEED * DRAG_SPEED)


@njit(cache=True, error_model="numpy", inline="always")
def is_off(soles: FloatArray, lowest: FloatArray, t: int, floor: FloatArray) -> bool:
    """Whether everything is off the floor in a frame."""
    for k in range(4):
        if soles[t, k, 1] <= floor[k] + HOVER_M:
            return False
    return bool(lowest[t] > min(floor[0], floor[1], floor[2], floor[3]) + HOVER_M)


@njit(cache=True, error_model="numpy")
def floating_time(pelvis: FloatArray, first: int, stop: int, fps: float) -> float:
    """How long a body that is off the floor from frame ``first`` to ``stop`` does not fall.

    The share of these frames in which the pelvis is not in free fall counts. Speeds at the two ends
    do not tell: a body that is lifted and let down has those of a jump.
    """
    n = stop - first
    lag = max(1, min(round(FALL_S * fps), (n - 1) // 2))
    if n < 2 * lag + 1:
        return 0.0
    floating = 0
    for t in range(first + lag, stop - lag):
        bend = pelvis[t - lag, 1] - 2.0 * pelvis[t, 1] + pelvis[t + lag, 1]
        floating += bend * (fps / lag) ** 2 > FALL
    return float(n / fps * floating / (n - 2 * lag))


@njit(cache=True, error_model="numpy")
def decelerations(pelvis: FloatArray, fps: float) -> FloatArray:
    """Loss of ground speed over ``BRAKE_S`` before each frame, m/s2, smoothed over it. (F,)."""
    n = len(pelvis)
    width = max(2, round(BRAKE_S * fps))
    out = np.zeros(n)
    half = max(1, width // 2)
    for t in range(width + half, n):
        now = _mean_speed(pelvis, t - half, t, fps)
        before = _mean_speed(pelvis, t - width - half, t - width, fps)
        out[t] = (before - now) * fps / width
    return out


@njit(cache=True, error_model="numpy", inline="always")
def _mean_speed(pelvis: FloatArray, first: int, last: int, fps: float) -> float:
    x, z = pelvis[last, 0] - pelvis[first, 0], pelvis[last, 2] - pelvis[first, 2]
    return float(fps * np.sqrt(x * x + z * z) / (last - first))


@njit(cache=True, error_model="numpy")
def judge(
    series: Series,
    limits: Limits,
    planted: BoolArray,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    plan: FloatArray,
    held: bool,
    allowed: FloatArray,
    grounds: FloatArray,
    found: FloatArray,
) -> int:
    """Fill ``found`` with failures; how many there are.

    Parameters
    ----------
    series, limits
        Of the motion, and of its sources.
    planted : (F, 4)
        Contacts of the motion.
    fps
        Frames per second.
    first, last
        Frames that are judged; the others show what goes before and after.
    skipped : (F,)
        Frames that were captured wrong and are passed on as they are.
    plan : (F,) or (0,)
        Headings that the body should have, radians.
    held
        Whether feet were held already: soles, contacts and drags are judged.
    allowed : (F, N, 3) or (0, N, 3)
        Rotation speed, speed and second difference that a source has in the very frame that was
        copied from it: these are its own, whatever they are.
    grounds : (F, 4, 2) or (0, 4, 2)
        Where frames were copied: lowest height of each sole point, and how far the contact that
        starts there may slide, metres.
    found : (M, 5)
        Check, joint (as an index into the judged ones, or -1), frame, value, limit.
    """
    n = _judge_joints(series, limits, fps, first, last, skipped, allowed, found)
    n = _judge_body(series, limits, fps, first, last, skipped, plan, found, n)
    n = judge_hovering(series, limits, fps, first, last, found, n)
    if series.soles.shape[0] > 0 and limits.sole[0] < 1e300:
        n = judge_feet(series, limits, planted, fps, first, last, skipped, held, grounds, found, n)
    return n


@njit(cache=True, error_model="numpy")
def _is_alone(turn: FloatArray, t: int, n: int, fps: float) -> bool:
    """Whether a fast step stands alone: two sixtieths of a second away the joint is calm."""
    stride = max(1, round(fps / 60.0))
    for u in (t - 2 * stride, t + 2 * stride):
        if 1 <= u < len(turn) and turn[u, n] > FLIP_ALONE * turn[t, n]:
            return False
    return True


@njit(cache=True, error_model="numpy")
def _judge_joints(
    series: Series,
    limits: Limits,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    allowed: FloatArray,
    found: FloatArray,
) -> int:
    n_found, copied = 0, len(allowed) > 0
    half = max(2, round(FLIP_S * fps))
    around = np.zeros(2 * half)
    own_turn, own_speed, own_bend = 0.0, 0.0, 0.0
    for n in range(series.turn.shape[1]):
        turn = max(TURN_MORE * limits.turn[n], TURN_FREE)
        speed = max(SPEED_MORE * limits.speed[n], limits.quick[n])
        bend = max(BEND_MORE * limits.bend[n], BEND_FREE)
        flip = max(FLIP_MORE * limits.turn[n], FLIP_FREE, FLIP_STEP * fps)
        check, name = TURN, n
        if n == 0:
            turn = max(PELVIS_MORE * limits.turn[n], PELVIS_FREE)
            speed, check = np.inf, PELVIS
        for t in range(max(first, 1), last + 1):
            # Copied frames are compared with their source, whose glitches they may repeat.
            if not copied and (skipped[t] or skipped[t - 1]):
                continue
            if copied:
                own_turn, own_speed = allowed[t, n, 0], allowed[t, n, 1]
                own_bend = allowed[t, n, 2]
            value = series.bend[t, n]
            if value > max(bend, own_bend) and (
                copied or not skipped[min(t + 1, len(skipped) - 1)]
            ):
                n_found = note(found, n_found, BEND, name, t, value, max(bend, own_bend))
            if t == first:  # the step into the first frame is not its own
                continue
            if series.turn[t, n] > max(turn, own_turn):
                limit = max(turn, own_turn)
                n_found = note(found, n_found, check, name, t, series.turn[t, n], limit)
            if series.speed[t, n] > max(speed, own_speed):
                limit = max(speed, own_speed)
                n_found = note(found, n_found, SPEED, name, t, series.speed[t, n], limit)
            if series.turn[t, n] > max(flip, own_turn) and _is_alone(series.turn, t, n, fps):
                count = 0
                for u in range(max(t - half, 1), min(t + half, len(series.turn) - 1) + 1):
                    if u != t:
                        around[count] = series.turn[u, n]
                        count += 1
                usual = FLIP_TIMES * np.median(around[:count]) if count else np.inf
                if series.turn[t, n] > usual:
                    n_found = note(
                        found, n_found, FLIP, name, t, series.turn[t, n], max(usual, flip)
                    )
    return n_found


@njit(cache=True, error_model="numpy")
def _judge_body(
    series: Series,
    limits: Limits,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    plan: FloatArray,
    found: FloatArray,
    n_found: int,
) -> int:
    pelvis = max(PELVIS_MORE * limits.turn[0], PELVIS_FREE)
    brake = max(BRAKE_MORE * limits.body[BRAKE], BRAKE_FREE)
    travel = max(TRAVEL_MORE * limits.body[TRAVEL], TRAVEL_FREE)
    slowed = decelerations(series.pelvis, fps)
    for t in range(first, last + 1):
        if skipped[t]:
            continue
        if slowed[t] > brake:
            n_found = note(found, n_found, BRAKING, -1, t, slowed[t], brake)
        if t > 0 and not skipped[t - 1]:
            x = series.pelvis[t, 0] - series.pelvis[t - 1, 0]
            z = series.pelvis[t, 2] - series.pelvis[t - 1, 2]
            speed = fps * np.sqrt(x * x + z * z)
            if speed > travel:
                n_found = note(found, n_found, FAST, -1, t, speed, travel)
            for k in range(series.carried.shape[1]):
                limit = max(TURN_MORE * limits.carried[k], pelvis)
                if series.carried[t, k] > limit:
                    n_found = note(found, n_found, ROOT_BONE, k, t, series.carried[t, k], limit)
        if len(plan):
            off = series.heading[t] - plan[t]
            off = abs(off - 2.0 * np.pi * np.round(off / (2.0 * np.pi)))
            if off > PLAN_OFF:
                n_found = note(found, n_found, PLAN, -1, t, off, PLAN_OFF)
    return n_found


@njit(cache=True, error_model="numpy")
def judge_feet(
    series: Series,
    limits: Limits,
    planted: BoolArray,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    held: bool,
    grounds: FloatArray,
    found: FloatArray,
    n_found: int,
) -> int:
    """Add the failures of legs and feet; the parameters are those of ``judge``."""
    copied = len(grounds) > 0
    for side in range(2):
        back = min(limits.least_flexion[side] - BACK_MORE, BACK_FREE)
        fold = max(limits.most_flexion[side] + FOLD_MORE, FOLD_FREE)
        for t in range(first, last + 1):
            if skipped[t]:
                continue
            bent = series.flexion[t, side]
            if bent < back:
                n_found = note(found, n_found, BACKWARDS, side, t, bent, back)
            if bent > fold:
                n_found = note(found, n_found, FOLDED, side, t, bent, fold)
            for point in range(2 * side, 2 * side + 2):
                low = limits.sole[point] - SINK
                if copied:
                    low = max(low, grounds[t, point, 0])
                if held and series.soles[t, point, 1] < low:
                    n_found = note(found, n_found, SOLE, point, t, series.soles[t, point, 1], low)
    if not held:
        return n_found
    for point in range(4):
        n_found = _judge_contacts(
            series.soles, planted, point, fps, first, last, limits.slide, grounds, found, n_found
        )
        drag, way = max(DRAG_MORE * limits.drag[point], DRAG_FREE), 0.0
        for t in range(max(first, 1), last + 1):
            if not is_dragged(series.soles, limits.floor, t, point, fps):
                way = 0.0
                continue
            x = series.soles[t, point, 0] - series.soles[t - 1, point, 0]
            z = series.soles[t, point, 2] - series.soles[t - 1, point, 2]
            way += np.sqrt(x * x + z * z)
            if way > drag:
                n_found = note(found, n_found, DRAGGED, point, t, way, drag)
    return n_found


@njit(cache=True, error_model="numpy")
def _judge_contacts(
    soles: FloatArray,
    planted: BoolArray,
    point: int,
    fps: float,
    first: int,
    last: int,
    slides: FloatArray,
    grounds: FloatArray,
    found: FloatArray,
    n_found: int,
) -> int:
    """Contacts of one foot point that move too far while they are labelled."""
    t = first
    while t <= last:
        if not planted[t, point]:
            t += 1
            continue
        begin = t
        low_x = high_x = soles[t, point, 0]
        low_z = high_z = soles[t, point, 2]
        while t <= last and planted[t, point]:
            low_x, high_x = min(low_x, soles[t, point, 0]), max(high_x, soles[t, point, 0])
            low_z, high_z = min(low_z, soles[t, point, 2]), max(high_z, soles[t, point, 2])
            t += 1
        limit = slides[point * N_SPANS + slide_span(t - begin, fps)]
        if len(grounds):
            limit = min(limit, grounds[begin, point, 1])
        limit = max(limit, SLIDE_FREE)
        way = np.sqrt((high_x - low_x) ** 2 + (high_z - low_z) ** 2)
        if t - begin >= SHORTEST_CONTACT and way > limit:
            n_found = note(found, n_found, CONTACT, point, begin, way, limit)
    return n_found


@njit(cache=True, error_model="numpy")
def judge_hovering(
    series: Series,
    limits: Limits,
    fps: float,
    first: int,
    last: int,
    found: FloatArray,
    n_found: int,
) -> int:
    """Add runs of frames in which nothing is near the floor and the body does not fall."""
    longest = max(HOVER_MORE * limits.body[HOVER], HOVER_FREE)
    t = first
    while t <= last:
        if not is_off(series.soles, series.lowest, t, limits.highest):
            t += 1
            continue
        begin = t
        while t <= last and is_off(series.soles, series.lowest, t, limits.highest):
            t += 1
        floats = floating_time(series.pelvis, begin, t, fps)
        if floats > longest:
            n_found = note(found, n_found, HOVERING, -1, (begin + t) // 2, floats, longest)
    return n_found
