#!/bin/sh
# Fills build/aarch64-sysroot with Debian's arm64 libraries and Python, beside the system's own packages: nothing is
# installed, no root needed. Quick when it is there.
set -eu
cd "$(dirname "$0")/.."
packages="libhwy-dev libhwy1 libtbb-dev libtbb12 libtbbmalloc2 libtbbbind-2-5 libgtest-dev
  python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1 libffi8 zlib1g"
root=$PWD/build/aarch64-sysroot
stamp=$root/complete
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$packages" ] && exit 0

rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial" "$root/apt/packages"
cat >"$root/apt/apt.conf" <<TEXT
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State::status "/dev/null";
Dir::State::lists "$root/apt/lists";
Dir::Cache "$root/apt/cache";
TEXT
export APT_CONFIG="$root/apt/apt.conf"
apt-get -qq update
(cd "$root/apt/packages" && apt-get -qq download $packages)
for package in "$root"/apt/packages/*.deb; do dpkg-deb -x "$package" "$root"; done
rm -rf "$root/apt/lists" "$root/apt/cache"
echo "$packages" >"$stamp"
