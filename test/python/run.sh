#!/usr/bin/env bash
# Runs the Python tests.
#   run.sh [pytest args]             this tree's build, with the first python3 that has torch and pytest
#   run.sh --no-torch [pytest args]  this tree's build, with a python3 that has numpy and pytest (Debian's packages do);
#                                    what needs torch is skipped and named, unless that python3 has it
#   run.sh --torch [pytest args]     this tree's build, in an environment with PyTorch, mmcv-lite and mmengine that is
#                                    made once
#   run.sh --ci [pytest args]        builds the wheel and tests it installed, on PyTorch 2.13 (from the package index,
#                                    with mmcv-lite and mmengine) and on Debian's torch;
#                                    its numpy functions on every other Python from 3.9 that is here; small models;
#                                    without the tests marked long
#   run.sh --models [MODEL ...]      this tree's build under whole models of mmdet, mmdet3d, mmrotate, mmseg
#                                    (models/run.py), in an environment that is made once; without names, also the tests of
#                                    whole models in onnxruntime and on another device
#   run.sh --fuzz SECONDS            fuzz_numpy.py with this tree's build, in an environment with atheris that is made once
# PRESET picks the build (release), MLUOPS_VENVS the folder of virtual environments (build/venvs).
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
venvs=$(realpath -m "${MLUOPS_VENVS:-build/venvs}")
# Waiting threads sleep: spinning, they take processors from what else runs, and tests beside others take three times as long.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

has() { "$1" -c "import $2" >/dev/null 2>&1; }

# test_tree MODULES [pytest args]: with the first python3 that has them.
test_tree() {
  local modules=$1 python
  shift
  for python in python3 /usr/bin/python3 none; do
    has "$python" "$modules" && break
  done
  if [ "$python" = none ]; then
    say "Python tests: no python3 here has $modules"
    return 1
  fi
  test_with "$python" "$@"
}

# with_build COMMAND...: with this tree's package and build.
with_build() {
  PYTHONPATH=$root/api/python MLUOPS_LIBRARY=$root/build/${PRESET:-release}/api/libmluops.so.1 "$@"
}

test_with() {
  local python=$1
  shift
  with_build "$python" -m pytest -q test/python "$@"
}

# An environment is made once; a stamp beside it says it is complete.
environment() {
  local name=$1 base=$2
  shift 2
  [ -f "$venvs/$name/complete" ] && return
  say "environment $name"
  rm -rf "${venvs:?}/$name"
  "$base" -m venv $([ "$name" = debian ] && echo --system-site-packages) "$venvs/$name" &&
    "$venvs/$name/bin/pip" install --quiet "$@" &&
    touch "$venvs/$name/complete"
}

# From an empty folder, so that the installed package is what is tested.
test_installed() {
  local python=$venvs/$1/bin/python wheel=$2
  shift 2
  "$python" -m pip install --quiet --force-reinstall --no-deps "$wheel"
  local empty
  empty=$(mktemp -d)
  (cd "$empty" && env -u PYTHONPATH -u MLUOPS_LIBRARY "$python" -m pytest -q -c "$root/pyproject.toml" \
    --rootdir "$root" "$root/test/python" -m "not long" "$@")
  rmdir "$empty"
}

# python3.N, also behind version-switching shims.
test_other_pythons() {
  local wheel=$1 minor python
  shift
  for minor in 9 10 12 13 14; do
    python=$(PYENV_VERSION=3.$minor "python3.$minor" -c 'import sys; print(sys.executable)' 2>/dev/null) || continue
    if ! environment "python3.$minor" "$python" numpy pytest; then
      say "numpy functions on Python 3.$minor: skipped, no environment with numpy could be made"
      continue
    fi
    say "numpy functions on Python 3.$minor"
    test_installed "python3.$minor" "$wheel" -k 'test_numpy or test_package' "$@"
  done
}

# The first steps of a kernel author with the wheel alone: a new environment, an empty folder, the page's first kernel.
first_kernel() {
  local wheel=$1 folder begin=$SECONDS
  folder=$(mktemp -d)
  /usr/bin/python3 -m venv "$folder/venv"
  (
    cd "$folder"
    PATH=$folder/venv/bin:$PATH
    unset PYTHONPATH MLUOPS_LIBRARY NEUWARE_HOME
    pip install --quiet "$wheel"
    python -m mluops.neuware
    awk '/^```cpp/ { on = 1; next } /^```/ && on { exit } on' "$root/docs/kernel_author.md" >scale.mlu
    cncc -O2 scale.mlu -o scale
    [ "$(./scale)" = 6 ]
  )
  rm -rf "$folder"
  say "verdict: first kernel from the wheel, $((SECONDS - begin)) s"
}

test_ci() {
  local wheel
  wheel=$(api/python/build_wheel.sh | tee /dev/stderr | tail -1)
  first_kernel "$wheel"
  make_torch_environment
  environment debian /usr/bin/python3 'numpy<2' 'opencv-python<4.11' mmcv-lite mmengine
  say "wheel on PyTorch 2.13"
  test_installed torch "$wheel" "$@"
  say "wheel on Debian's torch"
  test_installed debian "$wheel" "$@"
  test_other_pythons "$wheel" "$@"
  if make_models_environment; then
    say "models"
    env -u PYTHONPATH -u MLUOPS_LIBRARY "$venvs/models/bin/python" test/python/models/run.py --repeats 1 pointnet2_ssg
  else
    say "Skipped: models, for want of an environment with mmdet, mmdet3d, mmrotate and mmsegmentation (see above)"
  fi
}

# PyTorch and mmengine come from the environment torch. mmdet wants mmcv-lite below 2.2; mmdet3d's dependencies are many and
# large, and models/absent.py stands in for them; mmrotate imports e2cnn, whose own are for what no model here has.
make_models_environment() {
  make_torch_environment
  [ -f "$venvs/models/complete-2" ] && return
  say "environment models"
  rm -rf "${venvs:?}/models"
  "$venvs/torch/bin/python" -m venv "$venvs/models" || return 1
  local site='import sysconfig; print(sysconfig.get_paths()["purelib"])' pip="$venvs/models/bin/pip"
  "$venvs/torch/bin/python" -c "$site" >"$("$venvs/models/bin/python" -c "$site")/torch.pth"
  "$pip" install --quiet --no-deps mmcv-lite==2.1.0 mmdet==3.3.0 mmdet3d==1.4.0 mmsegmentation==1.2.2 \
    mmrotate==1.0.0rc1 e2cnn==0.2.3 &&
    "$pip" install --quiet scipy pycocotools shapely terminaltables prettytable ftfy regex six tqdm &&
    touch "$venvs/models/complete-2"
}

run_models() {
  with_build "$venvs/models/bin/python" test/python/models/run.py "$@"
  [ $# -gt 0 ] || run_models_elsewhere
}

run_models_elsewhere() {
  has "$venvs/models/bin/python" transformers || "$venvs/models/bin/pip" install --quiet transformers
  with_build "$venvs/models/bin/python" -m pytest -q test/python/test_onnx_models.py test/python/test_elsewhere_models.py
}

make_torch_environment() {
  environment torch python3 torch==2.13.0 numpy pytest vermin mmcv-lite mmengine onnx onnxscript onnxruntime mypy pyright jedi jax
}

fuzz_numpy() {
  local seconds=$1 found=$root/build/fuzz/corpus/python
  environment atheris python3 numpy pytest atheris
  mkdir -p "$found"
  with_build "$venvs/atheris/bin/python" test/python/fuzz_numpy.py -max_total_time="$seconds" -max_len=256 -timeout=10 \
    -print_final_stats=1 -artifact_prefix="$root/build/fuzz/finding_python-" "$found"
}

case ${1:-} in
  --fuzz)
    fuzz_numpy "$2"
    ;;
  --ci)
    shift
    test_ci "$@"
    ;;
  --no-torch)
    shift
    test_tree numpy,pytest "$@"
    ;;
  --torch)
    shift
    make_torch_environment
    test_with "$venvs/torch/bin/python" "$@"
    ;;
  --models)
    shift
    make_models_environment
    run_models "$@"
    ;;
  *) test_tree torch,numpy,pytest "$@" ;;
esac
