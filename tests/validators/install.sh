#!/bin/sh
# Installs the external validators: Blender, a browser, a C compiler and mono (for C#) with the package
# tool of the system, the glTF validator with npm into .judges/, usd-core and mujoco with pip into
# .judges/packages. Does nothing for those that are
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
