"""USD text of other tools: what they may write and we do not."""

from __future__ import annotations

import io

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import FormatError
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.usd.usd import FORMAT
from motionloom.formats.usd.usd_write import identifiers

LAYER = '''#usda 1.0
(
    "made by hand"
    metersPerUnit = 0.01
    upAxis = "Z"  # a comment
    timeCodesPerSecond = 48
    subLayers = [ @./other.usda@ (offset = 1; scale = 2) ]
    customLayerData = { dictionary deep = { string a = """two
lines""" } }
)

/* a longer
   comment */
def Xform "World" (
    prepend references = @props.usda@</Prop> (offset = 10)
    variants = { string look = "red" }
    prepend variantSets = "look"
)
{
    double3 xformOp:translate = (100, 0, 0)
    float xformOp:rotateZ = 90
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]

    variantSet "look" = {
        "red" { color3f[] primvars:displayColor = [(1, 0, 0)] }
        "blue" ( doc = "none" ) { }
    }

    def SkelRoot "Figure" ( prepend apiSchemas = ["SkelBindingAPI"] )
    {
        rel skel:animationSource = </World/Figure/Walk>
        def Skeleton "Bones"
        {
            uniform token[] joints = ["Hips", "Hips/Leg", "Hips/Leg/Foot"]
            uniform matrix4d[] restTransforms = [
                ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,90,1)),
                ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,-50,1)),
                ((1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,-40,1))]
        }
        def SkelAnimation "Run" { uniform token[] joints = ["Hips"] }
        def SkelAnimation "Walk"
        {
            uniform token[] joints = ["Hips/Leg", "Hips"]
            quatf[] rotations.timeSamples = {
                1: [(1, 0, 0, 0), (1, 0, 0, 0)],
                3: [(0.70710678, 0.70710678, 0, 0), (1, 0, 0, 0)],
            }
            float3[] translations.timeSamples = {
                1: [(0, 0, -50), (0, 0, 90)],
                2: [(0, 0, -50), (10, 0, 90)],
                3: [(0, 0, -50), (20, 0, 90)],
            }
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
        }
    }
}
'''


def read(text: str, **options: object) -> FileClip:
    assert FORMAT.read is not None
    return FORMAT.read(io.BytesIO(text.encode()), ReadOptions(**options))


def test_a_layer_of_another_tool() -> None:
    clip = read(LAYER)
    motion = clip.motion
    assert (clip.unit_m, clip.up, motion.fps) == (0.01, "z", 48.0)
    assert motion.skeleton.names == ("Hips", "Leg", "Foot")
    assert (clip.clip, clip.clips) == ("Walk", ("Run", "Walk"))
    places = motion.world_positions()
    # The prim above turns X to Y and moves by 100 along X.
    assert np.allclose(places[:, 0], [[100, 0, 90], [100, 10, 90], [100, 20, 90]], atol=1e-4)
    assert np.allclose(places[0, 2], [100, 0, 0], atol=1e-4)
    # At the last frame the leg turned a quarter about its X: the foot lies along -Z turned to +Y,
    # which the prim above turns to -X.
    assert np.allclose(places[2, 2], [60, 20, 40], atol=1e-3)


def test_a_clip_is_named() -> None:
    assert read(LAYER, clip="Run").motion.n_frames == 1
    with pytest.raises(FormatError, match="'Run', 'Walk'"):
        read(LAYER, clip="Jump")


def test_scales_become_lengths() -> None:
    text = LAYER.replace(
        "half3[] scales = [(1, 1, 1), (1, 1, 1)]", "half3[] scales = [(2,2,2), (3,3,3)]"
    )
    places = read(text).motion.world_positions()[0]
    assert np.allclose(
        np.linalg.norm(np.diff(places, axis=0), axis=1), [3 * 50, 3 * 2 * 40], atol=1e-3
    )


def test_uneven_samples_are_resampled_with_a_warning() -> None:
    text = LAYER.replace("2: [(0, 0, -50), (10, 0, 90)],", "")
    text = text.replace("3: [(0, 0, -50)", "5: [(0, 0, -50)").replace(" 3: [(0.7", " 2: [(0.7")
    clip = read(text)  # samples at 1, 2 and 5: frames at 1, 3 and 5
    assert [finding.level for finding in clip.findings] == ["warning"]
    assert np.allclose(np.diff(clip.motion.root_positions[:, 1]), 10.0, atol=1e-3)


def test_several_roots_get_one_above() -> None:
    text = LAYER.replace('"Hips/Leg", "Hips/Leg/Foot"]', '"Leg", "Leg/Foot"]')
    assert read(text).motion.skeleton.names[0] == "root"


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("def SkelRoot", "fed SkelRoot", "def, over or class"),
        ("(0,0,-40,1))]", "(0,0,-40))]", "48 numbers"),
        ("(0, 0, -50), (0, 0, 90)", "(0, 0, -50), (0, 0, nan)", "number"),
        ("(0, 0, -50), (0, 0, 90)", "(0, 0, -50), (0, 0, 1e)", "number"),
        ('Skeleton "Bones"', 'Skell "Bones"', "No Skeleton"),
        ('upAxis = "Z"', 'upAxis = "Q"', "Y or Z"),
        ("metersPerUnit = 0.01", "metersPerUnit = 0", "above 0"),
        ("(1,0,0,0), (0,1,0,0)", "(0,0,0,0), (0,1,0,0)", "invertible"),
        ("(0,0,-40,1))]", "(0,0,-40,0))]", "invertible"),
    ],
)
def test_faults_are_named(old: str, new: str, match: str) -> None:
    assert old in LAYER
    with pytest.raises(FormatError, match=match):
        read(LAYER.replace(old, new, 1))


@pytest.mark.parametrize(
    "text",
    [
        "#usda 1.0\n" + "/* " * 200_000,
        "#usda 1.0\n(" + "a = [" * 20_000,
        "#usda 1.0\n" + 'def "a" {' * 20_000,
        "#usda 1.0\n(" + "a = {" * 20_000,
        '#usda 1.0\n(a = "' + "\\x" * 100_000,
        "#usda 1.0\n(a = [" + "1," * 200_000,
    ],
)
def test_bad_text_is_refused_quickly(text: str) -> None:
    with pytest.raises(FormatError):
        read(text)


def test_names_of_prims() -> None:
    assert identifiers(["a.b", "a b", "2", "", "Ä"]) == ["a_b", "a_b_2", "_2", "joint_3", "_"]


def test_binary_without_the_package_is_an_error_with_what_to_install() -> None:
    try:
        import pxr  # noqa: F401
    except ImportError:
        with pytest.raises(FormatError, match=r"motionloom\[usd\]"):
            FORMAT.read(io.BytesIO(b"PXR-USDC" + bytes(200)), ReadOptions())


def test_other_up_axes_are_refused(tmp_path) -> None:
    with pytest.raises(FormatError, match="up axes y and z"):
        ml.save(ml.synthetic.clip("stand").motion, tmp_path / "a.usda", up="x")
