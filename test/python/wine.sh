# What wheel_windows.sh and windows_short.sh share; sourced at the project's root. Sets work, the folder of their files.
# shellcheck shell=bash disable=SC2034  # the variables are for the scripts
if ! command -v wine >/dev/null; then
  echo "Skipped: test-windows: wine is missing (Debian: apt-get install --no-install-recommends wine wine64)"
  exit 0
fi
work=$PWD/build/wine
export WINEPREFIX=$work/prefix WINEDEBUG=-all

start_wine() {
  mkdir -p "$work"
  [ -d "$WINEPREFIX" ] || wineboot --init >/dev/null 2>&1 || true
  # Started ahead, its output elsewhere: wine's services live as long as any program, and a pipe that they inherit from
  # the first one stays open when that has ended.
  trap 'wineserver -k || true' EXIT
  wineserver -p >/dev/null 2>&1 || true  # it may run already
  wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f </dev/null >/dev/null 2>&1
}

# A program in C or C++. After an unhandled exception, wine's debugger may end it with status 0.
run_program() {
  timeout 1800 wine "$@" </dev/null >"$work/said.txt" 2>&1 && ! grep -q 'Unhandled exception' "$work/said.txt" || {
    tail -n 60 "$work/said.txt"
    return 1
  }
}

# run_example HEADERS LIBRARY: the C example on both backends, compiled against these headers and import library.
run_example() {
  local wanted='2.5 4.5 10.5 12.5' backend answer
  x86_64-w64-mingw32-gcc-posix -O2 -std=c99 "-I$1" examples/c/roi_align.c "$2" -o "$work/roi_align.exe"
  for backend in cpu mlu_emu,cpu; do
    answer=$(MLUOP_BACKEND=$backend wine "$work/roi_align.exe" | tr -d '\r' | tr '\n' ' ')
    [ "$answer" = "$wanted " ] || { echo "C example on $backend: wanted $wanted, got $answer" && exit 1; }
    echo "C example on $backend: $answer"
  done
}

# run_probe HEADERS DLL TIMES: how processes end and unload the library.
run_probe() {
  local runtime scenario time
  x86_64-w64-mingw32-g++-posix -O1 -std=c++20 -static -I. "-I$1" test/process/windows_probe.cpp -o "$work/probe.exe"
  for runtime in threads emulator; do
    for scenario in no_thread_stays reload exit_in_a_call; do
      for ((time = 0; time < $3; ++time)); do
        run_program "$work/probe.exe" "$2" $scenario $runtime ||
          { echo "process, $scenario, $runtime: failed" && exit 1; }
      done
      echo "process, $scenario, $runtime: ended well"
    done
  done
}

# run_tests BUILD NAME [ARGUMENT ...]: a C++ test program of a build.
run_tests() {
  local build=$1 name=$2
  shift 2
  run_program "$build/test/$name/test_$name.exe" --gtest_brief=1 "$@"
  sed -nE "s/^\[  PASSED  \] ([0-9]+) tests?.*/C++ tests, $name: \1 passed/p" "$work/said.txt"
}
