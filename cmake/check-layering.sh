#!/usr/bin/env bash
# Holds every #include "..." of the tree against the arrows docs/HACKING.md allows. Prints offenders, fails if any.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

public='mlu_op\.h|mlu_op_ext\.h|cnrt\.h|cn_api\.h'
plugin="$public|mluops/(backend|problem)\.h"
shared='common/(half|shape)\.h'
failed=0

# allow FOLDER REGEX: files below FOLDER may include only project headers that match.
allow() {
  local folder=$1 regex=$2 line
  [ -d "$folder" ] || return 0
  while IFS= read -r line; do
    local header=${line##*#include \"}
    header=${header%%\"*}
    if ! [[ $header =~ ^($regex)$ ]]; then
      echo "layering: ${line%%:*} may not include \"$header\""
      failed=1
    fi
  done < <(grep -rn --include='*.h' --include='*.cpp' --include='*.c' '^ *#include "' "$folder" || true)
}

allow api/include "$plugin"
allow api/c "$plugin|api/c/.*|common/.*"
allow common "$plugin|common/.*"
allow backends/cpu "$plugin|$shared|backends/cpu/.*"
allow backends/mlu_emu/device "$plugin|common/half\.h|common/shape\.h|backends/mlu_emu/device/.*"
allow backends/mlu_emu/bang "$public|common/half\.h|backends/mlu_emu/(device|bang)/.*"
allow backends/mlu_emu/plan "$plugin|common/shape\.h|backends/mlu_emu/plan/.*"
allow backends/mlu_emu/kernels "$plugin|common/shape\.h|backends/mlu_emu/(bang|plan|kernels|operators).*"
allow backends/mlu_emu "$plugin|$shared|backends/mlu_emu/.*"
allow test/reference "mluops/problem\.h|test/reference/.*"
allow bench "$public|mluops/problem\.h|bench/.*|test/reference/.*|test/support/.*"

exit $failed
