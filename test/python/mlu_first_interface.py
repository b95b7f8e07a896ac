"""Extensions written for the first torch_mlu: its headers, and its int64 tensors of 32 bits."""

import re

import pytest

from mlu_setup import device, torch  # noqa: F401

OLD_INTERFACE = r"""
#include <torch/types.h>
#include <aten.h>
#include <pybind11/pybind11.h>

std::string of_tensor(const Tensor& x) {
  TORCH_MLU_CHECK(x.device().type() == at::kMLU, "x must be on mlu");
  const auto last = torch_mlu::cnnl::ops::get_channels_last_memory_format(x.dim());
  auto there = torch_mlu::cnnl::ops::cnnl_contiguous(x, last);
  auto impl = torch_mlu::getMluTensorImpl(there);
  CNLOG(INFO) << "little";
  CNLOG(ERROR) << "memory of " << x.dim();
  const bool same = impl->cnnlMalloc() == there.data_ptr() && there.is_contiguous(last);
  return same ? std::to_string(static_cast<int>(last)) : "another block";
}

std::vector<int64_t> of_device() {
  const bool same = torch_mlu::getCurQueue() == torch_mlu::getCurrentQueue(torch_mlu::current_device()).queue();
  return {torch_mlu::device_count(), torch_mlu::getDeviceAttr(cnrtAttrClusterCount),
          torch_mlu::getDeviceAttr(cnrtAttrMcorePerCluster), same ? 1 : 0,
          reinterpret_cast<int64_t>(torch_mlu::getCurQueue())};
}

void set_one(const Tensor& x, int64_t at, int64_t value, bool fails) {
  auto impl = torch_mlu::getMluTensorImpl(x);
  auto* numbers = static_cast<int32_t*>(impl->cnnlMalloc());
  TORCH_CHECK(numbers == impl->cnnlMalloc(), "another copy");
  TORCH_CHECK(impl->mlu_data_ptr() == x.data_ptr(), "another block");
  const auto number = static_cast<int32_t>(value);
  cnrtMemcpy(numbers + at, const_cast<int32_t*>(&number), sizeof number, cnrtMemcpyHostToDev);
  TORCH_CHECK(!fails, "as wanted");
}

std::vector<int64_t> numbers_of(const Tensor& x, int64_t count) {
  auto impl = torch_mlu::getMluTensorImpl(x);
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  void* from = impl->cnnlMalloc();
  if (count > 0) cnrtMemcpy(numbers.data(), from, numbers.size() * sizeof(int32_t), cnrtMemcpyDevToHost);
  return {numbers.begin(), numbers.end()};
}

void of_temporary(const Tensor& x) {
  TORCH_CHECK(torch_mlu::getMluTensorImpl(x)->mlu_data_ptr() == x.data_ptr(), "another block");
  torch_mlu::getMluTensorImpl(x)->cnnlMalloc();
}

int64_t wrong_attribute() { return torch_mlu::getDeviceAttr(static_cast<cnrtDeviceAttr_t>(7)); }
int dtype_of(const Tensor& x) { return torch_mlu::toCnrtDtype(x.dtype()); }
"""


@pytest.fixture(scope="module")
def old_interface(device):
    from torch_mlu.utils.cpp_extension import load_inline
    return load_inline("old_interface", OLD_INTERFACE, with_pytorch_error_handling=False,
                       functions=["of_tensor", "set_one", "numbers_of", "of_temporary", "of_device", "wrong_attribute",
                                  "dtype_of"])


def test_int64_tensors_have_32_bits_for_kernels_of_the_first_torch_mlu(old_interface):
    wide = (1 << 40) + 7
    x = torch.tensor([[1, -2, wide], [4, 5, 6]], device="mlu")
    assert old_interface.numbers_of(x, 6) == [1, -2, 7, 4, 5, 6]
    old_interface.set_one(x, 4, -50, False)
    assert x.tolist() == [[1, -2, wide], [4, -50, 6]]  # what the kernel did not change stays, beyond 32 bits too
    across = x.t()
    assert old_interface.numbers_of(across, 6) == [1, -2, 7, 4, -50, 6]
    old_interface.set_one(across, 1, 9, False)
    part = x[:, 1:]
    assert old_interface.numbers_of(part, 5) == [9, 7, 4, -50, 6]
    old_interface.set_one(part, 4, 8, False)
    assert x.tolist() == [[1, 9, wide], [4, -50, 8]]
    one = torch.zeros((), dtype=torch.int64, device="mlu")
    old_interface.set_one(one, 0, 3, False)
    assert one.item() == 3
    assert old_interface.numbers_of(x[:0], 0) == []


def test_int64_tensors_stay_where_a_call_fails(old_interface):
    x = torch.arange(4, device="mlu")
    with pytest.raises(RuntimeError, match="as wanted"):
        old_interface.set_one(x, 1, 9, True)
    assert x.tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="keep that in a variable"):
        old_interface.of_temporary(x)
    y = x.int()
    old_interface.of_temporary(y)
    with pytest.raises(RuntimeError, match="as wanted"):
        old_interface.set_one(y, 1, 9, True)
    assert y.tolist() == [0, 9, 2, 3]  # its own memory


def test_what_extensions_of_the_first_torch_mlu_include(old_interface, capfd, monkeypatch):
    """aten.h and what it brings: memory, layouts, queues, attributes, types, log lines."""
    monkeypatch.setenv("TORCH_MIN_CNLOG_LEVEL", "WARNING")
    made = old_interface
    for sizes, format in (((2, 3, 4, 5), torch.channels_last), ((2, 3, 2, 4, 5), torch.channels_last_3d),
                          ((2, 3), torch.contiguous_format), ((0, 3, 4, 5), torch.channels_last)):
        number = [torch.contiguous_format, torch.preserve_format, torch.channels_last,
                  torch.channels_last_3d].index(format)
        assert made.of_tensor(torch.ones(sizes).mlu()) == str(number)
    with pytest.raises(RuntimeError, match="x must be on mlu"):
        made.of_tensor(torch.ones(2))
    assert made.of_device() == [1, 8, 4, 1, 0]
    stream = torch.mlu.Stream()
    with torch.mlu.stream(stream):
        assert made.of_device() == [1, 8, 4, 1, stream.mlu_stream]
    with pytest.raises(RuntimeError, match="cnrtDeviceGetAttribute of 7"):
        made.wrong_attribute()
    numbers = {torch.float16: 0x12, torch.float32: 0x13, torch.float64: 0x14, torch.int8: 0x21, torch.int16: 0x22,
               torch.int32: 0x23, torch.int64: 0x24, torch.uint8: 0x31, torch.bool: 0x61}
    for dtype, number in numbers.items():
        assert made.dtype_of(torch.zeros(1, dtype=dtype)) == number
    with pytest.raises(TypeError, match="has no number for tensors of type c10::complex<float>"):
        made.dtype_of(torch.zeros(1, dtype=torch.complex64))
    assert torch.is_mlu_available()
    out, err = capfd.readouterr()
    assert out == "" and "little" not in err
    assert re.search(r"^\[ERROR\]\[.*main\.cpp:\d+\] memory of 5$", err, re.M)
