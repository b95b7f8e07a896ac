#!/usr/bin/env bash
# Variables, loaded code and written files go through common/trust.h and mluops/_trust.py (SECURITY.md). Prints every
# other place that reads a variable, loads code or writes a file, but those argued here.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

failed=0

# only WHAT REGEX FILES...: in the library, the backends, the plugins and the replay tool, only these files may match.
only() {
  local what=$1 regex=$2 line
  shift 2
  while IFS= read -r line; do
    for file in "$@"; do [ "${line%%:*}" = "$file" ] && continue 2; done
    echo "trust: $line: $what goes through common/trust.h or mluops/_trust.py (cmake/check-trust.sh)"
    failed=1
  done < <(grep -rnE --include='*.h' --include='*.cpp' "$regex" api common backends plugins test/replay | grep -vE '_test\.cpp:' || true)
}

# Settings that name neither code nor files. cncc looks for its compiler in PATH as execvp does.
only "an environment variable" '\b(secure_)?getenv *\(' common/trust.cpp common/env.cpp common/handle.cpp \
  backends/cpu/backend.cpp backends/mlu_emu/device/settings.cpp backends/mlu_emu/neuware/cncc/main.cpp \
  api/python/mluops/mlu/include/utils/cnlog.h
only "loading code" '\b(dlopen|LoadLibrary[AW]?) *\(' common/shared_object.cpp
# cncc writes the file that -o names, as a compiler; mluops_check and cncc make temporary files by mkstemp.
only "writing a file" '\bofstream\b|\b(fopen|freopen|creat|openat) *\(|(^|[ (=!])(::)?open\(' common/trust.cpp \
  backends/mlu_emu/neuware/cncc/main.cpp backends/mlu_emu/neuware/cncc/process.cpp backends/mlu_emu/device/json.h

# The Python package: code is loaded where a rule was asked first.
while IFS= read -r line; do
  case ${line%%:*} in
    api/python/mluops/_library.py | api/python/mluops/mlu/_glue.py | api/python/mluops/mlu/cpp_extension.py) ;;
    *)
      echo "trust: $line: loading code goes through mluops/_trust.py (cmake/check-trust.sh)"
      failed=1
      ;;
  esac
done < <(grep -rnE --include='*.py' 'CDLL\([^N]|load_library\(' api/python/mluops || true)

exit $failed
