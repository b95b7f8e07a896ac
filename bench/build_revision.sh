#!/usr/bin/env bash
# Builds libmluops.so of another git revision under build/against/ and prints the folder it is in.
# usage: build_revision.sh REVISION
set -euo pipefail
cd "$(dirname "$0")/.."
revision=$(git rev-parse --verify --short "$1^{commit}")
room=build/against/$revision
if [ ! -f "$room/done" ]; then
  rm -rf "$room"
  mkdir -p "$room/source"
  git archive "$revision" | tar -x -C "$room/source"
  launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  {
    cmake -G Ninja -S "$room/source" -B "$room/build" -DCMAKE_BUILD_TYPE=Release -DMLUOPS_BUILD_TESTS=OFF \
      -DMLUOPS_BUILD_BENCH=OFF "${launcher[@]}"
    cmake --build "$room/build" --target mluops
  } >&2
  touch "$room/done"
fi
echo "$PWD/$room/build/api"
