// Functions that move elements as they are: fill, copy, transpose, concat, slice, pad, gather, scatter.
#include <algorithm>
#include <cstring>

#include "backends/mlu_emu/neuware/cnnl/descriptors.h"

using namespace cnnl;  // NOLINT: the C functions' own names are all global

namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

void same_type(const Tensor& a, const Tensor& b) {
  require(a.dtype == b.dtype, "the tensors must have one data type");
}

/// The first `count` dimensions of a tensor at a position: where that slice begins.
std::int64_t slice_offset(const Tensor& t, const Dims& at) {
  std::int64_t o = 0;
  for (std::size_t i = 0; i < at.size(); ++i) o += at[i] * t.strides[i];
  return o;
}
/// The tensor of one such slice.
Tensor slice_of(const Tensor& t, std::size_t count) {
  Tensor s;
  s.dtype = t.dtype;
  s.dims.assign(t.dims.begin() + static_cast<std::ptrdiff_t>(count), t.dims.end());
  s.strides.assign(t.strides.begin() + static_cast<std::ptrdiff_t>(count), t.strides.end());
  return s;
}

char* at_element(const Tensor& t, void* data, std::int64_t element) {
  return static_cast<char*>(data) + element * size_of(t.dtype);
}
const char* at_element(const Tensor& t, const void* data, std::int64_t element) {
  return static_cast<const char*>(data) + element * size_of(t.dtype);
}

/// The rows of an index tensor: positions in the first dimensions of another one.
class IndexRows {
 public:
  IndexRows(const Tensor& desc, const void* data) : desc_(desc), data_(data) {
    require(desc.rank() >= 1, "indices must have a dimension");
    require(desc.strides == dense(desc.dims), "indices must be dense", CNNL_STATUS_NOT_SUPPORTED);
  }
  std::int64_t depth() const { return desc_.dims.back(); }
  std::int64_t rows() const { return depth() == 0 ? 0 : desc_.count() / depth(); }
  Dims outer() const { return {desc_.dims.begin(), desc_.dims.end() - 1}; }
  Dims row(std::int64_t r) const {
    Dims at(static_cast<std::size_t>(depth()));
    for (std::int64_t i = 0; i < depth(); ++i) {
      at[static_cast<std::size_t>(i)] = load_index(desc_.dtype, data_, r * depth() + i);
    }
    return at;
  }

 private:
  const Tensor& desc_;
  const void* data_;
};

bool inside(const Dims& at, const Tensor& t) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0 || at[i] >= t.dims[i]) return false;
  }
  return true;
}

/// Adds a slice element by element, or replaces it.
void update_slice(cnnlScatterNdMode_t mode, const Tensor& slice, void* to, const Tensor& update, const void* from) {
  if (mode == CNNL_SCATTERND_UPDATE) return copy_elements(update, from, slice, to);
  const double sign = mode == CNNL_SCATTERND_SUB ? -1 : 1;
  Walk target(slice.dims), source(update.dims);
  for (; target.more(); target.step(), source.step()) {
    const std::int64_t i = offset(slice, target.at());
    store(slice.dtype, to, i, load(slice.dtype, to, i) + sign * load(update.dtype, from, offset(update, source.at())));
  }
}

}  // namespace

extern "C" {

cnnlStatus_t cnnlFill_v3(cnnlHandle_t, cnnlPointerMode_t mode, const void* value, cnnlTensorDescriptor_t desc,
                         void* output) {
  return guarded(__func__, [&] {
    check("output", desc, output);
    require(value != nullptr, "value must not be null");
    require(mode == CNNL_POINTER_MODE_HOST || mode == CNNL_POINTER_MODE_DEVICE, "unknown pointer mode");
    for (Walk w(desc->dims); w.more(); w.step()) move_element(desc->dtype, output, offset(*desc, w.at()), value, 0);
  });
}

cnnlStatus_t cnnlCopy_v2(cnnlHandle_t, cnnlTensorDescriptor_t input_desc, const void* input,
                         cnnlTensorDescriptor_t output_desc, void* output, void*, size_t) {
  return guarded(__func__, [&] {
    check("input", input_desc, input);
    check("output", output_desc, output);
    same_type(*input_desc, *output_desc);
    require(input_desc->count() == output_desc->count(), "the tensors must have as many elements");
    copy_elements(*input_desc, input, *output_desc, output);
  });
}

cnnlStatus_t cnnlTranspose_v2(cnnlHandle_t, cnnlTransposeDescriptor_t desc, cnnlTensorDescriptor_t x_desc,
                              const void* x, cnnlTensorDescriptor_t y_desc, void* y, void*, size_t) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "desc must not be null");
    check("x", x_desc, x);
    check("y", y_desc, y);
    same_type(*x_desc, *y_desc);
    require(desc->permute.size() == x_desc->dims.size(), "permute must have as many entries as x has dimensions");
    require(x_desc->count() == y_desc->count(), "x and y must have as many elements");
    Tensor turned = *x_desc;
    for (std::size_t i = 0; i < desc->permute.size(); ++i) {
      turned.dims[i] = x_desc->dims[index(desc->permute[i])];
      turned.strides[i] = x_desc->strides[index(desc->permute[i])];
    }
    copy_elements(turned, x, *y_desc, y);
  });
}

cnnlStatus_t cnnlConcat(cnnlHandle_t, int count, int axis, const cnnlTensorDescriptor_t input_descs[],
                        const void* const inputs[], void*, size_t, cnnlTensorDescriptor_t output_desc, void* output) {
  return guarded(__func__, [&] {
    check("output", output_desc, output);
    require(count > 0 && input_descs != nullptr && inputs != nullptr, "there must be inputs");
    if (axis < 0) axis += output_desc->rank();
    require(axis >= 0 && axis < output_desc->rank(), "axis must be a dimension of the output");
    std::int64_t begin = 0;
    for (int i = 0; i < count; ++i) {
      check("input", input_descs[i], inputs[i]);
      same_type(*input_descs[i], *output_desc);
      Tensor part = *output_desc;
      part.dims[index(axis)] = input_descs[i]->dims.at(index(axis));
      require(part.dims == input_descs[i]->dims, "an input must have the output's dimensions but along the axis");
      require(begin + part.dims[index(axis)] <= output_desc->dims[index(axis)],
              "the inputs are longer than the output");
      copy_elements(*input_descs[i], inputs[i], part,
                    at_element(part, output, begin * output_desc->strides[index(axis)]));
      begin += part.dims[index(axis)];
    }
  });
}

cnnlStatus_t cnnlStridedSlice_v2(cnnlHandle_t, cnnlTensorDescriptor_t input_desc, const void* input,
                                 const int64_t begin[], const int64_t end[], const int64_t stride[],
                                 cnnlTensorDescriptor_t output_desc, void* output) {
  return guarded(__func__, [&] {
    check("input", input_desc, input);
    check("output", output_desc, output);
    same_type(*input_desc, *output_desc);
    Tensor part = *input_desc;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < part.dims.size(); ++i) {
      const std::int64_t n = input_desc->dims[i], step = stride[i];
      require(step != 0, "a stride must not be 0");
      const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
      const std::int64_t from = std::clamp(begin[i] < 0 ? begin[i] + n : begin[i], low, high);
      const std::int64_t to = std::clamp(end[i] < 0 ? end[i] + n : end[i], low, high);
      part.dims[i] =
          std::max<std::int64_t>(0, step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step);
      part.strides[i] = input_desc->strides[i] * step;
      first += from * input_desc->strides[i];
    }
    require(part.dims == output_desc->dims, "the output must have the dimensions of the slice");
    copy_elements(part, at_element(part, input, first), *output_desc, output);
  });
}

cnnlStatus_t cnnlPad(cnnlHandle_t, cnnlTensorDescriptor_t input_desc, const void* input, const void* paddings,
                     const void* padding_value, cnnlTensorDescriptor_t output_desc, void* output) {
  return guarded(__func__, [&] {
    check("input", input_desc, input);
    check("output", output_desc, output);
    same_type(*input_desc, *output_desc);
    require(paddings != nullptr && padding_value != nullptr, "paddings and padding_value must not be null");
    require(input_desc->rank() == output_desc->rank(), "input and output must have as many dimensions");
    const auto* pad = static_cast<const std::int32_t*>(paddings);
    for (std::size_t i = 0; i < input_desc->dims.size(); ++i) {
      require(output_desc->dims[i] == input_desc->dims[i] + pad[2 * i] + pad[2 * i + 1],
              "the output's dimensions must be the input's and the paddings");
    }
    for (Walk w(output_desc->dims); w.more(); w.step()) {
      Dims from = w.at();
      for (std::size_t i = 0; i < from.size(); ++i) from[i] -= pad[2 * i];
      const bool there = inside(from, *input_desc);
      move_element(output_desc->dtype, output, offset(*output_desc, w.at()), there ? input : padding_value,
                   there ? slice_offset(*input_desc, from) : 0);
    }
  });
}

cnnlStatus_t cnnlGatherNd_v2(cnnlHandle_t, int batch_dims, cnnlTensorDescriptor_t params_desc, const void* params,
                             cnnlTensorDescriptor_t indices_desc, const void* indices,
                             cnnlTensorDescriptor_t output_desc, void* output) {
  return guarded(__func__, [&] {
    check("params", params_desc, params);
    check("indices", indices_desc, indices);
    check("output", output_desc, output);
    same_type(*params_desc, *output_desc);
    require(batch_dims == 0, "only batch_dims 0 is supported", CNNL_STATUS_NOT_SUPPORTED);
    const IndexRows rows(*indices_desc, indices);
    const auto depth = static_cast<std::size_t>(rows.depth());
    require(depth <= params_desc->dims.size(), "an index has more entries than params has dimensions");
    const Tensor slice = slice_of(*params_desc, depth);
    require(rows.rows() * slice.count() == output_desc->count(), "the output must hold a slice for each index");
    Tensor out = slice;
    out.strides = dense(out.dims);
    require(output_desc->strides == dense(output_desc->dims), "the output must be dense", CNNL_STATUS_NOT_SUPPORTED);
    for (std::int64_t r = 0; r < rows.rows(); ++r) {
      Dims at = rows.row(r);
      for (std::size_t i = 0; i < depth; ++i) at[i] += at[i] < 0 ? params_desc->dims[i] : 0;
      require(inside(at, *params_desc), "index row " + std::to_string(r) + " lies outside of params",
              CNNL_STATUS_EXECUTION_FAILED);
      copy_elements(slice, at_element(slice, params, slice_offset(*params_desc, at)), out,
                    at_element(out, output, r * slice.count()));
    }
  });
}

cnnlStatus_t cnnlScatterNd_v2(cnnlHandle_t, cnnlScatterNdMode_t mode, cnnlTensorDescriptor_t indices_desc,
                              const void* indices, cnnlTensorDescriptor_t updates_desc, const void* updates,
                              cnnlTensorDescriptor_t input_desc, const void* input, cnnlTensorDescriptor_t output_desc,
                              void* output) {
  return guarded(__func__, [&] {
    check("indices", indices_desc, indices);
    check("updates", updates_desc, updates);
    check("output", output_desc, output);
    same_type(*updates_desc, *output_desc);
    require(updates_desc->strides == dense(updates_desc->dims), "updates must be dense", CNNL_STATUS_NOT_SUPPORTED);
    const IndexRows rows(*indices_desc, indices);
    const auto depth = static_cast<std::size_t>(rows.depth());
    require(depth <= output_desc->dims.size(), "an index has more entries than the output has dimensions");
    const Tensor slice = slice_of(*output_desc, depth);
    require(rows.rows() * slice.count() == updates_desc->count(), "there must be a slice of updates for each index");
    Tensor update = slice;
    update.strides = dense(update.dims);
    if (input == nullptr) {
      const std::uint64_t zero = 0;
      for (Walk w(output_desc->dims); w.more(); w.step()) {
        move_element(output_desc->dtype, output, offset(*output_desc, w.at()), &zero, 0);
      }
    } else if (input != output) {
      check("input", input_desc, input);
      copy_elements(*input_desc, input, *output_desc, output);
    }
    for (std::int64_t r = 0; r < rows.rows(); ++r) {
      const Dims at = rows.row(r);
      if (!inside(at, *output_desc)) continue;
      update_slice(mode, slice, at_element(slice, output, slice_offset(*output_desc, at)), update,
                   at_element(update, updates, r * slice.count()));
    }
  });
}
}
