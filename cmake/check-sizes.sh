#!/usr/bin/env bash
# Fails where a kernel could get less memory than it asks for, or an index nobody can answer for: sizes of working
# memory are given factor by factor, so that the product is checked in one place (backends/cpu/runtime/arena.h), and
# floats become integers in one function (runtime/index.h). And where an operator would round a number of double.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
fail=0
find_bad() {  # what it says, pattern
  local found
  found=$(grep -rnE "$2" backends/cpu --include='*.h' --include='*.cpp' |
    grep -v -e '^backends/cpu/runtime/arena\.' -e '^backends/cpu/runtime/index\.h') || return 0
  echo "$found" >&2
  echo "$1" >&2
  fail=1
}
find_bad 'a product inside allocate: give its factors one by one' \
  '(allocator[a-z_]*\.allocate<[^;]*>|reserve_array<[^;]*>|(arena|entries|images)\.reserve)\(.* [*] '
find_bad 'a cast of a float to an integer: use index_of' \
  'static_cast<std::u?int(8|16|32|64)_t>\((std::(floor|ceil|round|clamp|min|max|fmin|fmax|abs|sqrt)\(|to_acc\(|static_cast<(double|float|A)>)'
if found=$(grep -nE '^ +(const )?float ' common/op/*.h | grep -v 'float soft_nms_sigma\|float offset = 0\|float [a-z_]* = {};'); then
  echo "$found" >&2
  echo 'a float argument of an operator: make it a Scalar (common/scalars.h), or calls in double would compute with a rounded number' >&2
  fail=1
fi
exit $fail
