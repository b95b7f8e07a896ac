// Pooling of boxes in NHWC. Coordinates are float, as on the device; sums are double.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <tuple>

#include "backends/mlu_emu/neuware/cnnl/dense.h"
#include "backends/mlu_emu/neuware/cnnl/descriptors.h"
#include "common/round.h"

using namespace cnnl;  // NOLINT: the C functions' own names are all global

namespace {

struct Image {
  std::int64_t n, h, w, c;
};

Image image_of(const char* name, const Tensor* desc) {
  require_image(name, desc);
  return {desc->dims[0], desc->dims[1], desc->dims[2], desc->dims[3]};
}

struct Box {
  std::int64_t image;
  float x1, y1, x2, y2;
};

/// The image index and the corners of each box.
std::vector<Box> boxes_of(const Image& image, const Tensor* desc, const void* data) {
  require_rank("boxes", desc, 2);
  const Array numbers("boxes", desc, data, {desc->dims[0], 5});
  std::vector<Box> boxes;
  for (std::int64_t i = 0; i < desc->dims[0]; ++i) {
    const auto number = [&](std::int64_t j) { return static_cast<float>(numbers[5 * i + j]); };
    require(number(0) > -1 && number(0) < static_cast<float>(image.n),
            "box " + std::to_string(i) + " names an image that does not exist", CNNL_STATUS_EXECUTION_FAILED);
    boxes.push_back({static_cast<std::int64_t>(number(0)), number(1), number(2), number(3), number(4)});
  }
  return boxes;
}

/// The least value of the tensor's type: what a greatest pixel starts from.
double lowest(const Tensor& t) {
  return t.dtype == CNNL_DTYPE_FLOAT ? -static_cast<double>(FLT_MAX) : -INFINITY;
}

// ---- RoiAlign ----

/// The coordinates of a bin's samples along one axis.
std::vector<float> samples(const cnnlRoiAlignStruct& d, float low, float high, int bins, int bin) {
  const float shift = d.aligned ? 0.5f : 0.0f, start = low * d.spatial_scale - shift;
  float size = high * d.spatial_scale - shift - start;
  if (!d.aligned && size < 1) size = 1;
  const float step = size / static_cast<float>(bins);
  const float wanted = d.sampling_ratio > 0 ? static_cast<float>(d.sampling_ratio) : std::ceil(step);
  require(!(wanted > 4096), "more than 4096 samples in one direction of a bin", CNNL_STATUS_NOT_SUPPORTED);
  std::vector<float> all(wanted > 0 ? static_cast<std::size_t>(wanted) : 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = start + static_cast<float>(bin) * step + (static_cast<float>(i) + 0.5f) * step / wanted;
  }
  return all;
}

/// body(pixel, share) for the pixels round a sample; none for a sample outside of the image.
template <class Body>
void around(const Image& m, std::int64_t image, float y, float x, Body body) {
  if (!(y >= -1 && x >= -1 && y <= static_cast<float>(m.h) && x <= static_cast<float>(m.w))) return;
  const auto split = [](float v, std::int64_t size) {
    v = std::max(v, 0.0f);
    const std::int64_t low = std::min(static_cast<std::int64_t>(v), size - 1), high = std::min(low + 1, size - 1);
    return std::tuple(low, high, low == size - 1 ? 0.0 : static_cast<double>(v) - static_cast<double>(low));
  };
  const auto [top, bottom, down] = split(y, m.h);
  const auto [left, right, across] = split(x, m.w);
  const auto pixel = [&](std::int64_t row, std::int64_t column) { return (image * m.h + row) * m.w + column; };
  body(pixel(top, left), (1 - down) * (1 - across));
  body(pixel(top, right), (1 - down) * across);
  body(pixel(bottom, left), down * (1 - across));
  body(pixel(bottom, right), down * across);
}

/// body(first element of the bin, image index, rows, columns) for each bin of each box.
template <class Body>
void for_each_bin(const cnnlRoiAlignStruct& d, const Image& m, const std::vector<Box>& boxes, Body body) {
  std::int64_t first = 0;
  for (const Box& box : boxes) {
    for (int i = 0; i < d.pooled_h; ++i) {
      const std::vector<float> rows = samples(d, box.y1, box.y2, d.pooled_h, i);
      for (int j = 0; j < d.pooled_w; ++j, first += m.c) {
        body(first, box.image, rows, samples(d, box.x1, box.x2, d.pooled_w, j));
      }
    }
  }
}

double value_at(const Image& m, const Array& input, std::int64_t image, float y, float x, std::int64_t c) {
  double value = 0;
  around(m, image, y, x, [&](std::int64_t pixel, double share) { value += share * input[pixel * m.c + c]; });
  return value;
}

struct Greatest {
  double value;
  float x = -1, y = -1;
};
Greatest greatest(const Image& m, const Array& input, std::int64_t image, const std::vector<float>& rows,
                  const std::vector<float>& columns, std::int64_t c, double start) {
  Greatest best = {start};
  for (const float y : rows) {
    for (const float x : columns) {
      const double value = value_at(m, input, image, y, x, c);
      if (value > best.value) best = {value, x, y};
    }
  }
  return best;
}

Dims bins_of(const Tensor* boxes, const cnnlRoiAlignStruct& d, std::int64_t c) {
  require_rank("boxes", boxes, 2);
  return {boxes->dims[0], d.pooled_h, d.pooled_w, c};
}

// ---- RoiPooling ----

struct Pixels {
  std::int64_t first, end;
};

/// The pixels of a bin along one axis. The corners of a box are rounded to pixels, both inside of it.
Pixels pixels(float low, float high, float scale, std::int64_t bins, std::int64_t bin, std::int64_t size) {
  const float start = mluops::round_half_away(low * scale);
  const float width = std::max(mluops::round_half_away(high * scale) - start + 1, 1.0f);
  const float step = width / static_cast<float>(bins);
  const auto on_map = [&](float v) {
    return std::isnan(v) ? 0 : static_cast<std::int64_t>(std::clamp(v, 0.0f, static_cast<float>(size)));
  };
  return {on_map(std::floor(static_cast<float>(bin) * step) + start),
          on_map(std::ceil(static_cast<float>(bin + 1) * step) + start)};
}

Tensor indices_like(const Tensor& t) {
  Tensor indices = t;
  indices.dtype = CNNL_DTYPE_INT32;
  return indices;
}

void require_maximum(cnnlPoolingMode_t mode) {
  require(mode == 0, "only the maximum (pooling mode 0) is supported", CNNL_STATUS_NOT_SUPPORTED);
}

}  // namespace

extern "C" {

cnnlStatus_t cnnlRoiAlign_v2(cnnlHandle_t, cnnlRoiAlignDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                             const void* input, cnnlTensorDescriptor_t boxes_desc, const void* boxes,
                             cnnlTensorDescriptor_t output_desc, void* output, cnnlTensorDescriptor_t argmax_x_desc,
                             void* argmax_x, cnnlTensorDescriptor_t argmax_y_desc, void* argmax_y) {
  return guarded(__func__, [&] {
    require(desc != nullptr && desc->pooled_h > 0 && desc->pooled_w > 0, "roialign_desc must be set");
    const Image m = image_of("input", input_desc);
    const Array in("input", input_desc, input);
    const Dims bins = bins_of(boxes_desc, *desc, m.c);
    const Result out("output", output_desc, output, bins);
    std::optional<Result> to_x, to_y;
    if (!desc->mean) to_x.emplace("argmax_x", argmax_x_desc, argmax_x, bins);
    if (!desc->mean) to_y.emplace("argmax_y", argmax_y_desc, argmax_y, bins);
    for_each_bin(*desc, m, boxes_of(m, boxes_desc, boxes),
                 [&](std::int64_t first, std::int64_t image, const auto& rows, const auto& columns) {
                   for (std::int64_t c = 0; c < m.c; ++c) {
                     if (!desc->mean) {
                       const Greatest best = greatest(m, in, image, rows, columns, c, lowest(*output_desc));
                       out.set(first + c, best.value);
                       to_x->set(first + c, static_cast<double>(best.x));
                       to_y->set(first + c, static_cast<double>(best.y));
                       continue;
                     }
                     double sum = 0;
                     for (const float y : rows) {
                       for (const float x : columns) sum += value_at(m, in, image, y, x, c);
                     }
                     const auto count = static_cast<double>(rows.size() * columns.size());
                     out.set(first + c, count > 0 ? sum / count : 0);
                   }
                 });
  });
}

cnnlStatus_t cnnlRoiAlignBackward_v2(cnnlHandle_t, cnnlTensorDescriptor_t grads_desc, const void* grads,
                                     cnnlTensorDescriptor_t boxes_desc, const void* boxes,
                                     cnnlTensorDescriptor_t argmax_x_desc, const void* argmax_x,
                                     cnnlTensorDescriptor_t argmax_y_desc, const void* argmax_y, float spatial_scale,
                                     int sampling_ratio, bool aligned, int pool_mode,
                                     cnnlTensorDescriptor_t grads_image_desc, void* grads_image) {
  return guarded(__func__, [&] {
    const Image m = image_of("grads_image", grads_image_desc);
    const Image of_bins = image_of("grads", grads_desc);
    require(pool_mode == 0 || pool_mode == 1, "pool_mode must be 0 (maximum) or 1 (mean)");
    const cnnlRoiAlignStruct d = {static_cast<int>(of_bins.h),
                                  static_cast<int>(of_bins.w),
                                  sampling_ratio,
                                  spatial_scale,
                                  pool_mode == 1,
                                  aligned};
    const Dims bins = bins_of(boxes_desc, d, m.c);
    const Array grad("grads", grads_desc, grads, bins);
    std::optional<Array> from_x, from_y;
    if (!d.mean) from_x.emplace("argmax_x", argmax_x_desc, argmax_x, bins);
    if (!d.mean) from_y.emplace("argmax_y", argmax_y_desc, argmax_y, bins);
    const Result out("grads_image", grads_image_desc, grads_image);
    Values sum(at(out.count()));
    const auto give = [&](std::int64_t image, float y, float x, std::int64_t c, double g) {
      around(m, image, y, x, [&](std::int64_t pixel, double share) { sum[at(pixel * m.c + c)] += share * g; });
    };
    for_each_bin(d, m, boxes_of(m, boxes_desc, boxes),
                 [&](std::int64_t first, std::int64_t image, const auto& rows, const auto& columns) {
                   const auto count = static_cast<double>(rows.size() * columns.size());
                   for (std::int64_t c = 0; c < m.c; ++c) {
                     const double g = grad[first + c];
                     if (!d.mean) {
                       const auto y = static_cast<float>((*from_y)[first + c]);
                       if (y != -1) give(image, y, static_cast<float>((*from_x)[first + c]), c, g);
                       continue;
                     }
                     for (const float y : rows) {
                       for (const float x : columns) give(image, y, x, c, g / count);
                     }
                   }
                 });
    out.set(sum);
  });
}

cnnlStatus_t cnnlRoiPoolingForward(cnnlHandle_t, cnnlPoolingMode_t mode, cnnlTensorDescriptor_t input_desc,
                                   const void* input, cnnlTensorDescriptor_t rois_desc, const void* rois,
                                   float spatial_scale, cnnlTensorDescriptor_t output_desc, void* output, int* argmax) {
  return guarded(__func__, [&] {
    require_maximum(mode);
    const Image m = image_of("input", input_desc), bins = image_of("output", output_desc);
    const Array in("input", input_desc, input);
    const std::vector<Box> boxes = boxes_of(m, rois_desc, rois);
    const Result out("output", output_desc, output, Dims{rois_desc->dims[0], bins.h, bins.w, m.c});
    const Tensor places_desc = indices_like(*output_desc);
    const Result places("argmax", &places_desc, argmax);
    for (std::int64_t e = 0; e < out.count(); ++e) {
      const std::int64_t c = e % m.c, j = e / m.c % bins.w, i = e / m.c / bins.w % bins.h;
      const Box& box = boxes[at(e / m.c / bins.w / bins.h)];
      const Pixels rows = pixels(box.y1, box.y2, spatial_scale, bins.h, i, m.h),
                   columns = pixels(box.x1, box.x2, spatial_scale, bins.w, j, m.w);
      const bool none = rows.first >= rows.end || columns.first >= columns.end;
      double best = none ? 0 : lowest(*output_desc);
      std::int64_t place = -1;
      for (std::int64_t y = rows.first; y < rows.end; ++y) {
        for (std::int64_t x = columns.first; x < columns.end; ++x) {
          const double value = in[((box.image * m.h + y) * m.w + x) * m.c + c];
          if (value > best) best = value, place = y * m.w + x;
        }
      }
      out.set(e, best);
      places.set(e, static_cast<double>(place));
    }
  });
}

cnnlStatus_t cnnlRoiPoolingBackward(cnnlHandle_t, cnnlPoolingMode_t mode, cnnlTensorDescriptor_t grads_desc,
                                    const void* grads, cnnlTensorDescriptor_t rois_desc, const void* rois,
                                    cnnlTensorDescriptor_t argmax_desc, const int* argmax, float,
                                    cnnlTensorDescriptor_t grads_image_desc, void* grads_image) {
  return guarded(__func__, [&] {
    require_maximum(mode);
    const Image m = image_of("grads_image", grads_image_desc), bins = image_of("grads", grads_desc);
    const std::vector<Box> boxes = boxes_of(m, rois_desc, rois);
    const Array grad("grads", grads_desc, grads, {rois_desc->dims[0], bins.h, bins.w, m.c});
    const Array places("argmax", argmax_desc, argmax, grad.dims());
    const Result out("grads_image", grads_image_desc, grads_image);
    Values sum(at(out.count()));
    for (std::int64_t e = 0; e < grad.count(); ++e) {
      const auto place = static_cast<std::int64_t>(places[e]);
      const std::int64_t image = boxes[at(e / m.c / bins.w / bins.h)].image;
      if (place < 0 || place >= m.h * m.w) continue;
      sum[at((image * m.h * m.w + place) * m.c + e % m.c)] += grad[e];
    }
    out.set(sum);
  });
}
}
