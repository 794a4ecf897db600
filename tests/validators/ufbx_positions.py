"""Runs in an environment with the ufbx package: where every node of an FBX file is.

python ufbx_positions.py JOBS.json OUT.json

A job has ``file``, ``stack`` and ``times``, in seconds; answers are in the file's unit and axes.
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


def positions(job):
    """World positions of every node at the times of one job."""
    scene = ufbx.load_file(job["file"])
    stack = scene.anim_stacks[job.get("stack", 0)]
    answers = []
    for time in job["times"]:
        moved = ufbx.evaluate_scene(scene, stack.anim, time)
        HELD.extend([scene, stack, moved])
        places = {}
        for node in moved.nodes:
            at = node.node_to_world.c3
            places[node.name] = [at.x, at.y, at.z]
        answers.append(places)
    return answers


jobs, out = sys.argv[1:]
joints_of = {name: positions(job) for name, job in json.loads(Path(jobs).read_text()).items()}
Path(out).write_text(json.dumps(joints_of), encoding="utf-8")
sys.stdout.flush()
os._exit(0)  # without freeing them
