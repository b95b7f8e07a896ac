#!/usr/bin/env bash
# Everything a release consists of, made and, but for macOS, tried, in one folder that `pip install --find-links` takes:
# wheels for Linux on x86-64 and aarch64, Windows and macOS, Debian packages, the source distribution, the documentation
# as a site, notes of the version from CHANGELOG.md, checksums.
# Usage: cmake/release.sh [folder, default dist/release]
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf "${1:-dist/release}"
out=$(mkdir -p "${1:-dist/release}" && cd "${1:-dist/release}" && pwd)
log=build/release.log
mkdir -p build
: >"$log"
started=$SECONDS

# part NAME COMMAND...: its output goes to the log, which a failure shows.
part() {
  local name=$1 begin=$SECONDS
  shift
  printf '%s: ' "$name"
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    echo "FAILED"
    tail -n 40 "$log"
    exit 1
  fi
  echo "$((SECONDS - begin)) s"
}

# The source distribution, built again and used in an empty folder.
make_sdist() {
  build/wheel-tools/bin/python -m build --sdist --no-isolation --outdir "$out" .
  local empty
  empty=$(mktemp -d)
  tar -xzf "$out"/mluops-*.tar.gz -C "$empty"
  (
    cd "$empty"/mluops-*
    env -u PYTHONPATH -u MLUOPS_LIBRARY "$tools/bin/python" -m build --wheel --no-isolation --outdir "$empty" \
      -Ccmake.define.MLUOPS_LEVELS=machine "${launcher[@]}" .
    python3 -m venv "$empty/venv"
    "$empty/venv/bin/pip" install --quiet "$empty"/mluops-*.whl
    cd "$empty"
    "$empty/venv/bin/python" -m mluops
    "$empty/venv/bin/cncc" --version
  )
  rm -rf "$empty"
}

make_aarch64() {
  api/python/build_wheel.sh --aarch64 "$out"
  test/python/wheel_aarch64.sh "$out"/mluops-*aarch64.whl
}

make_windows() {
  test/python/wheel_windows.sh
  cp "dist/mluops-$version-py3-none-win_amd64.whl" "dist/mluops-$version-win_amd64.zip" "$out"
}

make_site() {
  ./run site
  tar -czf "$out/mluop-host-$version-docs.tar.gz" -C build site
}

make_notes() { ./run release-notes "$version" >"$out/NOTES.md"; }

version=$(sed -n 's/^project(mluop-host VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
tools=$PWD/build/wheel-tools
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache -Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
part notes make_notes
part site make_site
part wheel api/python/build_wheel.sh "$out"
part sdist make_sdist
part debian-packages cmake/build-debs.sh "$out"
part wheel-aarch64 make_aarch64
part wheel-windows make_windows
part wheel-macos api/python/build_wheel_macos.sh "$out"
(cd "$out" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS . && sha256sum --quiet --check SHA256SUMS)
echo "mluop-host $version, $((SECONDS - started)) s: $out"
(cd "$out" && ls -l | awk 'NR > 1 { printf "  %9.2f MB  %s\n", $5 / 1e6, $9 }')
