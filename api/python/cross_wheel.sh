# What build_wheel_macos.sh and build_wheel_windows.sh share; sourced at the project's root.
# shellcheck shell=bash disable=SC2034  # the variables are for the scripts

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

# cross_wheel SYSTEM TAG READER OUT [DEFINE ...]: builds the wheel of a system (macOS, Windows) with its toolchain file
# and the CMake definitions, gives it the platform's tag and copies it into the folder OUT. READER is the package that
# reads the system's libraries. Sets build and raw, the folders of the build and of its wheel, and wheel, its name.
cross_wheel() {
  local system=$1 platform=${1,,} tag=$2 reader=$3 out=$4 tools=build/wheel-tools define options
  shift 4
  build=build/wheel-$platform raw=build/wheel-raw-$platform
  say "tools of the wheel"
  [ -x "$tools/bin/pip" ] || python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet build 'scikit-build-core>=0.10' wheel "$reader"
  PATH="$PWD/$tools/bin:$PATH"
  "cmake/$platform-sysroot.sh"

  options=(-Cbuild-dir="$build" "-Ccmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-$platform.cmake")
  for define in MLUOPS_OPENMP=OFF "$@"; do options+=("-Ccmake.define.$define"); done
  if command -v ccache >/dev/null; then
    options+=(-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache -Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  say "building the library for $system"
  rm -rf "$raw"
  python -m build --wheel --no-isolation --outdir "$raw" "${options[@]}" . >"$raw.log" 2>&1 || {
    tail -n 40 "$raw.log" >&2
    exit 1
  }
  # The build names the machine it runs on.
  python -m wheel tags --remove --platform-tag "$tag" "$raw"/mluops-*.whl >/dev/null
  wheel=$(basename "$raw"/mluops-*-"$tag".whl)
  cp "$raw/$wheel" "$out"
}
