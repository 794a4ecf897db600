# Sourced by ./demo, ./test and ./bench: makes .venv once and again whenever pyproject.toml changes.
# usage: environment EXTRAS   (for example "dev"); afterwards $PYTHON is the environment's Python.

find_python() {
  for candidate in "${MOTIONLOOM_PYTHON:-}" python3.14 python3.13 python3.12 python3.11 python3 python; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  echo "motionloom needs Python 3.11 or newer; set MOTIONLOOM_PYTHON to one." >&2
  return 1
}

environment() {
  local extras="$1" stamp wanted base
  PYTHON="$PWD/.venv/bin/python"
  stamp=".venv/installed-$extras"
  if [ ! -x "$PYTHON" ]; then
    base=$(find_python) || return 2
    echo "Making .venv with $($base --version) ..." >&2
    "$base" -m venv .venv || { echo "python -m venv failed; install the venv package of your system." >&2; return 2; }
  fi
  wanted=$(cksum < pyproject.toml)
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    echo "Installing motionloom[$extras] into .venv (a minute or two, once) ..." >&2
    "$PYTHON" -m pip install --quiet --disable-pip-version-check -e ".[$extras]" || return 2
    printf '%s\n' "$wanted" > "$stamp"
  fi
  # Containers often set this: each of the many programs that are started would compile 300 modules.
  unset PYTHONDONTWRITEBYTECODE
  # studies/ and tests/ are packages of the repository that benchmarks use as well.
  export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
  # The C core and the page are built by the installation; again where their sources have changed.
  "$PYTHON" hatch_build.py || return 2
}
