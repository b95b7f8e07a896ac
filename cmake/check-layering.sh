#!/usr/bin/env bash
# Holds every #include "..." of the tree against the arrows docs/HACKING.md allows. Prints offenders, fails if any.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

public='mlu_op\.h|mlu_op_ext\.h|cnrt\.h|cn_api\.h'
public="$public|mluops/op/[a-z0-9_]+\.h"
plugin="$public|mluops/(backend|problem|problem/[a-z0-9_]+)\.h|mluops/operators\.inc"
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
allow api/c "$plugin|mluops/capture\.h|api/c/.*|common/.*"
allow api/onnxruntime "$public|common/half\.h|api/onnxruntime/[a-z]+\.h"
allow common "$plugin|common/.*"
allow backends/cpu "$plugin|$shared|backends/cpu/.*"
cpu="$plugin|$shared|backends/cpu/runtime/[a-z0-9_-]+\.h"
allow backends/cpu/runtime "$cpu"
cpu="$cpu|backends/cpu/simd/[a-z0-9_-]+\.h"
allow backends/cpu/simd "$cpu"
allow backends/cpu/sampling "$cpu|backends/cpu/(sampling|scatter|layout)/[a-z0-9_/-]+\.h|backends/cpu/dispatch\.h"
allow backends/cpu/scatter "$cpu|backends/cpu/(layout|scatter)/[a-z0-9_-]+\.h"
allow backends/cpu/spatial "$cpu|backends/cpu/spatial/[a-z0-9_-]+\.h"
allow backends/cpu/layout "$cpu|backends/cpu/layout/[a-z0-9_-]+\.h"
for room in backends/cpu/kernels/*/; do  # an operator's room knows no other one
  room=kernels/$(basename "$room")
  allow "backends/cpu/$room" "$cpu|backends/cpu/(sampling|scatter|spatial|layout|$room)/[a-z0-9_/-]+\.h|backends/cpu/(dispatch|operators)\.h"
done
allow backends/mlu_emu/device "$plugin|common/half\.h|common/shape\.h|backends/mlu_emu/device/.*"
allow backends/mlu_emu/bang "$public|common/half\.h|backends/mlu_emu/(device|bang)/.*"
allow backends/mlu_emu/plan "$plugin|common/shape\.h|backends/mlu_emu/plan/.*"
allow backends/mlu_emu/kernels "$plugin|common/shape\.h|backends/mlu_emu/(bang|plan|kernels|operators).*"
allow backends/mlu_emu "$plugin|$shared|backends/mlu_emu/.*|(bang|neuware)\.h|page/page\.h"  # the latter: of the neuware prefix, for it
allow page "page/page\.h|source\.inc"
allow test/reference "mluops/problem\.h|mluops/problem/[a-z0-9_]+\.h|test/reference/.*"
allow test/cases "$plugin|test/reference/.*|test/cases/.*"
allow test/neuware "test/neuware/.*|test/support/sanitized\.h"
allow bench "$public|mluops/problem\.h|bench/.*|page/page\.h|test/reference/reference\.h|test/cases/.*"

# Doors of the Python package are thin over mluops.torch, never over each other. What installs mmcv's door is no module of its own.
if grep -rnE '^ *(from|import) +\.\.\.?(mmcv|dropin|onnxruntime)\b' api/python/mluops/{dropin,mmcv,torch,op} --include='*.py'; then
  echo "layering: a Python door imports another one"
  failed=1
fi

exit $failed
