#!/bin/sh
# Installs the outside judges: Blender and a browser with the system's package tool, the glTF
# validator with npm into .judges/. Does nothing for those that are there. Exits 1 if one could
# not be installed, after trying the others.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo -n"
missing=""

want() { # want COMMAND PACKAGE...: the packages where the command is not on the path
    command -v "$1" >/dev/null 2>&1 && return
    shift
    missing="$missing $*"
}
want blender blender python3-numpy
want node nodejs
want npm npm
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
    want google-chrome chromium

failed=0
if [ -n "$missing" ]; then
    if command -v apt-get >/dev/null 2>&1; then
        DEBIAN_FRONTEND=noninteractive
        export DEBIAN_FRONTEND
        $as_root apt-get -qq update >/dev/null 2>&1
        for package in $missing; do
            $as_root apt-get -qq -y --no-install-recommends install "$package" >/dev/null 2>&1 || {
                echo "judges: $package could not be installed" >&2
                failed=1
            }
        done
    else
        echo "judges: no apt-get here; install by hand:$missing" >&2
        failed=1
    fi
fi

if [ ! -f "$here/.judges/node_modules/gltf-validator/package.json" ]; then
    mkdir -p "$here/.judges"
    npm install --silent --no-audit --no-fund --no-package-lock --prefix "$here/.judges" \
        gltf-validator@2.0.0-dev.3.10 >/dev/null 2>&1 || {
        echo "judges: gltf-validator could not be installed" >&2
        failed=1
    }
fi
exit $failed
