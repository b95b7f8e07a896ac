#!/usr/bin/env bash
# Cross-builds the wheel for macOS 11 and later on arm64 into dist/. Experimental: nothing here can run it; on a Mac,
# test/python/wheel_native.sh does. Loops use the threads of the C++ runtime. Usage: build_wheel_macos.sh [output directory]
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
. api/python/cross_wheel.sh
cross_wheel macOS macosx_11_0_arm64 lief "$out" "MLUOPS_OPERATORS=${MLUOPS_OPERATORS:-}"
python api/python/check_wheel_macos.py "$out/$wheel"
ls -l "$out/$wheel"
