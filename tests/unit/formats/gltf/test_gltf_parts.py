"""Parts of the glTF reader and writer, each against values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.formats.gltf.glb_chunks import Pack
from motionloom.formats.gltf.gltf_document import _as_numbers
from motionloom.formats.gltf.gltf_read import find_clock
from motionloom.formats.keys import SNAP_FRAME, Clock, even_rate
from motionloom.formats.meshes import bone_mesh, smooth_normals
from motionloom.motion.motion import Skeleton


def test_normalized_integers_are_parts_of_their_largest():
    raw = np.array([-128, -127, 0, 127], dtype=np.int8)
    assert _as_numbers(raw, True).tolist() == [-1.0, -1.0, 0.0, 1.0]
    assert _as_numbers(raw, False).tolist() == [-128.0, -127.0, 0.0, 127.0]
    assert _as_numbers(np.array([0, 255], dtype=np.uint8), True).tolist() == [0.0, 1.0]
    assert _as_numbers(np.array([-3.0, 2.0], dtype=np.float32), True).tolist() == [-3.0, 2.0]


@pytest.mark.parametrize("start", [0.0, 2.5])
def test_even_keys_have_a_rate_wherever_they_start(start):
    assert even_rate(start + np.arange(11) / 25.0) == pytest.approx(25.0)
    assert even_rate(start + np.array([0.0, 0.1, 0.2, 0.33])) is None
    assert even_rate(start + np.array([0.0, 0.1, 0.12, 0.3])) is None


def test_normals_have_unit_length_and_point_out_of_counter_clockwise_triangles():
    points = np.array([[0.0, 0, 0], [3, 0, 0], [0, 2, 0], [0, 0, 5]])
    flat = smooth_normals(points[:3], np.array([[0, 1, 2]]))
    assert flat == pytest.approx(np.tile([0.0, 0.0, 1.0], (3, 1)))
    solid = smooth_normals(points, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    assert np.linalg.norm(solid, axis=1) == pytest.approx(np.ones(4))
    assert (solid[0] < 0.0).all()


def test_the_mesh_of_a_bone_is_closed_symmetric_and_turned_outwards():
    skeleton = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 2, 0]]))
    mesh = bone_mesh(skeleton, np.array([[0.0, 0, 0], [0, 2, 0]]), np.tile([1.0, 0, 0, 0], (2, 1)))
    points = mesh.points
    for mirrored in ([-1, 1, 1], [1, 1, -1]):
        images = {tuple(p) for p in np.round(points * mirrored + 0.0, 9)}
        assert images == {tuple(p) for p in np.round(points + 0.0, 9)}
    a, b, c = (points[mesh.triangles[:, k]] for k in range(3))
    volume = np.einsum("tc,tc->t", a, np.cross(b, c)).sum() / 6.0
    # Two pyramids on a square of 0.32 m, together 2 m high.
    assert volume == pytest.approx(0.32**2 * 2.0 / 3.0)
    middle = np.array([0.0, 0.6, 0.0])
    assert (np.einsum("tc,tc->t", np.cross(b - a, c - a), a - middle) > 0.0).all()
    edges = {(int(t[i]), int(t[(i + 1) % 3])) for t in mesh.triangles for i in range(3)}
    assert edges == {(j, i) for i, j in edges}


def test_only_positions_and_times_are_written_with_their_bounds():
    pack = Pack()
    values = np.array([[1.0, -2.0], [3.0, 0.5]])
    for bounds in (False, True):
        pack.add(values, "VEC2", **({"bounds": True} if bounds else {}))
    plain, bounded = pack._accessors
    assert "min" not in plain and "max" not in plain
    assert (bounded["min"], bounded["max"]) == ([1.0, -2.0], [3.0, 0.5])


def clock(keys: list[np.ndarray], fps: float | None = None, max_frames: int = 10**6) -> Clock:
    extras = {} if fps is None else {"extras": {"motionloom": {"fps": fps}}}
    document = SimpleNamespace(json={"animations": [{}, extras]})
    return find_clock(document, 1, [SimpleNamespace(times=np.asarray(k)) for k in keys], max_frames)


def test_with_a_key_for_every_frame_the_frames_are_the_keys():
    """Although single precision at two hours puts keys up to 0.03 frames off their grid."""
    keys = (7200.0 + np.arange(200) / 120.0).astype(np.float32).astype(float)
    off = np.abs((keys - keys[0]) * 120.0 - np.arange(200))
    assert off.max() > SNAP_FRAME
    for found in (clock([keys]), clock([keys], fps=120.0), clock([keys[::2], keys[1:]])):
        assert (found.fps, found.stated) == (120.0, True)
        assert found.times.tolist() == keys.tolist()


def test_frames_lie_on_the_keys_or_on_the_grid_between_them():
    found = clock([np.array([1.0, 1.1001, 1.5])], fps=10.0)
    assert found.times == pytest.approx([1.0, 1.1001, 1.2, 1.3, 1.4, 1.5])  # the key nearly there
    # The last key lies between two frames: one more frame shows it.
    assert clock([np.array([0.0, 0.33])], fps=10.0).times == pytest.approx(
        [0.0, 0.1, 0.2, 0.3, 0.4]
    )
    assert clock([np.array([0.0, 0.301])], fps=10.0).times == pytest.approx([0.0, 0.1, 0.2, 0.301])


def test_a_single_key_gives_no_rate():
    found = clock([np.array([2.5])])
    assert (found.times.tolist(), found.fps, found.stated) == ([2.5], 30.0, False)
    assert clock([np.array([2.5])], fps=24.0).stated


def test_frames_are_bounded_by_the_caller_and_by_the_keys():
    few = np.array([0.0, 9.97])
    assert len(clock([few], fps=10.0, max_frames=101).times) == 101
    with pytest.raises(FormatError, match="at most 99 frames"):
        clock([few], fps=10.0, max_frames=99)
    with pytest.raises(FormatError, match="At most 100 frames can be read, got 101"):
        clock([few], fps=10.0, max_frames=100)
    with pytest.raises(FormatError, match="At most 10 frames can be read, got 11"):
        clock([np.arange(11) / 30.0], max_frames=10)
    # Two keys make at most 2000 frames, however many the caller allows.
    assert len(clock([np.array([0.0, 199.85])], fps=10.0).times) == 2000
    with pytest.raises(FormatError, match="at most 2000 frames"):
        clock([np.array([0.0, 200.0])], fps=10.0)


@pytest.mark.parametrize("odd", [0, -1, 1e6, True, "30", None, float("nan")])
def test_a_stated_rate_that_is_none_is_passed_over(odd):
    assert clock([np.arange(5) / 24.0], fps=odd).fps == 24.0
