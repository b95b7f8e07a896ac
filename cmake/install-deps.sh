#!/bin/sh
# Installs what is missing of cmake/debian-packages.txt. Usage: install-deps.sh [group ...]
# Installs as root or through sudo; otherwise prints the apt-get line and fails. Quick if nothing is missing.
set -eu
list=$(dirname "$0")/debian-packages.txt

wanted=$(grep -v '^#' "$list" | grep -v ':' || true)
for group in "$@"; do
  wanted="$wanted $(sed -n "s/^$group: *//p" "$list")"
done

missing=""
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "mluop-host needs these Debian packages (or their like on this system):$missing" >&2
  exit 1
fi
if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo"
elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
  as_root="sudo"
else
  echo "Packages are missing and this user may not install them. Please run:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
