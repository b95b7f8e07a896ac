#!/bin/sh
# Fills build/SYSTEM with Highway for another system, built from Debian's source by cmake/toolchain-SYSTEM.cmake. Nothing
# is installed, no root needed. The folder may have other files already. Usage: highway-source.sh SYSTEM
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/$1
source=$root/source

rm -rf "$source"
mkdir -p "$source/lists/partial" "$source/cache/archives/partial" "$source/parts" "$root/licenses"
cat >"$source/apt.conf" <<TEXT
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$source/parts";
Dir::State::Lists "$source/lists";
Dir::Cache "$source/cache";
APT::Sandbox::User "";
TEXT
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
  >"$source/parts/source.list"
(
  export APT_CONFIG="$source/apt.conf"
  cd "$source"
  apt-get -qq update
  apt-get -qq source --download-only highway
  mkdir highway
  tar -xf highway_*.orig.tar.* -C highway --strip-components 1
)
{
  cmake -G Ninja -S "$source/highway" -B "$source/build" -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-$1.cmake" "-DCMAKE_INSTALL_PREFIX=$root/usr" \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF &&
    cmake --build "$source/build" --target install
} >"$root/highway.log" 2>&1 || {
  tail -n 30 "$root/highway.log" >&2
  exit 1
}
mkdir -p "$root/usr/include/hwy/contrib"
cp -r "$source/highway/hwy/contrib/math" "$root/usr/include/hwy/contrib"  # headers alone
mkdir -p "$root/usr/lib/cmake/hwy"  # this release installs none
cat >"$root/usr/lib/cmake/hwy/hwy-config.cmake" <<'TEXT'
if(TARGET hwy::hwy)
  return()
endif()
add_library(hwy::hwy STATIC IMPORTED)
set_target_properties(hwy::hwy PROPERTIES IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/../../libhwy.a
                      INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR}/../../../include)
TEXT
cp "$source/highway/LICENSE" "$root/licenses/highway.txt"
