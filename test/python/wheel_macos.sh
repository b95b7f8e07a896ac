#!/usr/bin/env bash
# On a Mac with arm64: the numpy tests and those of PyTorch's operators, also with tensors on device mps, with a wheel
# that `./run wheel --macos` made. Usage: wheel_macos.sh [WHEEL]
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "$(uname -s) $(uname -m)" != "Darwin arm64" ]; then
  echo "Skipped: test-macos: this is $(uname -s) on $(uname -m), no Mac with arm64"
  exit 0
fi
wheel=${1:-$(ls -t dist/mluops-*-macosx_11_0_arm64.whl | head -n 1)}
venv=build/venvs/macos
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet numpy pytest torch==2.13.0 onnx onnxscript onnxruntime delocate
"$venv/bin/delocate-listdeps" --all "$wheel"
"$venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
"$venv/bin/python" -m mluops
files=()
for name in numpy numpy_doors arguments fuzz operators points voxels dcn groups rotated_iou elsewhere onnx; do
  files+=("test/python/test_$name.py")
done
"$venv/bin/python" -m pytest -q "${files[@]}"
"$venv/bin/python" - <<'TEXT'
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
