#include "test/cases/base/nchw.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace mluops::cases {
namespace {

/// An image tensor and the way between the numbers of its elements in the two layouts.
struct Image {
  std::int64_t n, pixels, channels;
  std::size_t element;

  explicit Image(const TensorSpec& nhwc)
      : n(nhwc.dims[0]),
        pixels(nhwc.dims[1] * nhwc.dims[2]),
        channels(nhwc.dims[3]),
        element(element_size(nhwc.dtype)) {}

  std::int64_t count() const { return n * pixels * channels; }
  /// Number in NHWC of element i of NCHW.
  std::int64_t nhwc(std::int64_t i) const {
    return (i / (pixels * channels) * pixels + i % pixels) * channels + i / pixels % channels;
  }
};

using Bytes = std::vector<unsigned char>;

/// Bytes of an NCHW tensor in NHWC order.
Bytes to_nhwc(const Image& image, const void* nchw) {
  Bytes bytes(static_cast<std::size_t>(image.count()) * image.element);
  const auto* const from = static_cast<const unsigned char*>(nchw);
  for (std::int64_t i = 0; i < image.count(); ++i) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(image.nhwc(i)) * image.element,
                from + static_cast<std::size_t>(i) * image.element, image.element);
  }
  return bytes;
}

Values to_nchw(const Image& image, const Values& nhwc) {
  Values values(nhwc.size());
  for (std::int64_t i = 0; i < image.count(); ++i) {
    values[static_cast<std::size_t>(i)] = nhwc[static_cast<std::size_t>(image.nhwc(i))];
  }
  return values;
}

bool is_image(const TensorSpec& t) {
  return t.layout == MLUOP_LAYOUT_NHWC && t.dims.size() == 4;
}

/// The tensors as they were in NHWC, and a call's inputs put back into that order.
class Original {
 public:
  explicit Original(const std::vector<TensorSpec>& tensors) : tensors_(tensors) {}

  /// Inputs in NHWC; `keep` holds the bytes.
  Inputs inputs(const Inputs& given, std::vector<Bytes>& keep) const {
    Inputs nhwc;
    std::size_t next = 0;
    for (const TensorSpec& t : tensors_) {
      if (t.is_output()) continue;
      const void* const data = given[next++];
      if (is_image(t)) keep.push_back(to_nhwc(Image(t), data));
      nhwc.push_back(is_image(t) ? keep.back().data() : data);
    }
    return nhwc;
  }

  std::vector<Values> outputs(std::vector<Values> nhwc) const {
    std::size_t next = 0;
    for (const TensorSpec& t : tensors_) {
      if (!t.is_output()) continue;
      if (is_image(t)) nhwc[next] = to_nchw(Image(t), nhwc[next]);
      ++next;
    }
    return nhwc;
  }

  /// The output whose elements are choices.
  const TensorSpec& choice() const {
    return *std::find_if(tensors_.begin(), tensors_.end(),
                         [](const TensorSpec& t) { return t.comparison == Comparison::kChoice; });
  }

 private:
  std::vector<TensorSpec> tensors_;
};

void move_tensor(TensorSpec& t) {
  const Image image(t);
  t.layout = MLUOP_LAYOUT_NCHW;
  t.dims = {t.dims[0], t.dims[3], t.dims[1], t.dims[2]};
  t.runs = {};  // the share stays; which elements it is differs
  if (t.fill) t.fill = [image, fill = std::move(t.fill)](std::int64_t i) { return fill(image.nhwc(i)); };
}

}  // namespace

bool has_images(const Description& d) {
  return std::any_of(d.tensors.begin(), d.tensors.end(), is_image);
}

Description as_nchw(Description d) {
  const auto original = std::make_shared<const Original>(d.tensors);
  d.reference = [original, reference = std::move(d.reference)](const Inputs& inputs, Coordinates c) {
    std::vector<Bytes> keep;
    return original->outputs(reference(original->inputs(inputs, keep), c));
  };
  if (d.samples) {
    d.samples = [original, samples = std::move(d.samples)](const Inputs& inputs, Coordinates c) -> SampleValue {
      const auto keep = std::make_shared<std::vector<Bytes>>();
      return [keep, image = Image(original->choice()), value = samples(original->inputs(inputs, *keep), c)](
                 std::int64_t i, int choice) { return value(image.nhwc(i), choice); };
    };
  }
  for (TensorSpec& t : d.tensors) {
    if (is_image(t)) move_tensor(t);
  }
  return d;
}

}  // namespace mluops::cases
