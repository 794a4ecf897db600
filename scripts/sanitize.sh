#!/usr/bin/env bash
# The tests of every kernel with a core that is built with AddressSanitizer and UBSan, which end the
# run at the first access out of bounds and the first undefined operation:
#   scripts/sanitize.sh [pytest options]      by default every test that compares kernels
# PYTHON names the Python to use, by default that of .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-$PWD/.venv/bin/python}"
compiler="${CC:-cc}"
MOTIONLOOM_CORE="$("$PYTHON" core/tests/run.py --library)"
export MOTIONLOOM_CORE
# The sanitizer must come first in the process. C++ exceptions of other packages pass through it.
preload="$($compiler -print-file-name=libasan.so):$($compiler -print-file-name=libstdc++.so.6)"
if [ $# -eq 0 ]; then
  # Without what measures memory or time, which sanitizers need more of.
  set -- tests/unit/core tests/unit/{motion,rotation,registration,cleanup,features,formats} \
    tests/unit/{blending,retargeting,splicing,tables} \
    --ignore tests/unit/formats/test_fuzz.py --ignore tests/unit/tables/engines/cluster
fi
# Python frees little at its end: leaks are not looked for. Sanitizers make kernels some 5 times
# slower.
export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1" OPENBLAS_NUM_THREADS=1
LD_PRELOAD="$preload" exec "$PYTHON" -m pytest -q -p no:cacheprovider --timeout 900 "$@"
