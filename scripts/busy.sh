#!/usr/bin/env bash
# Tests on a busy machine: scripts/busy.sh TIMES [pytest options]
# Runs pytest so many times next to two processes that never rest, and counts the passes. Of the
# cluster: scripts/busy.sh 20 tests/unit/tables/engines/cluster
set -euo pipefail
cd "$(dirname "$0")/.."
times=$1
shift
python=${PYTHON:-.venv/bin/python}
busy=()
end() { kill "${busy[@]}" 2>/dev/null || true; }
trap end EXIT
for _ in 1 2; do
  (while :; do :; done) &
  busy+=($!)
done
passed=0
for ((run = 1; run <= times; run++)); do
  if OPENBLAS_NUM_THREADS=1 "$python" -m pytest -q -n 0 --durations=1 "$@"; then
    passed=$((passed + 1))
  fi
  echo "$passed of $run passed"
done
[ "$passed" -eq "$times" ]
