"""Runs in an environment with the ufbx package: where every point of the meshes of a file is.

python ufbx_skin.py JOBS.json OUT.json

A job has ``file`` and ``times``, in seconds; answers are in the file's unit and axes.
"""

import gc
import json
import os
import sys
from pathlib import Path

import ufbx

gc.disable()
HELD = []
"""Every scene: the package may crash when it frees one."""


def points(job):
    """Points of all meshes at the times of one job, as their skins carry them."""
    scene = ufbx.load_file(job["file"])
    stack = scene.anim_stacks[0]
    answers = []
    for time in job["times"]:
        moved = ufbx.evaluate_scene(scene, stack.anim, time, evaluate_skinning=True)
        HELD.extend([scene, stack, moved])
        places = {}
        for mesh in moved.meshes:
            skinned = mesh.skinned_position
            HELD.extend([mesh, skinned])
            values = skinned.values
            places[mesh.name] = [[at.x, at.y, at.z] for at in values]
        answers.append(places)
    return answers


jobs, out = sys.argv[1:]
points_of = {name: points(job) for name, job in json.loads(Path(jobs).read_text()).items()}
Path(out).write_text(json.dumps(points_of), encoding="utf-8")
sys.stdout.flush()
os._exit(0)  # without freeing them
