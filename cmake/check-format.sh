#!/bin/sh
# Fails and names the files that clang-format would change.
set -eu
cd "$(dirname "$0")/.."
git ls-files '*.h' '*.c' '*.cpp' | xargs clang-format-14 --dry-run -Werror
