#!/usr/bin/env bash
# Runs the lines of README's "Install" as they stand, in a fresh copy of the committed tree.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
lines=$(sed -n '/^## Install/,/^## /p' "$root/README.md" | sed -n '/^```sh/,/^```$/p' | sed '/^```/d')
[ -n "$lines" ] || {
  echo "README.md: no lines under Install"
  exit 1
}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$root" archive HEAD | tar -x -C "$copy"
cd "$copy"
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$copy
fi
bash -euxc "$lines" | tee output
grep -q 'torch.Size(\[1, 64, 64, 64\])' output
