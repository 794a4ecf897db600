#!/bin/sh
# Installs the external validators: Blender, a browser, a C compiler and mono (for C#) with the package
# tool of the system, the glTF validator, three.js and FBX2glTF with npm, ufbx, usd-core and mujoco with
# pip, and Godot, all into .judges/. Does nothing for those that are
# there. Judges that
# cannot be had here (no package tool, no such package, no network) are named in
# .judges/unavailable, and their tests are skipped; one that could be had but did not install makes
# this exit 1.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$here/.judges"
unavailable="$here/.judges/unavailable"
: >"$unavailable"
failed=0

as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo -n"
updated=no

have() { command -v "$1" >/dev/null 2>&1; }

give_up() { # give_up JUDGE REASON
    echo "judges: $1: $2" >&2
    echo "$1" >>"$unavailable"
}

install() { # install JUDGE PACKAGE...
    judge=$1
    shift
    have apt-get || { give_up "$judge" "no apt-get here; install $* by hand"; return; }
    if [ "$updated" = no ]; then
        $as_root apt-get -qq update >/dev/null 2>&1
        updated=yes
    fi
    for package in "$@"; do
        if ! apt-cache show "$package" >/dev/null 2>&1; then
            give_up "$judge" "the package $package is not known here"
        elif ! DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq -y --no-install-recommends \
            install "$package" >/dev/null 2>&1; then
            echo "judges: $package could not be installed" >&2
            failed=1
        fi
    done
}

have blender || install blender blender python3-numpy
have chromium || have chromium-browser || have google-chrome || install chromium chromium
# For the tests of the C core with sanitizers; without it the installation compiles by ziglang.
have cc || have gcc || have clang || install compiler gcc libc6-dev
have mono && have mcs || install mono mono-mcs mono-runtime
have node || have nodejs || install gltf-validator nodejs

if [ ! -f "$here/.judges/node_modules/gltf-validator/package.json" ]; then
    have npm || install gltf-validator npm
    if ! have npm || ! npm view gltf-validator version >/dev/null 2>&1; then
        give_up gltf-validator "npm cannot reach it"
    elif ! npm install --silent --no-audit --no-fund --no-package-lock --prefix "$here/.judges" \
        gltf-validator@2.0.0-dev.3.10 >/dev/null 2>&1; then
        echo "judges: gltf-validator could not be installed" >&2
        failed=1
    fi
fi
for package in three@0.187.0 fbx2gltf@0.9.7; do
    judge=${package%@*}
    [ ! -f "$here/.judges/node_modules/$judge/package.json" ] || continue
    if ! have npm || ! npm view "$judge" version >/dev/null 2>&1; then
        give_up "$judge" "npm cannot reach it"
    elif ! npm install --silent --no-audit --no-fund --no-package-lock --prefix "$here/.judges" \
        "$package" >/dev/null 2>&1; then
        echo "judges: $judge could not be installed" >&2
        failed=1
    fi
done
[ "$(uname -sm)" = "Linux x86_64" ] || give_up fbx2gltf "it has a program for Linux on x86-64 only"
# In an environment and a process of its own, for it crashes when it frees several scenes.
if [ ! -x "$here/.judges/ufbx/bin/python" ]; then
    if ! python3 -m venv "$here/.judges/ufbx" >/dev/null 2>&1 ||
        ! "$here/.judges/ufbx/bin/python" -m pip install -q ufbx==0.0.5 >/dev/null 2>&1; then
        rm -rf "$here/.judges/ufbx"
        give_up ufbx "pip has no wheel of ufbx for this machine"
    fi
fi

# Godot 4, from the system where it has it, else from Debian's newest packages.
if ! have godot && ! have godot4 && [ ! -x "$here/.judges/godot/godot" ]; then
    if apt-cache show godot >/dev/null 2>&1; then
        install godot godot
    elif [ "$(uname -sm)" != "Linux x86_64" ] || ! have dpkg-deb ||
        ! python3 "$here/tests/validators/install_godot.py" "$here/.judges/godot" >/dev/null 2>&1; then
        rm -rf "$here/.judges/godot"
        give_up godot "Debian's packages cannot be fetched or do not run here"
    fi
fi

# Packages that only judge: in an environment of their own, so that ours stays as users have it.
packages="$here/.judges/packages"
for package in usd-core mujoco; do
    folder=$package
    [ "$package" = usd-core ] && folder=pxr
    ls -d "$packages"/lib/python3*/site-packages/"$folder" >/dev/null 2>&1 && continue
    [ -x "$packages/bin/python" ] || "$here/.venv/bin/python" -m venv "$packages" >/dev/null 2>&1
    if ! "$packages/bin/python" -m pip install --quiet "$package" >/dev/null 2>&1; then
        give_up "$package" "pip cannot install it"
    fi
done
exit $failed
