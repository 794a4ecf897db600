"""Binary USD as flat text, by ``usd-core`` in a separate process.

A damaged binary file can end the process that reads it, so that is never ours. Prims that a clip
has no use for (meshes, materials) are dropped before the text is written.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from motionloom._extras import missing_extra
from motionloom.errors import FormatError
from motionloom.files.limits import Limits

LONGEST_S = 120.0
MOST_MEMORY = 2 << 30
"""Address space of the process. With one thread usd-core takes 0.95 GB of it for a short clip and
1.1 GB for 100,000 frames of 31 joints; each thread would reserve more."""
ONE_THREAD = {
    "PXR_WORK_THREAD_LIMIT": "1",
    "TF_ENV_SETTING_ALERTS_ENABLED": "0",
    "MALLOC_ARENA_MAX": "1",
}
_NO_PACKAGE = 7

_PROGRAM = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
try:
    from pxr import Sdf, Usd
except ImportError:
    sys.exit(7)
try:
    stage = Usd.Stage.Open(sys.argv[1])
except Exception as error:
    print(str(error).strip().rpartition(" : ")[2][:300], file=sys.stderr)
    sys.exit(8)
layer = stage.Flatten(False)
paths = []
def look(path):
    prim = layer.GetPrimAtPath(path) if path.IsPrimPath() else None
    if prim is not None and prim.typeName in ("Mesh", "Material", "Shader", "GeomSubset"):
        paths.append(path)
layer.Traverse("/", look)
for path in sorted(paths, key=lambda path: -path.pathElementCount):
    prim = layer.GetPrimAtPath(path)
    if prim is not None:
        del prim.nameParent.nameChildren[prim.name]
layer.Export(sys.argv[2])
"""


def flattened(data: bytes, limits: Limits) -> bytes:
    """The text of the flat stage in ``data``, which is ``.usdc`` or ``.usdz``."""
    if not data.startswith((b"PXR-USDC", b"PK\x03\x04")):
        raise FormatError("The file must begin with '#usda' or be binary USD.", where="byte 0")
    suffix = ".usdz" if data.startswith(b"PK") else ".usdc"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / f"stage{suffix}", Path(folder) / "flat.usda"
        source.write_bytes(data)
        _run(source, target)
        try:
            with target.open("rb") as stream:
                text = stream.read(limits.max_bytes + 1)
        except OSError as error:
            raise FormatError(f"usd-core wrote no text ({error}).") from error
    if len(text) > limits.max_bytes:
        raise FormatError(f"The flat stage may have at most {limits.max_bytes} bytes of text.")
    return text


def _run(source: Path, target: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(source), str(target), str(MOST_MEMORY)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
            env={**os.environ, **ONE_THREAD},
        )
    except subprocess.TimeoutExpired:
        raise FormatError(f"usd-core took more than {LONGEST_S:g} s for this file.") from None
    except OSError as error:
        raise FormatError(f"No process for usd-core could be started ({error}).") from error
    if done.returncode == _NO_PACKAGE:
        raise FormatError(missing_extra("usd", "Binary USD"))
    if done.returncode < 0:
        raise FormatError(
            f"The process of usd-core crashed on the file (signal {-done.returncode}): it is "
            f"damaged, or takes more than {MOST_MEMORY >> 30} GB of memory.",
            fix="Check that it opens in usdview, or convert it with `usdcat --flatten` to .usda.",
        )
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it ended"]
        raise FormatError(
            f"usd-core cannot read the file ({reason[0][:200]}).",
            fix="Check that it opens in usdview, or export it again.",
        )
