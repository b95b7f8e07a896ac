// The custom operators, by the names, attributes and inputs under which mmdeploy and mmcv export models; names in small
// letters are those of mluops.torch.onnx. Those that suppress boxes are in suppression.h. Images are NCHW.
#include "api/onnxruntime/operators.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/onnxruntime/kernel.h"
#include "api/onnxruntime/suppression.h"
#include "mlu_op.h"
#include "mlu_op_ext.h"

namespace mluops::ort {
namespace {

// ---- Deformable convolution ---------------------------------------------------------------

using DcnDescriptor = Owned<mluOpDCNStruct, mluOpCreateDCNDescriptor, mluOpDestroyDCNDescriptor>;

class Convolution {
 public:
  explicit Convolution(const Attributes& of)
      : stride_(of.integers("stride", 2, 1)),
        padding_(of.integers("padding", 2, 0)),
        dilation_(of.integers("dilation", 2, 1)),
        descriptor_(of.api()) {
    const int pad[] = {padding_[0], padding_[0], padding_[1], padding_[1]};
    set(of.api(),
        mluOpSetDCNDescriptor(descriptor_.get(), 4, pad, stride_.data(), dilation_.data(),
                              of.integer("deform_groups", 1), of.integer("groups", 1), kOneImage, MLUOP_DTYPE_FLOAT));
  }

  void compute(const Call& call, const Tensor* mask, const Tensor& weight, const Tensor* bias) const {
    const Tensor image = call.input(0, "input", 4), offset = call.input(1, "offset", 4);
    const std::vector<std::int64_t> sizes = {image.sizes[0], weight.sizes[0], out_size(call, image, weight, 0),
                                             out_size(call, image, weight, 1)};
    const Tensor output = call.output(0, sizes, image.dtype);
    const Descriptor image_desc(call, &image, MLUOP_LAYOUT_NCHW), offset_desc(call, &offset, MLUOP_LAYOUT_NCHW),
        mask_desc(call, mask, MLUOP_LAYOUT_NCHW), weight_desc(call, &weight, MLUOP_LAYOUT_NCHW),
        bias_desc(call, bias, MLUOP_LAYOUT_ARRAY), output_desc(call, &output, MLUOP_LAYOUT_NCHW);
    if (output.count() == 0) return;
    call.check(mluOpDCNForward(call.handle(), descriptor_.get(), image_desc, image.data, offset_desc, offset.data,
                               mask_desc, mask != nullptr ? mask->data : nullptr, weight_desc, weight.data, bias_desc,
                               bias != nullptr ? bias->data : nullptr, nullptr, 0, output_desc, output.data));
  }

 private:
  static constexpr int kOneImage = 1;

  std::int64_t out_size(const Call& call, const Tensor& image, const Tensor& weight, std::size_t axis) const {
    const std::int64_t padded = image.sizes[2 + axis] + 2 * std::int64_t{padding_[axis]};
    const std::int64_t reach = dilation_[axis] * (weight.sizes[2 + axis] - 1) + 1;
    if (padded < reach || weight.sizes[2 + axis] < 1) {
      call.refuse("weight: wanted a " + std::string(axis == 0 ? "height" : "width") + " of 1 or more that fits into " +
                  std::to_string(padded) + " pixels of the padded input, got " +
                  std::to_string(weight.sizes[2 + axis]) + " with dilation " + std::to_string(dilation_[axis]));
    }
    return (padded - reach) / stride_[axis] + 1;
  }

  std::vector<int> stride_, padding_, dilation_;
  DcnDescriptor descriptor_;
};

/// input, offset, mask, weight, bias or none.
struct ModulatedDeformConv2d : OneType {
  static constexpr const char* kName = "MMCVModulatedDeformConv2d";
  static constexpr std::size_t kInputs = 5;
  static Presence presence(std::size_t i) { return i == 4 ? kOptional : kRequired; }

  explicit ModulatedDeformConv2d(const Attributes& of) : convolution(of) {}
  void compute(const Call& call) const {
    const Tensor mask = call.input(2, "mask", 4), weight = call.input(3, "weight", 4);
    if (!call.has_input(4)) return convolution.compute(call, &mask, weight, nullptr);
    const Tensor bias = call.input(4, "bias", 1);
    convolution.compute(call, &mask, weight, &bias);
  }

  Convolution convolution;
};

/// input, offset, weight.
struct DeformConv2d : OneType {
  static constexpr const char* kName = "MMCVDeformConv2d";
  static constexpr std::size_t kInputs = 3;

  explicit DeformConv2d(const Attributes& of) : convolution(of) {}
  void compute(const Call& call) const { convolution.compute(call, nullptr, call.input(2, "weight", 4), nullptr); }

  Convolution convolution;
};

// ---- Multi-scale deformable attention -----------------------------------------------------

/// value, spatial_shapes, level_start_index, sampling_locations, attention_weights; output [B, Q, M * D].
struct MultiScaleDeformableAttention : OneType {
  static constexpr const char* kName = "MMCVMultiScaleDeformableAttention";
  static constexpr std::size_t kInputs = 5;
  static ElementType input_type(std::size_t i, ElementType own) { return i == 1 || i == 2 ? kInt64 : own; }

  explicit MultiScaleDeformableAttention(const Attributes&) {}
  void compute(const Call& call) const {
    const Tensor value = call.input(0, "value", 4), locations = call.input(3, "sampling_locations", 6),
                 weights = call.input(4, "attention_weights", 5);
    std::vector<std::int32_t> sizes = call.integers(1, "value_spatial_shapes", 2),
                              starts = call.integers(2, "value_level_start_index", 1);
    const auto levels = static_cast<std::int64_t>(starts.size());
    const Tensor shapes{MLUOP_DTYPE_INT32, call.input(1, "value_spatial_shapes", 2).sizes, sizes.data()};
    const Tensor first{MLUOP_DTYPE_INT32, {levels}, starts.data()};
    const std::int64_t batch = value.sizes[0], queries = weights.sizes[1], heads = value.sizes[2],
                       channels = value.sizes[3];
    const Tensor output = call.output(0, {batch, queries, heads * channels}, value.dtype);
    if (output.count() == 0) return;
    const Tensor by_head{value.dtype, {batch, queries, heads, channels}, output.data};
    const Descriptor value_desc(call, &value, MLUOP_LAYOUT_ARRAY), shapes_desc(call, &shapes, MLUOP_LAYOUT_ARRAY),
        first_desc(call, &first, MLUOP_LAYOUT_ARRAY), locations_desc(call, &locations, MLUOP_LAYOUT_ARRAY),
        weights_desc(call, &weights, MLUOP_LAYOUT_ARRAY), output_desc(call, &by_head, MLUOP_LAYOUT_ARRAY);
    call.check(mluOpMsDeformAttnForward(call.handle(), value_desc, value.data, shapes_desc, shapes.data, first_desc,
                                        first.data, locations_desc, locations.data, weights_desc, weights.data,
                                        kOneImage, output_desc, by_head.data));
  }

  static constexpr int kOneImage = 1;  // im2col_step, which has no effect but must divide the batch
};

// ---- RoIAlign -----------------------------------------------------------------------------

using RoiAlignDescriptor =
    Owned<mluOpRoiAlignStruct, mluOpCreateRoiAlignForwardDescriptor, mluOpDestroyRoiAlignForwardDescriptor>;

/// The tensors of an operator on RoIs, described: input NCHW, rois, output with height x width bins for each RoI.
struct RoiTensors {
  RoiTensors(const Call& call, int height, int width)
      : image(call.input(0, "input", 4)),
        rois(call.input(1, "rois", 2)),
        output(call.output(0, {rois.sizes[0], image.sizes[1], height, width}, image.dtype)),
        image_desc(call, &image, MLUOP_LAYOUT_NCHW),
        rois_desc(call, &rois, MLUOP_LAYOUT_ARRAY),
        output_desc(call, &output, MLUOP_LAYOUT_NCHW) {}

  const Tensor image, rois, output;
  const Descriptor image_desc, rois_desc, output_desc;
};

void require_bins(const Api& api, int height, int width) {
  for (const auto& [name, bins] : {std::pair("output_height", height), std::pair("output_width", width)}) {
    if (bins < 1) {
      refuse(api, kInvalidArgument, std::string(name) + ": wanted 1 or more, got " + std::to_string(bins));
    }
  }
}

/// input, rois [R, 5].
struct RoiAlign : OneType {
  static constexpr const char* kName = "MMCVRoiAlign";
  static constexpr std::size_t kInputs = 2;

  explicit RoiAlign(const Attributes& of)
      : height(of.integer("output_height", 1)),
        width(of.integer("output_width", 1)),
        greatest(of.text("mode", "avg") == "max"),
        descriptor(of.api()) {
    if (!greatest && of.text("mode", "avg") != "avg") {
      refuse(of.api(), kInvalidArgument, "mode: wanted avg or max, got " + of.text("mode", ""));
    }
    set(of.api(), mluOpSetRoiAlignForwardDescriptor_v2(descriptor.get(), height, width, of.integer("sampling_ratio", 0),
                                                       of.real("spatial_scale", 1), greatest ? 0 : 1,
                                                       of.integer("aligned", 1) != 0));
  }

  void compute(const Call& call) const {
    const RoiTensors t(call, height, width);
    if (t.output.count() == 0) return;
    std::vector<char> places[2];  // of the greatest samples, which nobody asks for
    Tensor argmax[2] = {t.output, t.output};
    for (int axis = 0; axis < 2 && greatest; ++axis) {
      places[axis].resize(static_cast<std::size_t>(t.output.count()) * sizeof(double));
      argmax[axis].data = places[axis].data();
    }
    const Descriptor argmax_desc(call, greatest ? &t.output : nullptr, MLUOP_LAYOUT_NCHW);
    call.check(mluOpRoiAlignForward_v2(call.handle(), descriptor.get(), t.image_desc, t.image.data, t.rois_desc,
                                       t.rois.data, t.output_desc, t.output.data, argmax_desc,
                                       greatest ? argmax[0].data : nullptr, argmax_desc,
                                       greatest ? argmax[1].data : nullptr));
  }

  int height, width;
  bool greatest;
  RoiAlignDescriptor descriptor;
};

/// input, rois [R, 5].
struct RoiPool : OneType {
  static constexpr const char* kName = "roi_pool";
  static constexpr std::size_t kInputs = 2;

  explicit RoiPool(const Attributes& of)
      : height(of.integer("output_height", 1)),
        width(of.integer("output_width", 1)),
        scale(of.real("spatial_scale", 1)) {
    require_bins(of.api(), height, width);
  }

  void compute(const Call& call) const {
    const RoiTensors t(call, height, width);
    if (t.output.count() == 0) return;
    call.check(mluOpRoiPoolingForward(call.handle(), MLUOP_POOLING_MAX, t.image_desc, t.image.data, t.rois_desc,
                                      t.rois.data, scale, t.output_desc, t.output.data, nullptr));
  }

  int height, width;
  float scale;
};

/// input, rois [R, 6].
struct RoiAlignRotated : OneType {
  static constexpr const char* kName = "MMCVRoIAlignRotated";
  static constexpr std::size_t kInputs = 2;

  explicit RoiAlignRotated(const Attributes& of)
      : height(of.integer("output_height", 1)),
        width(of.integer("output_width", 1)),
        samples(of.integer("sampling_ratio", 0)),
        scale(of.real("spatial_scale", 1)),
        aligned(of.integer("aligned", 1) != 0),
        clockwise(of.integer("clockwise", 0) != 0) {
    require_bins(of.api(), height, width);
  }

  void compute(const Call& call) const {
    const RoiTensors t(call, height, width);
    if (t.output.count() == 0) return;
    call.check(mluOpRoiAlignRotatedForward(call.handle(), t.image_desc, t.image.data, t.rois_desc, t.rois.data, height,
                                           width, samples, scale, aligned, clockwise, t.output_desc, t.output.data));
  }

  int height, width, samples;
  float scale;
  bool aligned, clockwise;
};

// ---- What onnxruntime asks ----------------------------------------------------------------

template <class Kernel>
struct Instance {
  Instance(const Api& own, const KernelInfo* info) : api(own), kernel(Attributes(own, info)) {}

  const Api& api;
  Kernel kernel;
};

/// Nothing may be thrown through onnxruntime.
template <class Work>
Status* guarded(const Api& api, const Work& work) {
  try {
    work();
    return nullptr;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::exception& error) {
    return create_status(api, kFail, error.what());
  }
}

template <class Kernel, ElementType kType>
CustomOperator description() {
  using Self = CustomOperator::Self;
  CustomOperator op;
  op.name = [](Self) { return Kernel::kName; };
  op.provider = [](Self) -> const char* { return nullptr; };
  op.input_type = [](Self, std::size_t i) { return Kernel::input_type(i, kType); };
  op.input_types = [](Self) { return Kernel::kInputs; };
  op.output_type = [](Self, std::size_t i) { return Kernel::output_type(i, kType); };
  op.output_types = [](Self) { return Kernel::kOutputs; };
  op.input_presence = [](Self, std::size_t i) { return Kernel::presence(i); };
  op.output_presence = [](Self, std::size_t) { return kRequired; };
  op.input_memory = [](Self, std::size_t) { return 0; };
  op.variadic_inputs = op.variadic_outputs = [](Self) { return 1; };
  op.variadic_inputs_alike = op.variadic_outputs_alike = [](Self) { return 1; };
  op.create_or_fail = [](Self, const Api* api, const KernelInfo* info, void** out) {
    return guarded(*api, [&] { *out = std::make_unique<Instance<Kernel>>(*api, info).release(); });
  };
  op.compute_or_fail = [](void* kernel, KernelContext* context) {
    const auto& own = *static_cast<Instance<Kernel>*>(kernel);
    return guarded(own.api, [&] { own.kernel.compute(Call(own.api, context)); });
  };
  op.destroy = [](void* kernel) { delete static_cast<Instance<Kernel>*>(kernel); };
  return op;
}

template <class Kernel>
void append(std::vector<CustomOperator>& all) {
  all.push_back(description<Kernel, kFloat>());
  all.push_back(description<Kernel, kFloat16>());
  all.push_back(description<Kernel, kDouble>());
}

}  // namespace

const std::vector<CustomOperator>& operators() {
  static const std::vector<CustomOperator> all = [] {
    std::vector<CustomOperator> list;
    append<ModulatedDeformConv2d>(list);
    append<DeformConv2d>(list);
    append<MultiScaleDeformableAttention>(list);
    append<RoiAlign>(list);
    append<RoiAlignRotated>(list);
    append<RoiPool>(list);
    append<Nms>(list);
    append<SoftNms>(list);
    append<SoftNonMaxSuppression>(list);
    append<NmsRotated>(list);
    append<NmsRotatedOfClasses>(list);
    return list;
  }();
  return all;
}

}  // namespace mluops::ort
