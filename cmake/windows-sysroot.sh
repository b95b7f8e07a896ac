#!/bin/sh
# Fills build/windows with Highway for Windows and licences. Quick when it is there.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/windows
[ -f "$root/complete" ] && exit 0

rm -rf "$root"
cmake/highway-source.sh windows
cp /usr/share/doc/gcc-mingw-w64-x86-64-posix-runtime/copyright "$root/licenses/gcc.txt"
cp /usr/share/doc/mingw-w64-x86-64-dev/copyright "$root/licenses/mingw-w64.txt"
touch "$root/complete"
