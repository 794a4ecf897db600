"""The fused kernel's own source as plain C++, one lane, so that it runs where there is no GPU."""

import ctypes
import shutil
import subprocess

from motionloom.tables.engines.gpu_module import source

SECONDS = 120.0


class HostKernel:
    """The compiled source behind the interface of the GPU's."""

    def __init__(self, build, folder):
        path = folder / f"kernel_{abs(hash(build)):x}.so"
        if not path.exists():
            text = folder / f"{path.stem}.cpp"
            text.write_text(source())
            defines = [f"-D{name}={value}" for name, value in build.defines().items()]
            options = ["-std=c++17", "-O1", "-Wall", "-Werror", "-Wno-unknown-pragmas"]
            options += ["-shared", "-fPIC"]
            command = [shutil.which("g++"), *options, *defines, str(text), "-o", str(path)]
            subprocess.run(command, check=True, timeout=SECONDS)
        self.library = ctypes.CDLL(str(path))

    def search_tile(self, job, blocks):
        self.library.search_tile(ctypes.byref(job), ctypes.c_longlong(blocks))

    def score_recipes(self, job, recipes):
        self.library.score_recipes(ctypes.byref(job), ctypes.c_longlong(recipes))

    def sizes(self):
        out = (ctypes.c_int * 2)()
        self.library.sizes(out)
        return tuple(out)
