"""Extensions in BANG C for device mlu: compiled once, their kernels, faults, arguments and times."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from mlu_setup import device, torch  # noqa: F401

KERNEL = r"""
#include <bang.h>
#include <framework/core/MLUStream.h>
#include <torch/extension.h>
__nram__ float x[1024];
__mlu_entry__ void scale(float *out, const float *in, int n, float factor) {
  for (int begin = taskId * 1024; begin < n; begin += taskDim * 1024) {
    const int count = std::min(1024, n - begin);
    __memcpy(x, in + begin, count * sizeof(float), GDRAM2NRAM);
    __bang_mul_scalar(x, x, factor, count);
    __memcpy(out + begin, x, count * sizeof(float), NRAM2GDRAM);
  }
}
torch::Tensor FUNCTION(torch::Tensor x, double factor, int n) {
  TORCH_CHECK_VALUE(n >= 0, "n is negative");
  torch::Tensor y = torch::zeros_like(x);
  cnrtDim3_t dim = {4, 1, 1};
  scale<<<dim, cnrtFuncTypeUnion1, torch_mlu::getCurMLUStream()>>>(y.data_ptr<float>(), x.data_ptr<float>(), n, factor);
  return y;
}
"""


def scale_module(name, **options):
    from torch_mlu.utils.cpp_extension import load_inline
    return load_inline(name, f"torch::Tensor {name}(torch::Tensor x, double factor, int n);",
                       KERNEL.replace("FUNCTION", name), functions=[name], **options)


@pytest.fixture(scope="module")
def scale(device):
    return scale_module("scale_first").scale_first


def test_kernels_run_and_events_have_modelled_times(scale):
    x = torch.randn(5000)
    times = []
    for n in (5000, 5000, 1024):
        start, end = torch.mlu.Event(enable_timing=True), torch.mlu.Event(enable_timing=True)
        start.record()
        y = scale(x.mlu(), 3.0, n)
        end.record()
        end.synchronize()
        assert torch.equal(y.cpu()[:n], x[:n] * 3)
        times.append(start.elapsed_time(end))
    assert times[0] == pytest.approx(times[1], rel=1e-3) and 0 < times[2] < times[0]


def test_kernels_on_streams(scale):
    stream, x = torch.mlu.Stream(), torch.ones(100).mlu()
    on_other, on_default = torch.mlu.Event(), torch.mlu.Event()
    start = torch.mlu.Event()
    start.record(stream)
    with torch.mlu.stream(stream):
        y = scale(x, 2.0, 100)
    on_other.record(stream)
    on_default.record()
    torch.mlu.current_stream().wait_stream(stream)
    assert start.elapsed_time(on_other) > 0 and y.sum().item() == 200


def test_faults_are_raised_once(scale):
    """Where somebody waits or copies; the next kernel is fine."""
    x = torch.ones(100).mlu()
    scale(x, 2.0, 101)
    with pytest.raises(RuntimeError, match="scale.*outside of the tensor's 400 bytes"):
        torch.mlu.synchronize()
    scale(x, 2.0, 101)
    with pytest.raises(RuntimeError, match="outside of the tensor"):
        x.cpu()
    assert scale(x, 2.0, 100).sum().item() == 200
    with pytest.raises(RuntimeError, match="no block of device memory.*tensor.*mlu"):
        scale(torch.ones(100), 2.0, 100)
        torch.mlu.synchronize()


def test_arguments_are_checked(scale):
    x = torch.ones(4).mlu()
    for arguments, error, text in [((x, 1.0), TypeError, "takes 3 arguments, got 2"),
                                   ((1, 1.0, 4), TypeError, "a tensor was wanted, got int"),
                                   ((x, "1", 4), TypeError, "a number was wanted, got str"),
                                   ((x, 1.0, 4.0), TypeError, "an integer was wanted, got float"),
                                   ((x, 1.0, None), TypeError, "an integer was wanted, got NoneType"),
                                   ((x, 1.0, 1 << 40), OverflowError, "does not fit"),
                                   ((x, 1.0, -1), ValueError, "n is negative")]:
        with pytest.raises(error, match=text):
            scale(*arguments)
    assert scale(x, True, True).cpu().tolist() == [1, 0, 0, 0], "numbers may be bools"


def test_the_second_kernel_is_quick_and_the_third_time_nothing_is_compiled(scale):
    begin = time.monotonic()
    assert scale_module("scale_second").scale_second(torch.ones(4).mlu(), 2.0, 4).sum().item() == 8
    second = time.monotonic() - begin
    begin = time.monotonic()
    scale_module("scale_second")
    third = time.monotonic() - begin
    assert third < second / 3
    objects = list(Path(os.environ["TORCH_EXTENSIONS_DIR"]).glob("**/scale_second/*.o"))
    assert objects and all(b"pybind11" not in path.read_bytes() for path in objects), "it takes longer than all else"


def test_a_kernel_file_that_binds_itself(device, tmp_path):
    from torch_mlu.utils.cpp_extension import load
    source = tmp_path / "self_bound.mlu"
    bindings = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale_of, py::arg("x")); }'
    source.write_text(KERNEL.replace("FUNCTION", "function") + "torch::Tensor scale_of(torch::Tensor x) "
                      "{ return function(x, 2.0, x.numel()); }\n" + bindings)
    assert load("self_bound", str(source)).scale(x=torch.ones(4).mlu()).cpu().tolist() == [2, 2, 2, 2]


def test_objects_of_another_installation_are_compiled_anew(device, tmp_path, monkeypatch):
    from mluops.mlu import _build
    job = _build.Job(tmp_path / "a.cpp", tmp_path / "a.o", ["cc"])
    job.object.write_text("")
    job.object.with_suffix(".json").write_text(json.dumps(
        {"command": ["cc"], "inputs": {}, "installation": _build._installation()}))
    assert _build._up_to_date(job)
    monkeypatch.setattr(_build, "_installation", lambda: "another")
    assert not _build._up_to_date(job)


def test_the_first_kernel_waits_for_no_precompiled_header(device, tmp_path, monkeypatch, capfd):
    from torch_mlu.utils.cpp_extension import load_inline
    monkeypatch.setenv("MLUOPS_CACHE_DIR", str(tmp_path))
    source = KERNEL.replace("return y;", "return torch::cumsum(y, 0);").replace("FUNCTION", "summed")
    made = load_inline("summed", "torch::Tensor summed(torch::Tensor x, double factor, int n);", source, ["summed"])
    assert made.summed(torch.ones(4).mlu(), 2.0, 4).cpu().tolist() == [2, 4, 6, 8]
    assert not list(tmp_path.glob("**/*.gch"))
    assert re.search(r"compiling whole\.mlu with torch's headers \.\.\. \d+ s", capfd.readouterr().err)


def test_functions_that_a_source_names_come_from_their_headers(device, tmp_path):
    from mluops.mlu import _build
    source = tmp_path / "a.mlu"
    source.write_text("using namespace torch; auto y = cumsum(at::relu (x), 0); z = at::no_such_function(y); f = at::sin;")
    assert _build._functions(source)[1::2] == [f"ATen/ops/{name}.h" for name in ("cumsum", "relu", "sin")]
    assert not _build._wants_all(source)
    source.write_text("#include <torch/nn/modules/linear.h>\n")
    assert _build._wants_all(source)


def test_one_process_alone_is_the_first(device, tmp_path, monkeypatch):
    from mluops.mlu import _cache
    monkeypatch.setenv("MLUOPS_CACHE_DIR", str(tmp_path))
    assert [_cache.is_first(name) for name in ("a", "a", "b", "a")] == [True, False, True, False]
    assert not _cache.has("a", ["file"])


def test_the_page_of_kernel_authors_begins_with_what_runs(scale, capfd):
    page = (Path(__file__).resolve().parents[2] / "docs" / "kernel_author.md").read_text()
    block = re.search(r"^```python[^\n]*\n(.*?)^```$", page, re.M | re.S).group(1)
    exec(compile(block, "kernel_author.md", "exec"), {})
    said = re.search(r"print\(.*# (.*)$", block, re.M).group(1)
    out, err = capfd.readouterr()
    assert out.splitlines()[-1] == said and "[cnrt]" not in err


def test_what_does_not_compile_is_told(scale):
    from torch_mlu.utils.cpp_extension import load_inline
    with pytest.raises(RuntimeError, match="__bang_no_such_word"):
        load_inline("wrong", "void f();", '#include <bang.h>\nvoid f() { __bang_no_such_word(); }', ["f"])
    with pytest.raises(ValueError, match="name: letters, digits"):
        load_inline("no-name", "", "")
    with pytest.raises(FileNotFoundError, match="no_such.mlu"):
        from torch_mlu.utils.cpp_extension import load
        load("absent", "no_such.mlu")
