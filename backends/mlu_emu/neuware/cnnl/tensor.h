// Tensors of the compute library: descriptors, elements by position, the checks every function makes.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "backends/mlu_emu/bang/bfloat16.h"
#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/neuware/include/cnnl.h"

struct cnnlTensorStruct {
  cnnlDataType_t dtype = CNNL_DTYPE_INVALID;
  cnnlTensorLayout_t layout = CNNL_LAYOUT_ARRAY;
  std::vector<std::int64_t> dims, strides;

  std::int64_t count() const {
    std::int64_t n = 1;
    for (const std::int64_t d : dims) n *= d;
    return n;
  }
  int rank() const { return static_cast<int>(dims.size()); }
  /// Elements from the first to one behind the last.
  std::int64_t extent() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
    return count() == 0 ? 0 : last + 1;
  }
};

namespace cnnl {

using mluops::emu::bang::bfloat16_t;
using mluops::emu::bang::half;
using Dims = std::vector<std::int64_t>;
using Tensor = cnnlTensorStruct;

/// What is wrong with a call; a function's body throws it, its C face turns it into a status.
struct Refusal {
  cnnlStatus_t status;
  std::string text;
};

std::int64_t size_of(cnnlDataType_t dtype);
/// Strides of a dense tensor.
Dims dense(const Dims& dims);

void require(bool holds, const std::string& text, cnnlStatus_t status = CNNL_STATUS_BAD_PARAM);
/// The descriptor is there, and the tensor lies in one block of device memory.
void check(const char* name, const Tensor* desc, const void* data);

/// Prints what was wrong with a call, in the library's form.
void report(const char* function, cnnlStatus_t status, const std::string& text);

/// Runs the body of a C function; a refusal is printed with the function's name.
template <class Body>
cnnlStatus_t guarded(const char* function, Body&& body) {
  std::string text;
  cnnlStatus_t status = CNNL_STATUS_SUCCESS;
  try {
    body();
  } catch (const Refusal& r) {
    status = r.status, text = r.text;
  } catch (const std::bad_alloc&) {
    status = CNNL_STATUS_ALLOC_FAILED, text = "no memory";
  }
  if (status != CNNL_STATUS_SUCCESS) report(function, status, text);
  return status;
}
/// Walks through the positions of a tensor in row order.
class Walk {
 public:
  explicit Walk(Dims dims) : dims_(std::move(dims)), at_(dims_.size(), 0) {
    for (const std::int64_t d : dims_) left_ *= d;
  }
  bool more() const { return left_ > 0; }
  const Dims& at() const { return at_; }
  void step() {
    --left_;
    for (std::size_t i = at_.size(); i-- > 0;) {
      if (++at_[i] < dims_[i]) return;
      at_[i] = 0;
    }
  }

 private:
  Dims dims_, at_;
  std::int64_t left_ = 1;
};

/// Offset in elements of a position; dimensions of 1 are repeated.
inline std::int64_t offset(const Tensor& t, const Dims& at) {
  std::int64_t o = 0;
  const std::size_t skip = at.size() - t.dims.size();
  for (std::size_t i = 0; i < t.dims.size(); ++i) o += t.dims[i] == 1 ? 0 : at[i + skip] * t.strides[i];
  return o;
}

/// An element as a double, and back, rounded once; for types up to 32 bits and double.
double load(cnnlDataType_t dtype, const void* data, std::int64_t index);
void store(cnnlDataType_t dtype, void* data, std::int64_t index, double value);
/// int32 or int64.
std::int64_t load_index(cnnlDataType_t dtype, const void* data, std::int64_t index);
/// An element's bytes, whatever its type.
void move_element(cnnlDataType_t dtype, void* to, std::int64_t to_index, const void* from, std::int64_t from_index);

/// Both tensors, element by element in row order of their dimensions.
void copy_elements(const Tensor& from_desc, const void* from, const Tensor& to_desc, void* to);

}  // namespace cnnl
