"""Godot 4 from Debian's packages into a folder, for systems whose own packages are older.

``python tests/validators/install_godot.py FOLDER`` fetches the editor and the libraries it is
linked with, C library included, unpacks them, and writes FOLDER/godot, which starts it. Linux on
x86-64 with dpkg-deb only; the system itself stays as it is.
"""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ARCHIVE = "http://deb.debian.org/debian/"
INDEX = "dists/sid/main/binary-amd64/Packages.xz"
NOT_NEEDED = {
    *("debconf", "mesa-libgallium", "libllvm22", "libz3-4", "sysvinit-utils", "pci.ids"),
    *("x11-common", "xkb-data", "libx11-data", "fonts-dejavu-core", "fonts-dejavu-mono"),
}
"""Packages that only a screen needs."""
START = """#!/bin/sh
libraries={root}/usr/lib/x86_64-linux-gnu
exec $libraries/ld-linux-x86-64.so.2 --library-path $libraries:$libraries/pulseaudio \\
    {root}/usr/bin/godot "$@"
"""


def fetched(path: str) -> bytes:
    """A file of the archive."""
    with urllib.request.urlopen(ARCHIVE + path, timeout=120) as answer:
        return bytes(answer.read())


def packages() -> dict[str, dict[str, str]]:
    """Every package by its name, and by the names that it stands for."""
    out: dict[str, dict[str, str]] = {}
    for text in lzma.decompress(fetched(INDEX)).decode().split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in text.split("\n") if re.match(r"[A-Z][\w-]*: ", line)
        )
        if "Package" in fields:
            out[fields["Package"]] = fields
            for name in re.findall(r"[a-z0-9][a-z0-9+.-]+", fields.get("Provides", "")):
                out.setdefault(name, fields)
    return out


def wanted(name: str) -> list[str]:
    """Files of a package and of all that it depends on."""
    known, files, names = packages(), {}, [name]
    while names:
        fields = known.get(names.pop())
        if fields is None or fields["Package"] in NOT_NEEDED or fields["Package"] in files:
            continue
        files[fields["Package"]] = fields["Filename"]
        needs = ",".join(fields.get(kind, "") for kind in ("Depends", "Pre-Depends"))
        names += [each for part in needs.split(",") for each in re.findall(r"^\s*(\S+)", part)]
    return list(files.values())


def main() -> int:
    """Install into the folder that the command names; 1 where that fails."""
    place = Path(sys.argv[1]).resolve()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(8) as pool:
        files = wanted("godot")
        for path, data in zip(files, pool.map(fetched, files), strict=True):
            file = Path(folder) / Path(path).name
            file.write_bytes(data)
            subprocess.run(["dpkg-deb", "-x", str(file), str(place / "root")], check=True)
            file.unlink()
    start = place / "godot"
    start.write_text(START.format(root=place / "root"))
    start.chmod(0o755)
    asked = subprocess.run([start, "--headless", "--version"], capture_output=True, text=True)
    sys.stdout.write(asked.stdout + asked.stderr)
    return 0 if asked.stdout.startswith("4.") else 1


if __name__ == "__main__":
    raise SystemExit(main())
