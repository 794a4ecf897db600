"""Run by a Python that has usd-core: validate a USD file, print its joints as JSON.

``python usd_joints.py FILE``: the faults that usd-core's own validators report, the stage's unit,
up axis and rate, and every joint in the world at every time code.
"""

from __future__ import annotations

import json
import sys

from pxr import Usd, UsdGeom, UsdSkel, UsdValidation


def faults(stage: Usd.Stage) -> list[str]:
    registry = UsdValidation.ValidationRegistry()
    context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    return [f"{error.GetName()}: {error.GetMessage()}" for error in context.Validate(stage)]


def joints(stage: Usd.Stage) -> dict[str, object]:
    cache = UsdSkel.Cache()
    root = UsdSkel.Root(stage.GetDefaultPrim())
    cache.Populate(root, Usd.PrimDefaultPredicate)
    skeleton = None
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            skeleton = UsdSkel.Skeleton(prim)
    query = cache.GetSkelQuery(skeleton)
    first, last = int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode())
    frames = []
    for frame in range(first, last + 1):
        xforms = UsdGeom.XformCache(frame)
        to_world = xforms.GetLocalToWorldTransform(skeleton.GetPrim())
        poses = query.ComputeJointSkelTransforms(frame)
        frames.append([list((pose * to_world).ExtractTranslation()) for pose in poses])
    return {
        "names": list(skeleton.GetJointNamesAttr().Get()),
        "positions": frames,
        "unit_m": UsdGeom.GetStageMetersPerUnit(stage),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "rate": stage.GetTimeCodesPerSecond(),
    }


def main() -> None:
    stage = Usd.Stage.Open(sys.argv[1])
    print(json.dumps({"faults": faults(stage), **joints(stage)}))


if __name__ == "__main__":
    main()
