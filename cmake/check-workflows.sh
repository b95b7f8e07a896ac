#!/usr/bin/env bash
# Checks the workflow files for a public forge: their schema and their security, by check-jsonschema and zizmor from the
# package index; by actionlint as well, if it is installed. Their commands must be ./run commands or set up the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
workflows=(.github/workflows/*.yml)

others=$(grep -hE '^ *- run:' "${workflows[@]}" | sed 's/^ *- run: *//' |
  grep -vE '^(\./run [a-z]+|apt-get update && apt-get install -y git$|git config --global --add safe.directory "\$PWD"$)' || true)
if [ -n "$others" ]; then
  echo "workflows: wanted ./run commands, got: $others" >&2
  exit 1
fi

venv=${MLUOPS_VENVS:-build/venvs}/workflows
if [ ! -f "$venv/complete" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet check-jsonschema==0.39.0 zizmor==1.32.0
  touch "$venv/complete"
fi
"$venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows "${workflows[@]}"
"$venv/bin/zizmor" --offline --no-progress --config .github/zizmor.yml "${workflows[@]}"
if command -v actionlint >/dev/null; then actionlint "${workflows[@]}"; else echo "actionlint is not installed: left out"; fi
echo "${#workflows[@]} files clean"
