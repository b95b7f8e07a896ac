"""The examples, for a few steps each."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(*arguments, **environment):
    result = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                            env={**os.environ, **environment})
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("layout", [[], ["--channels-last"]], ids=["nchw", "channels_last"])
def test_training_lowers_the_loss_and_saves_pictures(tmp_path, layout):
    text = run(EXAMPLES / "carafe_train.py", "--steps", "15", "--out", tmp_path, *layout)
    assert "loss" in text
    before, after = ((tmp_path / name).read_bytes() for name in ("before.png", "after.png"))
    assert before[:8] == after[:8] == b"\x89PNG\r\n\x1a\n" and before != after


def test_two_processes_have_the_gradients_of_one():
    text = run(EXAMPLES / "carafe_ddp.py", "--steps", "2")
    assert text.count("gradients equal the single process") == 2 and "step 1" in text


def test_torchrun_starts_two_processes():
    needs_torch(0, "python -m torch.distributed.run is tested with torch 2")
    text = run("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", EXAMPLES / "carafe_ddp.py", "--steps", "2")
    assert text.count("gradients equal the single process") == 2 and "step 1" in text


def needs(*modules):
    for module in modules:
        pytest.importorskip(module)


@pytest.mark.parametrize("name, modules, says", [
    ("torch_roi_align", [], "gradient checked"),
    ("numpy_three_interpolate", ["numpy"], "checked against numpy"),
    ("mmcv_nms", ["mmcv"], "kept boxes [0, 2]"),
])
def test_scripts_of_the_doors(name, modules, says):
    needs(*modules)
    assert says in run(EXAMPLES / "python" / f"{name}.py")


def needs_torch(minor, why):
    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, minor):
        pytest.skip(why)


def test_serving_with_onnxruntime():
    needs("onnx", "onnxscript", "onnxruntime")
    needs_torch(8, "the exporter knows custom operators from torch 2.8 on")
    assert "onnxruntime served 8 requests" in run(EXAMPLES / "python/serve_onnxruntime.py")


@pytest.mark.long
def test_serving_with_aotinductor():
    needs_torch(6, "AOTInductor makes packages from torch 2.6 on")
    # A single compilation gains nothing from precompiled headers.
    text = run(EXAMPLES / "python/serve_aotinductor.py", TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS="0",
               AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL="O0")
    assert "AOTInductor served 8 requests" in text


def test_ray_data_on_two_workers(tmp_path):
    needs("ray.data", "PIL")
    text = run(EXAMPLES / "python/ray_offline_inference.py", "--workers", "2", "--out", tmp_path / "detections.json")
    assert text.startswith("12 images, ") and len(json.loads((tmp_path / "detections.json").read_text())) == 12


def test_the_script_of_dropin_runs_untouched():
    assert "output (1, 50, 32)" in run("-m", "mluops.dropin", EXAMPLES / "python/dropin_deformable_attention.py")


@pytest.mark.parametrize("name", [pytest.param("psanet", marks=pytest.mark.long), "roi_operators"])
def test_notebooks_print_what_they_show(name):
    """Their numbers may differ from torch to torch."""
    pytest.importorskip("matplotlib")
    cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    shown = [line for cell in code for output in cell["outputs"] if "text" in output for line in output["text"]]
    script = "\n".join("".join(cell["source"]) for cell in code)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600,
                            env={**os.environ, "MPLBACKEND": "Agg"})
    assert result.returncode == 0, result.stderr

    def words(text):
        return [re.sub(r"[-+]?[0-9.]+", "#", line).split() for line in text.splitlines()]

    assert words(result.stdout) == words("".join(shown)) != []
