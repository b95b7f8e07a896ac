#!/usr/bin/env bash
# Installs an aarch64 wheel beside numpy's own and runs the numpy tests under qemu, with Debian's Python for arm64.
# Usage: wheel_aarch64.sh WHEEL (build_wheel.sh --aarch64 made it, and its tools are used). Tests that start another Python
# are left out: the system cannot start an aarch64 program by itself.
set -euo pipefail
wheel=$(realpath "$1")
cd "$(dirname "$0")/../.."
root=$PWD sysroot=$PWD/build/aarch64-sysroot site=$PWD/build/aarch64-site
cmake/aarch64-sysroot.sh

rm -rf "$site"
build/wheel-tools/bin/pip install --quiet --target "$site" --only-binary=:all: --implementation cp --python-version 3.11 \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 \
  numpy pytest "$wheel"
python=(qemu-aarch64 -L /usr/aarch64-linux-gnu
  -E "LD_LIBRARY_PATH=$sysroot/usr/lib/aarch64-linux-gnu:$sysroot/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib"
  -E "PYTHONHOME=$sysroot/usr" -E "PYTHONPATH=$site" "$sysroot/usr/bin/python3.11")
cd "$(mktemp -d)"
"${python[@]}" -m mluops
"${python[@]}" -m pytest -q -p no:cacheprovider -k 'not worker' \
  "$root"/test/python/test_{numpy,arguments,fuzz}.py
