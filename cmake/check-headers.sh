#!/usr/bin/env bash
# Compiles every public header alone, as C99: it includes what it uses.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
find api/include -name '*.h' | sort | while read -r header; do
  name=${header#api/include/}
  printf '#include "%s"\ntypedef int not_empty;\n' "$name" |
    ${CC:-cc} -std=c99 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -Iapi/include -x c -
done
