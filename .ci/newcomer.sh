#!/usr/bin/env bash
# A newcomer's first minutes: ./run bench in a fresh copy of the committed tree, nothing compiled before. Tells when the
# first row came and what all took. Fails over the limit: processor seconds of everything, by two cores; a quiet machine
# with two takes about that long, and five minutes are promised. The default leaves room for busy machines.
# Usage: .ci/newcomer.sh [limit in seconds]
set -euo pipefail
limit=${1:-600}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$(dirname "$0")/.." archive HEAD | tar -x -C "$copy"
cd "$copy"
export CCACHE_DISABLE=1
begin=$SECONDS first=none
TIMEFORMAT='%U %S'
{ time ./run bench >rows 2>progress; } 2>cpu &
while kill -0 $! 2>/dev/null; do
  if [ "$first" = none ] && grep -q ' ok ' rows 2>/dev/null; then first=$((SECONDS - begin)); fi
  sleep 1
done
wait $! || {
  cat progress cpu
  tail -n 50 rows
  exit 1
}
spent=$(awk '{ printf "%d", ($1 + $2) / 2 }' cpu)
tail -n 5 rows
echo "verdict: first row after $first s, all after $((SECONDS - begin)) s; $spent s of two cores, at most $limit"
[ "$spent" -le "$limit" ]
