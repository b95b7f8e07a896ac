#!/usr/bin/env bash
# Builds the documentation site into build/site: pages and Python reference by MkDocs, C reference by Doxygen. Fails on a broken
# link. MLUOPS_VENVS names the folder of virtual environments (build/venvs).
set -euo pipefail
cd "$(dirname "$0")/../.."
environment=$(realpath -m "${MLUOPS_VENVS:-build/venvs}")/site
if ! cmp -s cmake/site/requirements.txt "$environment/complete"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet -r cmake/site/requirements.txt
  cp cmake/site/requirements.txt "$environment/complete"
fi
mkdir -p build
"$environment/bin/python" cmake/site/stage.py
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --quiet --config-file build/mkdocs.yml
doxygen cmake/site/Doxyfile
test -f build/site/index.html
test -f build/site/c/index.html
echo "verdict: $(find build/site -name '*.html' | wc -l) pages in build/site, every link leads somewhere"
