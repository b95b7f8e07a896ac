// Deformable convolution in NHWC: the samples of one output pixel at a time, in double.
#include <cmath>

#include "backends/mlu_emu/neuware/cnnl/dense.h"
#include "backends/mlu_emu/neuware/cnnl/descriptors.h"

using namespace cnnl;  // NOLINT: the C functions' own names are all global

namespace {

struct Sizes {
  std::int64_t n, h, w, ci, out_h, out_w, co, kernel_h, kernel_w, groups, parts;

  std::int64_t taps() const { return kernel_h * kernel_w; }
  std::int64_t pixels() const { return n * out_h * out_w; }
  std::int64_t in() const { return ci / groups; }
  std::int64_t out() const { return co / groups; }
  Dims per_tap(std::int64_t numbers) const { return {n, out_h, out_w, parts * taps() * numbers}; }
};

std::int64_t outputs(std::int64_t size, int low, int high, int dilation, std::int64_t kernel, int stride) {
  const std::int64_t room = size + low + high - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

Sizes sizes_of(const cnnlDCNStruct* desc, const Tensor* input, const Tensor* filter, const Tensor* output) {
  require(desc != nullptr && desc->groups > 0, "dcn_desc must be set");
  require_image("input", input);
  require_image("filter", filter);
  require_image("output", output);
  const Dims &i = input->dims, &f = filter->dims, &o = output->dims;
  const Sizes s = {i[0], i[1], i[2], i[3], o[1], o[2], f[0], f[1], f[2], desc->groups, desc->parts};
  require(s.ci % s.groups == 0 && s.co % s.groups == 0, "conv_group must divide the channels of input and output");
  require(s.ci % s.parts == 0, "deformable_group must divide the channels of input");
  require(f[3] == s.in(), "filter: wanted the channels of a group of the input in its last dimension");
  require(o[0] == s.n && o[3] == s.co, "output must have the images of input and the channels of filter");
  const int* pad = desc->pad;
  require(s.out_h == outputs(s.h, pad[0], pad[1], desc->dilation[0], s.kernel_h, desc->stride[0]) &&
              s.out_w == outputs(s.w, pad[2], pad[3], desc->dilation[1], s.kernel_w, desc->stride[1]),
          "output must have the height and width of the convolution");
  return s;
}

/// The four pixels round a sample: their share in it, and how that grows with y and with x.
struct Sample {
  struct Corner {
    std::int64_t pixel = -1;  // outside of the image
    double share = 0, along_y = 0, along_x = 0;
  };
  Corner corners[4];
};

Sample sample_at(const Sizes& s, std::int64_t image, double y, double x) {
  Sample found;
  if (!(y > -1 && x > -1 && y < static_cast<double>(s.h) && x < static_cast<double>(s.w))) return found;
  const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
  const double down = y - static_cast<double>(top), right = x - static_cast<double>(left);
  for (int i = 0; i < 4; ++i) {
    const std::int64_t row = top + i / 2, column = left + i % 2;
    if (row < 0 || row >= s.h || column < 0 || column >= s.w) continue;
    const double of_y = i / 2 == 0 ? 1 - down : down, of_x = i % 2 == 0 ? 1 - right : right;
    found.corners[i] = {(image * s.h + row) * s.w + column, of_y * of_x, i / 2 == 0 ? -of_x : of_x,
                        i % 2 == 0 ? -of_y : of_y};
  }
  return found;
}

/// The tensors that every direction reads, and the taps of a pixel.
struct Taps {
  Taps(const cnnlDCNStruct* dcn, const Sizes& sizes, const Tensor* offset_desc, const void* offset_data,
       const Tensor* mask_desc, const void* mask_data)
      : desc(*dcn),
        s(sizes),
        offset("offset", offset_desc, offset_data, s.per_tap(2)),
        mask(optional_array("mask", mask_desc, mask_data, s.per_tap(1))) {}

  /// body(tap, first channel of its part, number of its mask element, mask, sample).
  template <class Body>
  void of_pixel(std::int64_t pixel, Body body) const {
    const std::int64_t row = pixel / s.out_w % s.out_h, column = pixel % s.out_w;
    for (std::int64_t number = pixel * s.parts * s.taps(), i = 0; i < s.parts * s.taps(); ++i, ++number) {
      const std::int64_t k = i % s.taps(), part = i / s.taps();
      const std::int64_t y = row * desc.stride[0] - desc.pad[0] + k / s.kernel_w * desc.dilation[0];
      const std::int64_t x = column * desc.stride[1] - desc.pad[2] + k % s.kernel_w * desc.dilation[1];
      body(k, part * (s.ci / s.parts), number, mask ? (*mask)[number] : 1.0,
           sample_at(s, pixel / (s.out_h * s.out_w), static_cast<double>(y) + offset[2 * number],
                     static_cast<double>(x) + offset[2 * number + 1]));
    }
  }
  /// The masked samples [tap, channel] of a pixel.
  void column(std::int64_t pixel, const Array& input, Values& samples) const {
    samples.assign(at(s.taps() * s.ci), 0.0);
    of_pixel(pixel, [&](std::int64_t k, std::int64_t first, std::int64_t, double m, const Sample& sample) {
      for (const Sample::Corner& corner : sample.corners) {
        if (corner.pixel < 0) continue;
        for (std::int64_t c = first; c < first + s.ci / s.parts; ++c) {
          samples[at(k * s.ci + c)] += m * corner.share * input[corner.pixel * s.ci + c];
        }
      }
    });
  }

  const cnnlDCNStruct& desc;
  const Sizes s;
  const Array offset;
  const std::optional<Array> mask;
};

/// body(output channel, number of the filter's element, number of the sample) for each product of a pixel.
template <class Body>
void for_each_product(const Sizes& s, Body body) {
  for (std::int64_t o = 0, element = 0; o < s.co; ++o) {
    const std::int64_t first = o / s.out() * s.in();
    for (std::int64_t k = 0; k < s.taps(); ++k) {
      for (std::int64_t c = 0; c < s.in(); ++c, ++element) body(o, element, k * s.ci + first + c);
    }
  }
}

/// Gradients of the data of one pixel, from the slope of each of its samples.
struct DataGradients {
  Values input, offset, mask;

  void add(const Taps& taps, std::int64_t pixel, const Array& in, const Values& slopes) {
    const Sizes& s = taps.s;
    taps.of_pixel(pixel, [&](std::int64_t k, std::int64_t first, std::int64_t number, double m, const Sample& sample) {
      for (const Sample::Corner& corner : sample.corners) {
        if (corner.pixel < 0) continue;
        double product = 0;
        for (std::int64_t c = first; c < first + s.ci / s.parts; ++c) {
          const double slope = slopes[at(k * s.ci + c)];
          product += slope * in[corner.pixel * s.ci + c];
          input[at(corner.pixel * s.ci + c)] += m * corner.share * slope;
        }
        offset[at(2 * number)] += m * corner.along_y * product;
        offset[at(2 * number + 1)] += m * corner.along_x * product;
        mask[at(number)] += corner.share * product;
      }
    });
  }
};

}  // namespace

extern "C" {

cnnlStatus_t cnnlDCNForward(cnnlHandle_t, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                            const void* input, cnnlTensorDescriptor_t offset_desc, const void* offset,
                            cnnlTensorDescriptor_t mask_desc, const void* mask, cnnlTensorDescriptor_t filter_desc,
                            const void* filter, cnnlTensorDescriptor_t bias_desc, const void* bias, void*, size_t,
                            cnnlTensorDescriptor_t output_desc, void* output) {
  return guarded(__func__, [&] {
    const Sizes s = sizes_of(desc, input_desc, filter_desc, output_desc);
    const Taps taps(desc, s, offset_desc, offset, mask_desc, mask);
    const Array in("input", input_desc, input);
    const Values weights = Array("filter", filter_desc, filter).values();
    const std::optional<Array> shift = optional_array("bias", bias_desc, bias, {s.co});
    const Result out("output", output_desc, output);
    Values samples, sum(at(s.co));
    for (std::int64_t pixel = 0; pixel < s.pixels(); ++pixel) {
      for (std::int64_t o = 0; o < s.co; ++o) sum[at(o)] = shift ? (*shift)[o] : 0.0;
      taps.column(pixel, in, samples);
      for_each_product(s, [&](std::int64_t o, std::int64_t element, std::int64_t sample) {
        sum[at(o)] += weights[at(element)] * samples[at(sample)];
      });
      for (std::int64_t o = 0; o < s.co; ++o) out.set(pixel * s.co + o, sum[at(o)]);
    }
  });
}

cnnlStatus_t cnnlDCNBackwardData(cnnlHandle_t, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                 const void* input, cnnlTensorDescriptor_t offset_desc, const void* offset,
                                 cnnlTensorDescriptor_t mask_desc, const void* mask, cnnlTensorDescriptor_t filter_desc,
                                 const void* filter, cnnlTensorDescriptor_t grad_output_desc, const void* grad_output,
                                 void*, size_t, cnnlTensorDescriptor_t grad_input_desc, void* grad_input,
                                 cnnlTensorDescriptor_t grad_offset_desc, void* grad_offset,
                                 cnnlTensorDescriptor_t grad_mask_desc, void* grad_mask) {
  return guarded(__func__, [&] {
    const Sizes s = sizes_of(desc, input_desc, filter_desc, grad_output_desc);
    const Taps taps(desc, s, offset_desc, offset, mask_desc, mask);
    const Array in("input", input_desc, input), grad("grad_output", grad_output_desc, grad_output);
    const Values weights = Array("filter", filter_desc, filter).values();
    const Result to_input("grad_input", grad_input_desc, grad_input, in.dims()),
        to_offset("grad_offset", grad_offset_desc, grad_offset, s.per_tap(2));
    std::optional<Result> to_mask;
    if (taps.mask) to_mask.emplace("grad_mask", grad_mask_desc, grad_mask, s.per_tap(1));
    DataGradients sum = {Values(at(in.count())), Values(at(taps.offset.count())), Values(at(taps.offset.count() / 2))};
    const Values of_output = grad.values();
    for (std::int64_t pixel = 0; pixel < s.pixels(); ++pixel) {
      Values slopes(at(s.taps() * s.ci), 0.0);
      for_each_product(s, [&](std::int64_t o, std::int64_t element, std::int64_t sample) {
        slopes[at(sample)] += weights[at(element)] * of_output[at(pixel * s.co + o)];
      });
      sum.add(taps, pixel, in, slopes);
    }
    to_input.set(sum.input);
    to_offset.set(sum.offset);
    if (to_mask) to_mask->set(sum.mask);
  });
}

cnnlStatus_t cnnlDCNBackwardWeight(cnnlHandle_t, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                   const void* input, cnnlTensorDescriptor_t offset_desc, const void* offset,
                                   cnnlTensorDescriptor_t mask_desc, const void* mask,
                                   cnnlTensorDescriptor_t grad_output_desc, const void* grad_output, void*, size_t,
                                   cnnlTensorDescriptor_t grad_filter_desc, void* grad_filter,
                                   cnnlTensorDescriptor_t grad_bias_desc, void* grad_bias) {
  return guarded(__func__, [&] {
    const Sizes s = sizes_of(desc, input_desc, grad_filter_desc, grad_output_desc);
    const Taps taps(desc, s, offset_desc, offset, mask_desc, mask);
    const Array in("input", input_desc, input), grad("grad_output", grad_output_desc, grad_output);
    const Result to_filter("grad_filter", grad_filter_desc, grad_filter);
    std::optional<Result> to_bias;
    if (grad_bias_desc != nullptr) to_bias.emplace("grad_bias", grad_bias_desc, grad_bias, Dims{s.co});
    const Values of_output = grad.values();
    Values samples, of_filter(at(to_filter.count())), of_bias(at(s.co));
    for (std::int64_t pixel = 0; pixel < s.pixels(); ++pixel) {
      taps.column(pixel, in, samples);
      for_each_product(s, [&](std::int64_t o, std::int64_t element, std::int64_t sample) {
        of_filter[at(element)] += of_output[at(pixel * s.co + o)] * samples[at(sample)];
      });
      for (std::int64_t o = 0; o < s.co; ++o) of_bias[at(o)] += of_output[at(pixel * s.co + o)];
    }
    to_filter.set(of_filter);
    if (to_bias) to_bias->set(of_bias);
  });
}
}
