#!/bin/sh
# Fills build/macos with a compiler for macOS on arm64, which is clang with Darwin's headers inside the package index's
# ziglang, and with Highway, built by it. Nothing is installed, no root needed. Quick when it is there.
set -eu
cd "$(dirname "$0")/.."
version=0.17.1
root=$PWD/build/macos
[ -f "$root/complete" ] && [ "$(cat "$root/complete")" = "$version" ] && exit 0

rm -rf "$root"
mkdir -p "$root/bin" "$root/licenses"
python3 -m venv "$root/venv"
"$root/venv/bin/pip" install --quiet "ziglang==$version"
zig=$(echo "$root"/venv/lib/python3*/site-packages/ziglang/zig)
for tool in cc c++ ar ranlib; do
  target=
  case $tool in cc | c++) target='-target aarch64-macos.11.0' ;; esac
  cat >"$root/bin/$tool" <<TEXT
#!/bin/sh
ZIG_GLOBAL_CACHE_DIR=\${ZIG_GLOBAL_CACHE_DIR:-$root/cache} exec "$zig" $tool $target "\$@"
TEXT
  chmod +x "$root/bin/$tool"
done
# Where libraries lie is written when they are linked.
ln -s "$(command -v true)" "$root/bin/install_name_tool"
cmake/highway-source.sh macos
cp "${zig%zig}lib/libcxx/LICENSE.TXT" "$root/licenses/libcxx.txt"
echo "$version" >"$root/complete"
