#!/usr/bin/env bash
# On a Mac with arm64 or on Windows, in Git's bash: the numpy tests and those of PyTorch's operators, on a Mac also with
# tensors on device mps, with a wheel that `./run wheel --macos` or `--windows` made.
# Usage: wheel_native.sh macos|windows [WHEEL]
set -euo pipefail
cd "$(dirname "$0")/../.."
system=${1:-}
case "$system $(uname -s) $(uname -m)" in
  "macos Darwin arm64") base=python3 programs=bin tag=macosx_11_0_arm64 ;;
  "windows MINGW"*" x86_64") base=python programs=Scripts tag=win_amd64 ;;
  *)
    echo "Skipped: test-$system: this is $(uname -s) on $(uname -m)"
    exit 0
    ;;
esac
wheel=${2:-$(ls -t dist/mluops-*-"$tag".whl | head -n 1)}
venv=build/venvs/$system
[ -d "$venv" ] || "$base" -m venv "$venv"
programs=$venv/$programs
"$programs/pip" install --quiet numpy pytest torch==2.13.0 onnx onnxscript onnxruntime
if [ "$system" = macos ]; then
  "$programs/pip" install --quiet delocate
  "$programs/delocate-listdeps" --all "$wheel"
fi
"$programs/pip" install --quiet --force-reinstall --no-deps "$wheel"
"$programs/python" -m mluops
files=()
for name in numpy numpy_doors arguments fuzz operators points voxels dcn groups rotated_iou elsewhere onnx onnx_boxes; do
  files+=("test/python/test_$name.py")
done
"$programs/python" -m pytest -q "${files[@]}"
"$programs/python" - <<'TEXT'
import torch, mluops.torch as mt
if torch.backends.mps.is_available():
    boxes = torch.tensor([[0., 0, 9, 9], [0, 0, 9, 8], [20, 20, 29, 29]])
    scores = torch.tensor([0.5, 0.9, 0.7])
    found = mt.nms(boxes.to("mps"), scores.to("mps"), 0.5)[1]
    assert found.device.type == "mps" and found.tolist() == [1, 2], found
    print("mps: nms")
    image = torch.rand(1, 3, 8, 8)
    rois = torch.tensor([[0., 1, 1, 6, 5]])
    found = mt.roi_align(image.to("mps"), rois.to("mps"), 2)
    assert found.device.type == "mps" and torch.equal(found.cpu(), mt.roi_align(image, rois, 2))
    print("mps: roi_align")
TEXT
