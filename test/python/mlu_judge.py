"""The judge of kernels, `python -m mluops.neuware check`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mlu_setup import device, torch  # noqa: F401

CLASSROOM = Path(__file__).resolve().parents[2] / "examples" / "classroom"
MISTAKES = {"copy_chunks": "never written", "elementwise": "outside of the tensor's",
            "reduction": "written by another task", "transpose": "WRONG", "matmul": "still in flight"}


def check(kernel, reference, *options):
    done = subprocess.run([sys.executable, "-m", "mluops.neuware", "check", str(kernel), "--reference", str(reference),
                           *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def judged(name, *options):
    reference = CLASSROOM / (name.replace("_mended", "") + ".py")
    return check(CLASSROOM / f"{name}.mlu", reference, *options)


@pytest.mark.parametrize("name", [*MISTAKES] if os.environ.get("MLUOPS_TEST_CLASSROOM") else ["reduction"])
def test_mistakes_are_found_and_what_is_mended_is_right(device, name):
    status, text = judged(name)
    assert status == (1 if name == "transpose" else 3) and MISTAKES[name] in text, text
    status, text = judged(f"{name}_mended")
    assert status == 0 and "right" in text and "modelled time" in text, text


AFFINE = r"""
#include <bang.h>
#include <framework/core/MLUStream.h>
#include <torch/extension.h>
__nram__ float x[64], w[64], b[64];
__mlu_entry__ void affine(float *out, const float *in, const float *weight, const float *bias, int rows, int n, float k) {
  __memcpy(w, weight, n * 4, GDRAM2NRAM);
  __memcpy(b, bias, n * 4, GDRAM2NRAM);
  for (int row = 0; row < rows; ++row) {
    __memcpy(x, in + row * n, n * 4, GDRAM2NRAM);
    __bang_mul(x, x, w, n);
    __bang_mul_scalar(x, x, k, n);
    __bang_add(x, x, b, n);
    __memcpy(out + row * n, x, n * 4, NRAM2GDRAM);
  }
}
torch::Tensor bang_func(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int features, double factor) {
  torch::Tensor y = torch::empty_like(x);
  affine<<<{1, 1, 1}, cnrtFuncTypeBlock, torch_mlu::getCurMLUStream()>>>(y.data_ptr<float>(), x.data_ptr<float>(),
      weight.data_ptr<float>(), bias.data_ptr<float>(), x.size(0), features, factor);
  return y;
}
"""
AFFINE_REFERENCE = """
import torch
class Model(torch.nn.Module):
    def __init__(self, features, factor=3.0):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(features))
        self.weight = torch.nn.Parameter(torch.randn(features))
        self.factor = factor
    def forward(self, x):
        return x * self.weight * self.factor + self.bias
def get_inputs(): return [torch.randn(5, 64)]
def get_init_inputs(): return [64]
"""


def test_the_judge_passes_weights_and_arguments_by_default(device, tmp_path):
    kernel, reference = tmp_path / "affine.mlu", tmp_path / "affine.py"
    kernel.write_text(AFFINE)
    reference.write_text(AFFINE_REFERENCE)
    status, text = check(kernel, reference)
    assert status == 0, text
    reference.write_text(AFFINE_REFERENCE.replace(", factor=3.0", "").replace("self.factor = factor", "self.factor = 3.0"))
    status, text = check(kernel, reference)
    assert status == 2 and "parameter factor of the function: the reference has no number left" in text


def test_the_judge_has_modules_in_either_mode(device, tmp_path):
    reference, kernel = tmp_path / "module.py", tmp_path / "kernel.mlu"
    reference.write_text("""
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
    def forward(self, x): return self.norm(x)
def get_inputs(): return [torch.tensor([[1.0], [3.0]]).expand(2, 4) * 100]
def get_init_inputs(): return []
""")
    kernel.write_text("#include <torch/extension.h>\ntorch::Tensor bang_func(torch::Tensor x) "
                      "{ return (x - x.mean(0)) / x.std(0, false); }\n")
    status, text = check(kernel, reference)
    assert status == 1 and "right against the module in training mode: --train" in text, text
    status, text = check(kernel, reference, "--train")
    assert status == 0, text


def test_arguments_go_by_type_then_name_then_order(device):
    from mluops.mlu._arguments import Parameter, bind, initial_of, parameters, state_of
    wanted = parameters("std::vector<torch::Tensor> f(const torch::Tensor &x, int n, std::vector<int64_t> sizes = {1, 2},"
                        " torch::Tensor weight, double eps, std::pair<int, int> p, torch::Tensor)")
    assert wanted == [Parameter("const torch::Tensor &", "x"), Parameter("int", "n"),
                      Parameter("std::vector<int64_t>", "sizes"), Parameter("torch::Tensor", "weight"),
                      Parameter("double", "eps"), Parameter("std::pair<int, int>", "p"), Parameter("torch::Tensor", "")]
    x, weight, other = torch.zeros(3), torch.ones(2), torch.zeros(2)
    named = [("first", 5), ("eps", 1e-3), ("second", [3, 4]), ("third", (1, 2)), ("other", other), ("weight", weight)]
    bound = bind(wanted, [x], named)
    assert bound[0] is x and bound[1:3] == [5, [3, 4]] and bound[3] is weight and bound[4:6] == [1e-3, (1, 2)]
    assert bound[6] is other
    assert bind(parameters("int f(int n, float x)"), [torch.tensor(7), torch.tensor(0.5)], []) == [7, 0.5]
    assert bind(parameters("int f(double scale)"), [], [("scale", None)]) == [0]
    assert parameters("void f()") == parameters("void f(void)") == []
    norm = torch.nn.BatchNorm1d
    assert dict(initial_of(norm, [4]))["eps"] == 1e-5
    assert [name for name, _ in state_of(norm(4))] == ["weight", "bias", "running_mean", "running_var",
                                                       "num_batches_tracked"]


def test_large_outputs_are_compared_in_parts(monkeypatch):
    from mluops.neuware.command import check as judge
    monkeypatch.setattr(judge, "_CHUNK", 4)
    want = torch.arange(10.0).reshape(2, 5)
    got = want.clone()
    got[1, 1], got[1, 4] = 6.5, float("nan")
    told = judge._compared(0, got, want, 1e-3)
    assert not told["right"] and "2 of 10 values" in told["text"] and "at [1, 1]: 6.5, 6 was wanted" in told["text"]
    assert judge._compared(0, want, want, 1e-3)["right"]


def test_the_judge_says_what_it_misses(device, tmp_path):
    empty = tmp_path / "empty.py"
    empty.write_text("")
    status, text = check(CLASSROOM / "copy_chunks.mlu", empty)
    assert status == 2 and "has no Model" in text
    status, text = check("no_such.mlu", empty)
    assert status == 2 and "no such file" in text
