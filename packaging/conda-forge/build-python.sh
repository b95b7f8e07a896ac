#!/usr/bin/env bash
# The Python package alone, in pure Python. It looks for libmluops.so.1 in the environment's lib folder, too.
set -euo pipefail
mkdir -p "$SP_DIR"
cp -r "$SRC_DIR/api/python/mluops" "$SP_DIR/mluops"
