// Functions that compute: in double, each result rounded once.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "backends/mlu_emu/neuware/cnnl/descriptors.h"

using namespace cnnl;  // NOLINT: the C functions' own names are all global

namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

/// A float factor, or what it is when nobody gave one.
double factor(const void* value, double otherwise) {
  float given;
  if (value == nullptr) return otherwise;
  std::memcpy(&given, value, sizeof(given));
  return given;
}

/// A factor of a tensor's type: int32 with integers.
double factor_of(cnnlDataType_t dtype, const void* value, double otherwise) {
  const bool real = dtype == CNNL_DTYPE_FLOAT || dtype == CNNL_DTYPE_HALF || dtype == CNNL_DTYPE_BFLOAT16 ||
                    dtype == CNNL_DTYPE_COMPLEX_FLOAT || dtype == CNNL_DTYPE_COMPLEX_HALF;
  if (real || value == nullptr) return factor(value, otherwise);
  std::int32_t given;
  std::memcpy(&given, value, sizeof(given));
  return given;
}

bool repeats_to(const Tensor& t, const Dims& dims) {
  if (t.dims.size() > dims.size()) return false;
  const std::size_t skip = dims.size() - t.dims.size();
  for (std::size_t i = 0; i < t.dims.size(); ++i) {
    if (t.dims[i] != 1 && t.dims[i] != dims[i + skip]) return false;
  }
  return true;
}

/// A complex tensor as twice as many real numbers; another type is left alone.
Tensor as_real(const Tensor& t) {
  if (t.dtype != CNNL_DTYPE_COMPLEX_FLOAT && t.dtype != CNNL_DTYPE_COMPLEX_HALF) return t;
  Tensor real = t;
  real.dtype = t.dtype == CNNL_DTYPE_COMPLEX_FLOAT ? CNNL_DTYPE_FLOAT : CNNL_DTYPE_HALF;
  for (std::int64_t& s : real.strides) s *= 2;
  real.dims.push_back(2);
  real.strides.push_back(1);
  return real;
}

/// Matrices of a product: [.., rows, columns] with the batch before.
struct Matrix {
  const Tensor& desc;
  const void* data;
  bool transposed;

  std::int64_t dim(int from_end) const { return desc.dims[desc.dims.size() - static_cast<std::size_t>(from_end)]; }
  std::int64_t stride(int from_end) const {
    return desc.strides[desc.strides.size() - static_cast<std::size_t>(from_end)];
  }
  std::int64_t rows() const { return dim(transposed ? 1 : 2); }
  std::int64_t columns() const { return dim(transposed ? 2 : 1); }
  /// The matrix at a position of the batch, in row order, in double.
  std::vector<double> values(const Dims& batch) const {
    Tensor outer = desc;
    outer.dims.resize(desc.dims.size() - 2);
    outer.strides.resize(outer.dims.size());
    const std::int64_t base = offset(outer, batch);
    const std::int64_t down = stride(transposed ? 1 : 2), right = stride(transposed ? 2 : 1);
    std::vector<double> v;
    v.reserve(static_cast<std::size_t>(rows() * columns()));
    for (std::int64_t i = 0; i < rows(); ++i) {
      for (std::int64_t j = 0; j < columns(); ++j) v.push_back(load(desc.dtype, data, base + i * down + j * right));
    }
    return v;
  }
};

void multiply(const Matrix& a, const Matrix& b, double alpha, double beta, const Tensor* c_desc, const void* c,
              const Tensor& d_desc, void* d) {
  const Matrix out{d_desc, d, false};
  require(a.columns() == b.rows(),
          "a has " + std::to_string(a.columns()) + " columns, b " + std::to_string(b.rows()) + " rows");
  require(out.rows() == a.rows() && out.columns() == b.columns(), "the result must have a's rows and b's columns");
  const std::int64_t m = a.rows(), n = b.columns(), k = a.columns();
  const Dims batch(d_desc.dims.begin(), d_desc.dims.end() - 2);
  for (Walk w(batch); w.more(); w.step()) {
    const std::vector<double> x = a.values(w.at()), y = b.values(w.at());
    for (std::int64_t i = 0; i < m; ++i) {
      std::vector<double> row(static_cast<std::size_t>(n), 0.0);
      for (std::int64_t l = 0; l < k; ++l) {
        const double factor_a = x[static_cast<std::size_t>(i * k + l)];
        const double* from = y.data() + l * n;
        for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] += factor_a * from[j];
      }
      for (std::int64_t j = 0; j < n; ++j) {
        Dims at = w.at();
        at.insert(at.end(), {i, j});
        const double old = beta == 0 ? 0.0 : beta * load(c_desc->dtype, c, offset(*c_desc, at));
        store(d_desc.dtype, d, offset(d_desc, at), alpha * row[static_cast<std::size_t>(j)] + old);
      }
    }
  }
}

void check_matrix(const char* name, const Tensor* desc, const void* data) {
  check(name, desc, data);
  require(desc->rank() >= 2, std::string(name) + " must have two dimensions or more");
}

}  // namespace

extern "C" {

cnnlStatus_t cnnlTransform_v2(cnnlHandle_t, cnnlPointerMode_t, const void* alpha, cnnlTensorDescriptor_t x_desc,
                              const void* x, const void* beta, cnnlTensorDescriptor_t y_desc, void* y) {
  return guarded(__func__, [&] {
    check("x", x_desc, x);
    check("y", y_desc, y);
    require(x_desc->dims == y_desc->dims, "x and y must have the same dimensions");
    const double scale = factor_of(x_desc->dtype, alpha, 1), shift = factor_of(x_desc->dtype, beta, 0);
    const Tensor from = as_real(*x_desc), to = as_real(*y_desc);
    const bool complex = from.dims != x_desc->dims;
    for (Walk w(from.dims); w.more(); w.step()) {
      const double plus = complex && w.at().back() == 1 ? 0 : shift;
      store(to.dtype, y, offset(to, w.at()), scale * load(from.dtype, x, offset(from, w.at())) + plus);
    }
  });
}

cnnlStatus_t cnnlAddN_v2(cnnlHandle_t, const cnnlTensorDescriptor_t input_descs[], const void* const inputs[],
                         uint32_t count, cnnlTensorDescriptor_t output_desc, void* output, void*, size_t) {
  return guarded(__func__, [&] {
    check("output", output_desc, output);
    require(count > 0 && input_descs != nullptr && inputs != nullptr, "there must be inputs");
    for (uint32_t i = 0; i < count; ++i) {
      check("input", input_descs[i], inputs[i]);
      require(repeats_to(*input_descs[i], output_desc->dims), "an input does not fit the output's dimensions");
    }
    for (Walk w(output_desc->dims); w.more(); w.step()) {
      double sum = 0;
      for (uint32_t i = 0; i < count; ++i) {
        sum += load(input_descs[i]->dtype, inputs[i], offset(*input_descs[i], w.at()));
      }
      store(output_desc->dtype, output, offset(*output_desc, w.at()), sum);
    }
  });
}

cnnlStatus_t cnnlOpTensor(cnnlHandle_t, cnnlOpTensorDescriptor_t desc, const void* alpha1,
                          cnnlTensorDescriptor_t a_desc, const void* a, const void* alpha2,
                          cnnlTensorDescriptor_t b_desc, const void* b, void*, size_t, const void* beta,
                          cnnlTensorDescriptor_t output_desc, void* output) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "desc must not be null");
    check("a", a_desc, a);
    check("b", b_desc, b);
    check("output", output_desc, output);
    const Tensor x = as_real(*a_desc), y = as_real(*b_desc), to = as_real(*output_desc);
    require(repeats_to(x, to.dims) && repeats_to(y, to.dims), "a and b must fit the output's dimensions");
    require(desc->op != CNNL_OP_TENSOR_MUL || to.dims == output_desc->dims, "complex multiplication is not supported",
            CNNL_STATUS_NOT_SUPPORTED);
    const double fa = factor(alpha1, 1), fb = factor(alpha2, 1), fo = factor(beta, 0);
    for (Walk w(to.dims); w.more(); w.step()) {
      const double p = fa * load(x.dtype, a, offset(x, w.at())), q = fb * load(y.dtype, b, offset(y, w.at()));
      const double result = desc->op == CNNL_OP_TENSOR_ADD ? p + q : desc->op == CNNL_OP_TENSOR_SUB ? p - q : p * q;
      const std::int64_t i = offset(to, w.at());
      store(to.dtype, output, i, fo == 0 ? result : result + fo * load(to.dtype, output, i));
    }
  });
}

cnnlStatus_t cnnlReduce_v2(cnnlHandle_t, cnnlReduceDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void* input, const void*, const void*, void*, size_t,
                           cnnlTensorDescriptor_t output_desc, void* output, cnnlTensorDescriptor_t, void*) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "desc must not be null");
    check("input", input_desc, input);
    check("output", output_desc, output);
    Dims kept = input_desc->dims;
    for (int axis : desc->axes) {
      if (axis < 0) axis += input_desc->rank();
      require(axis >= 0 && axis < input_desc->rank(), "an axis must be a dimension of the input");
      kept[index(axis)] = 1;
    }
    Tensor place;  // of results, as a dense tensor with the input's number of dimensions
    place.dims = kept;
    place.strides = dense(kept);
    require(place.count() == output_desc->count(), "the output must have the dimensions that are left");
    const bool extreme = desc->op == CNNL_REDUCE_MAX || desc->op == CNNL_REDUCE_MIN;
    const double first = desc->op == CNNL_REDUCE_MAX ? -INFINITY : desc->op == CNNL_REDUCE_MIN ? INFINITY : 0.0;
    std::vector<double> results(static_cast<std::size_t>(place.count()), first);
    for (Walk w(input_desc->dims); w.more(); w.step()) {
      double& r = results[static_cast<std::size_t>(offset(place, w.at()))];
      const double x = load(input_desc->dtype, input, offset(*input_desc, w.at()));
      r = !extreme ? r + x : desc->op == CNNL_REDUCE_MAX ? std::max(r, x) : std::min(r, x);
    }
    const double among = desc->op == CNNL_REDUCE_AVG && place.count() > 0
                             ? static_cast<double>(input_desc->count() / place.count())
                             : 1.0;
    std::size_t next = 0;
    for (Walk w(output_desc->dims); w.more(); w.step()) {
      store(output_desc->dtype, output, offset(*output_desc, w.at()), results[next++] / among);
    }
  });
}

cnnlStatus_t cnnlTopKTensor_v3(cnnlHandle_t, cnnlTensorDescriptor_t input_desc, const void* input, int k, int dim,
                               bool largest, bool, bool, void*, size_t, cnnlTensorDescriptor_t output_desc,
                               void* output, cnnlTensorDescriptor_t index_desc, void* indices) {
  return guarded(__func__, [&] {
    check("input", input_desc, input);
    check("output", output_desc, output);
    check("index", index_desc, indices);
    if (dim < 0) dim += input_desc->rank();
    require(dim >= 0 && dim < input_desc->rank(), "dim must be a dimension of the input");
    const std::int64_t n = input_desc->dims[index(dim)];
    require(k >= 0 && k <= n, "k must not be larger than the dimension");
    Dims wanted = input_desc->dims;
    wanted[index(dim)] = k;
    require(output_desc->dims == wanted && index_desc->dims == wanted,
            "output and index must hold k in that dimension");
    Dims lines = input_desc->dims;
    lines[index(dim)] = 1;
    for (Walk w(lines); w.more(); w.step()) {
      Dims at = w.at();
      std::vector<double> values(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) {
        at[index(dim)] = i;
        values[static_cast<std::size_t>(i)] = load(input_desc->dtype, input, offset(*input_desc, at));
      }
      std::vector<std::int64_t> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const double x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
        return largest ? x > y : x < y;
      });
      for (int i = 0; i < k; ++i) {
        at[index(dim)] = i;
        const std::int64_t from = order[index(i)];
        store(output_desc->dtype, output, offset(*output_desc, at), values[static_cast<std::size_t>(from)]);
        store(index_desc->dtype, indices, offset(*index_desc, at), static_cast<double>(from));
      }
    }
  });
}

cnnlStatus_t cnnlUnique_v2(cnnlHandle_t, cnnlUniqueDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void* input, void*, size_t, int* output_count, cnnlTensorDescriptor_t output_desc,
                           void* output, cnnlTensorDescriptor_t inverse_desc, void* inverse,
                           cnnlTensorDescriptor_t counts_desc, void* counts) {
  return guarded(__func__, [&] {
    require(desc != nullptr && output_count != nullptr, "desc and output_count must not be null");
    check("input", input_desc, input);
    check("output", output_desc, output);
    if (desc->inverse) check("inverse", inverse_desc, inverse);
    if (desc->counts) check("counts", counts_desc, counts);
    require(desc->dim == 0 && input_desc->rank() >= 1, "only dim 0 is supported", CNNL_STATUS_NOT_SUPPORTED);
    require(input_desc->strides == dense(input_desc->dims), "the input must be dense", CNNL_STATUS_NOT_SUPPORTED);
    const std::int64_t n = input_desc->dims[0], width = n == 0 ? 0 : input_desc->count() / n;
    std::map<std::vector<double>, std::vector<std::int64_t>> slices;
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<double> key(static_cast<std::size_t>(width));
      for (std::int64_t j = 0; j < width; ++j) {
        key[static_cast<std::size_t>(j)] = load(input_desc->dtype, input, i * width + j);
      }
      slices[std::move(key)].push_back(i);
    }
    std::int64_t place = 0;
    for (const auto& [key, members] : slices) {
      for (std::int64_t j = 0; j < width; ++j) {
        store(output_desc->dtype, output, place * width + j, key[static_cast<std::size_t>(j)]);
      }
      for (const std::int64_t i : members) {
        if (desc->inverse) store(inverse_desc->dtype, inverse, i, static_cast<double>(place));
      }
      if (desc->counts) store(counts_desc->dtype, counts, place, static_cast<double>(members.size()));
      ++place;
    }
    *output_count = static_cast<int>(place);
  });
}

cnnlStatus_t cnnlMatMul_v2(cnnlHandle_t, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t, const void* alpha,
                           cnnlTensorDescriptor_t a_desc, const void* a, cnnlTensorDescriptor_t b_desc, const void* b,
                           const void* beta, cnnlTensorDescriptor_t c_desc, const void* c, void*, size_t,
                           cnnlTensorDescriptor_t d_desc, void* d) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "desc must not be null");
    check_matrix("a", a_desc, a);
    check_matrix("b", b_desc, b);
    check_matrix("d", d_desc, d);
    const double old = factor(beta, 0);
    if (old != 0) check_matrix("c", c_desc, c);
    multiply({*a_desc, a, desc->transpose_a}, {*b_desc, b, desc->transpose_b}, factor(alpha, 1), old, c_desc, c,
             *d_desc, d);
  });
}

cnnlStatus_t cnnlBatchMatMulEx(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t algo,
                               const void* alpha, cnnlTensorDescriptor_t a_desc, const void* a,
                               cnnlTensorDescriptor_t b_desc, const void* b, const void* beta,
                               cnnlTensorDescriptor_t c_desc, void* c, void* workspace, size_t workspace_size) {
  return cnnlMatMul_v2(handle, desc, algo, alpha, a_desc, a, b_desc, b, beta, c_desc, c, workspace, workspace_size,
                       c_desc, c);
}
}
