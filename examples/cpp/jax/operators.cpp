// Five operators and their gradients as custom calls of XLA, in float32. examples/python/jax_operators.py compiles this
// file and registers what it defines. Images are NHWC. A gradient takes the inputs of its operator and then the
// gradient of the output.
#include <tuple>
#include <type_traits>
#include <utility>

#include <xla/ffi/api/ffi.h>

#include "mlu_op.h"
#include "mlu_op_ext.h"

namespace {

namespace ffi = xla::ffi;
using Floats = ffi::Buffer<ffi::F32>;
using Integers = ffi::Buffer<ffi::S32>;
using Output = ffi::Result<Floats>;

template <class T, mluOpStatus_t create(T**), mluOpStatus_t destroy(T*)>
class Owned {
 public:
  Owned() { (void)create(&made_); }  // what is made of nothing is refused where it is used
  Owned(Owned&& other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
  ~Owned() {
    if (made_ != nullptr) (void)destroy(made_);
  }
  T* get() const { return made_; }

 private:
  T* made_ = nullptr;
};
using Handle = Owned<mluOpContext, mluOpCreate, mluOpDestroy>;
using Descriptor = Owned<mluOpTensorStruct, mluOpCreateTensorDescriptor, mluOpDestroyTensorDescriptor>;
using Carafe = Owned<mluOpCarafeStruct, mluOpCreateCarafeDescriptor, mluOpDestroyCarafeDescriptor>;
using RoiAlign =
    Owned<mluOpRoiAlignStruct, mluOpCreateRoiAlignForwardDescriptor, mluOpDestroyRoiAlignForwardDescriptor>;

struct Tensor {
  template <class Buffer>
  Tensor(const Buffer& buffer, mluOpTensorLayout_t layout) : data(buffer.untyped_data()) {
    const auto sizes = buffer.dimensions();
    (void)mluOpSetTensorDescriptor_v2(descriptor.get(), layout,
                                      std::is_same_v<Buffer, Floats> ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_INT32,
                                      static_cast<int>(sizes.size()), sizes.begin());
  }
  Descriptor descriptor;
  void* data;
};

Tensor array(const Floats& buffer) {
  return {buffer, MLUOP_LAYOUT_ARRAY};
}
Tensor array(const Integers& buffer) {
  return {buffer, MLUOP_LAYOUT_ARRAY};
}
Tensor array(Output buffer) {
  return {*buffer, MLUOP_LAYOUT_ARRAY};
}
Tensor image(const Floats& buffer) {
  return {buffer, MLUOP_LAYOUT_NHWC};
}
Tensor image(Output buffer) {
  return {*buffer, MLUOP_LAYOUT_NHWC};
}

std::tuple<mluOpTensorDescriptor_t, void*> as_arguments(const Tensor& tensor) {
  return {tensor.descriptor.get(), tensor.data};
}
template <class T>
std::tuple<T> as_arguments(T number) {
  return {number};
}

/// Calls a function of the library: tensors as descriptor and address, all else as it is.
template <class Function, class... Arguments>
ffi::Error call(Function function, const Arguments&... arguments) {
  thread_local const Handle handle;  // which one thread at a time may use
  const mluOpStatus_t status =
      std::apply(function, std::tuple_cat(as_arguments(handle.get()), as_arguments(arguments)...));
  return status == MLUOP_STATUS_SUCCESS ? ffi::Error::Success()
                                        : ffi::Error::InvalidArgument(mluOpExtGetLastErrorText());
}

ffi::Error gather_points(Floats points, Integers idx, Output out) {
  return call(mluOpExtGatherPoints, array(points), array(idx), array(out));
}
ffi::Error gather_points_backward(Floats, Integers idx, Floats grad, Output grad_points) {
  return call(mluOpExtGatherPointsBackward, array(grad), array(idx), array(grad_points));
}

ffi::Error three_interpolate(Floats features, Floats weights, Integers indices, Output out) {
  return call(mluOpThreeInterpolateForward, array(features), array(indices), array(weights), array(out));
}
ffi::Error three_interpolate_backward(Floats features, Floats weights, Integers indices, Floats grad,
                                      Output grad_features, Output grad_weights) {
  const ffi::Error error =
      call(mluOpThreeInterpolateBackward, array(grad), array(indices), array(weights), array(grad_features));
  if (error.failure()) return error;
  return call(mluOpExtThreeInterpolateBackwardWeight, array(grad), array(features), array(indices),
              array(grad_weights));
}

ffi::Error psa_mask(Floats x, Output y, int type, int height, int width) {
  return call(mluOpPsamaskForward, type, image(x), height, width, image(y));
}
ffi::Error psa_mask_backward(Floats, Floats grad, Output grad_x, int type, int height, int width) {
  return call(mluOpPsamaskBackward, type, image(grad), height, width, image(grad_x));
}

ffi::Error carafe(Floats features, Floats masks, Output out, int kernel, int group, int scale) {
  const Carafe form;
  (void)mluOpSetCarafeDescriptor(form.get(), 4, kernel, group, scale);
  return call(mluOpCarafeForward, form.get(), image(features), image(masks), image(out));
}
ffi::Error carafe_backward(Floats features, Floats masks, Floats grad, Output grad_features, Output grad_masks,
                           int kernel, int group, int scale) {
  const Carafe form;
  (void)mluOpSetCarafeDescriptor(form.get(), 4, kernel, group, scale);
  return call(mluOpCarafeBackward, form.get(), image(features), image(masks), image(grad), image(grad_features),
              image(grad_masks));
}

ffi::Error roi_align(Floats features, Floats rois, Output out, float scale, int samples, bool aligned) {
  const RoiAlign form;
  const auto sizes = out->dimensions();
  (void)mluOpSetRoiAlignForwardDescriptor_v2(form.get(), static_cast<int>(sizes[1]), static_cast<int>(sizes[2]),
                                             samples, scale, 1, aligned);
  const mluOpTensorDescriptor_t no_places = nullptr;
  void* const none = nullptr;
  return call(mluOpRoiAlignForward_v2, form.get(), image(features), array(rois), image(out), no_places, none, no_places,
              none);
}
ffi::Error roi_align_backward(Floats, Floats rois, Floats grad, Output grad_features, float scale, int samples,
                              bool aligned) {
  return call(mluOpRoiAlignBackward, scale, samples, aligned, image(grad), array(rois), image(grad_features));
}

}  // namespace

#define BIND ffi::Ffi::Bind()
#define MASK .Attr<int>("type").Attr<int>("height").Attr<int>("width")
#define UPSAMPLING .Attr<int>("kernel").Attr<int>("group").Attr<int>("scale")
#define POOLING .Attr<float>("scale").Attr<int>("samples").Attr<bool>("aligned")
#define DEFINE XLA_FFI_DEFINE_HANDLER_SYMBOL

DEFINE(jax_gather_points, gather_points, BIND.Arg<Floats>().Arg<Integers>().Ret<Floats>());
DEFINE(jax_gather_points_backward, gather_points_backward,
       BIND.Arg<Floats>().Arg<Integers>().Arg<Floats>().Ret<Floats>());
DEFINE(jax_three_interpolate, three_interpolate, BIND.Arg<Floats>().Arg<Floats>().Arg<Integers>().Ret<Floats>());
DEFINE(jax_three_interpolate_backward, three_interpolate_backward,
       BIND.Arg<Floats>().Arg<Floats>().Arg<Integers>().Arg<Floats>().Ret<Floats>().Ret<Floats>());
DEFINE(jax_psa_mask, psa_mask, BIND.Arg<Floats>().Ret<Floats>() MASK);
DEFINE(jax_psa_mask_backward, psa_mask_backward, BIND.Arg<Floats>().Arg<Floats>().Ret<Floats>() MASK);
DEFINE(jax_carafe, carafe, BIND.Arg<Floats>().Arg<Floats>().Ret<Floats>() UPSAMPLING);
DEFINE(jax_carafe_backward, carafe_backward,
       BIND.Arg<Floats>().Arg<Floats>().Arg<Floats>().Ret<Floats>().Ret<Floats>() UPSAMPLING);
DEFINE(jax_roi_align, roi_align, BIND.Arg<Floats>().Arg<Floats>().Ret<Floats>() POOLING);
DEFINE(jax_roi_align_backward, roi_align_backward,
       BIND.Arg<Floats>().Arg<Floats>().Arg<Floats>().Ret<Floats>() POOLING);
