"""Type checkers and editors see the functions of mluops and mluops.torch with their signatures."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
import mluops  # noqa: E402

SEARCHED = str(Path(mluops.__file__).resolve().parents[1])
RIGHT = """
from typing import Tuple
import torch
import mluops
import mluops.torch as mt

pooled: torch.Tensor = mt.roi_align(torch.zeros(1, 3, 8, 8), torch.zeros(1, 5), (7, 7), spatial_scale=0.5, aligned=False)
layer: mt.CARAFEPack = mt.CARAFEPack(channels=64, scale_factor=2)
kept: Tuple[torch.Tensor, torch.Tensor] = mt.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
nearest: torch.Tensor = mt.knn(3, torch.zeros(1, 5, 3))
threads: int = mluops.num_threads()
"""
WRONG = """
import torch
import mluops.torch as mt

mt.roi_align(torch.zeros(1, 3, 8, 8), torch.zeros(1, 5), (7, 7), scale=0.5)
mt.roi_aline(torch.zeros(1, 3, 8, 8))
"""


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def errors_of_mypy(tmp_path, text):
    program = tmp_path / "program.py"
    program.write_text(text)
    installed = Path(SEARCHED).name == "site-packages"  # which mypy searches, and refuses to be told of
    environment = os.environ if installed else {**os.environ, "MYPYPATH": SEARCHED}
    result = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", tmp_path / "cache",
                             program], capture_output=True, text=True, env=environment, timeout=600)
    assert result.returncode in (0, 1), result.stdout + result.stderr  # 2: it could not look
    return [line for line in result.stdout.splitlines() if ": error:" in line]


def errors_of_pyright(tmp_path, text):
    (tmp_path / "program.py").write_text(text)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [SEARCHED], "typeCheckingMode": "strict"}))
    result = subprocess.run([sys.executable, "-m", "pyright", "-p", tmp_path, "--pythonpath", sys.executable], capture_output=True,
                            text=True, timeout=600)
    return [line for line in result.stdout.splitlines() if " error: " in line]


@pytest.mark.parametrize("checker, errors_of", [("mypy", errors_of_mypy), ("pyright", errors_of_pyright)])
def test_checkers_accept_right_programs_and_refuse_wrong_ones(tmp_path, checker, errors_of):
    needs(checker)
    assert errors_of(tmp_path, RIGHT) == []
    wrong = errors_of(tmp_path, WRONG)
    assert any("scale" in line for line in wrong) and any("roi_aline" in line for line in wrong), wrong


def test_editors_complete_names():
    needs("jedi")
    import jedi

    script = jedi.Script("import mluops.torch as mt\nmt.roi_al", project=jedi.Project(SEARCHED))
    assert [found.name for found in script.complete(2, 9)] == ["roi_align", "roi_align_rotated"]
