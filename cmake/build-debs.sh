#!/usr/bin/env bash
# Builds libmluops1, libmluops-dev, mluops-tools and mluops-neuware into dist/ and uses each, unpacked into an empty
# folder: the library and headers by way of CMake and of pkg-config, the tools by running them, the toolchain by an
# example.
# Usage: cmake/build-debs.sh [output directory]
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
build=$PWD/build/deb
root=$build/root

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

cmake/install-deps.sh dev deb
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
say "building"
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DMLUOPS_BUILD_TESTS=OFF \
  "${launcher[@]}" >"$build.log"
cmake --build "$build"
(cd "$build" && rm -f ./*.deb && cpack -G DEB >>"$build.log")

say "using what is in the packages"
rm -rf "$root"
for package in "$build"/*.deb; do
  dpkg-deb --info "$package" | grep -E '^ (Package|Version|Depends):'
  dpkg-deb -x "$package" "$root"
done
libdir=$(dirname "$(find "$root" -name 'libmluops.so.1')")
export LD_LIBRARY_PATH=$libdir

cmake -G Ninja -S test/consumer/project -B "$build/consumer" -DCMAKE_PREFIX_PATH="$root/usr" >>"$build.log"
cmake --build "$build/consumer" >>"$build.log"
"$build/consumer/sample"
"$build/consumer/abi"

export PKG_CONFIG_LIBDIR=$libdir/pkgconfig
g++ -std=c++11 test/consumer/project/sample.cpp $(pkg-config --cflags --libs mluops) -o "$build/sample"
"$build/sample"

"$root/usr/bin/mluops_explain" carafe_forward >/dev/null
"$root/usr/bin/mluops_bench" --quick --op three_interpolate_forward --dtype float --backend cpu --threads 1
cmake -G Ninja -S examples/bang -B "$build/bang" -DNEUWARE_HOME="$root/usr/neuware" >>"$build.log"
cmake --build "$build/bang" >>"$build.log"
LD_LIBRARY_PATH="$root/usr/neuware/lib64" "$build/bang/vector_add"
cp "$build"/*.deb "$out"
ls -l "$out"/*.deb
