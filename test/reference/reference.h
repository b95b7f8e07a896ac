// The operators in double precision, written from their formulas: what every backend is measured against.
//
// Single-threaded, no tricks, and where a backend gathers this scatters (and the other way round). Results are doubles
// whatever the dtype of the inputs; tensors have the shapes of mluops/problem.h. The output pointers of a problem are
// not looked at. Values found in the data that lead nowhere (indices, argmax out of range) contribute nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "mluops/problem.h"

namespace mluops::reference {

using Values = std::vector<double>;

/// Precision of sample coordinates (RoI corners, strides, bin sizes): every single operation on them is rounded to it.
/// Where a coordinate falls decides which pixels are read and whether it is outside, so a kernel that computes
/// coordinates in float has to be compared with a model that does. Everything behind the coordinate stays double.
enum class Coordinates { kDouble, kFloat, kHalf };

/// count elements of dtype HALF, FLOAT, DOUBLE, BFLOAT16, BOOL, INT32 or INT64 as doubles (INT64 exact to 2^53).
Values decode(mluOpDataType_t dtype, const void* data, std::int64_t count);

/// output [n,ho,wo,c].
Values carafe_forward(const mluopsCarafeForwardProblem& problem);

struct CarafeGradients {
  Values input;  ///< [n,h,w,c]
  Values mask;   ///< [n,ho,wo,group*kernel*kernel]
};
CarafeGradients carafe_backward(const mluopsCarafeBackwardProblem& problem);

/// y [n,h,w,h*w].
Values psamask_forward(const mluopsPsamaskForwardProblem& problem);
/// dx [n,h,w,h_mask*w_mask].
Values psamask_backward(const mluopsPsamaskBackwardProblem& problem);

/// output [b,c,n].
Values three_interpolate_forward(const mluopsThreeInterpolateForwardProblem& problem);
/// grad_features [b,c,m].
Values three_interpolate_backward(const mluopsThreeInterpolateBackwardProblem& problem);
/// grad_weights [b,n,3].
Values three_interpolate_backward_weight(const mluopsThreeInterpolateBackwardWeightProblem& problem);

/// output [rois,pooled_h,pooled_w,c]. RoIs and offsets must be finite.
Values deform_roi_pool_forward(const mluopsDeformRoiPoolForwardProblem& problem,
                               Coordinates coordinates = Coordinates::kDouble);

struct DeformRoiPoolGradients {
  Values input;   ///< [batch,h,w,c]
  Values offset;  ///< [rois,2,pooled_h,pooled_w]; empty without offset
};
/// The gradient of offset is the device's: it uses the coordinates before they are clamped to the map.
DeformRoiPoolGradients deform_roi_pool_backward(const mluopsDeformRoiPoolBackwardProblem& problem,
                                                Coordinates coordinates = Coordinates::kDouble);

struct BorderAlignResult {
  Values output;                     ///< [n,k,4,c]
  std::vector<std::int32_t> argmax;  ///< [n,k,4,c]
};
BorderAlignResult border_align_forward(const mluopsBorderAlignForwardProblem& problem,
                                       Coordinates coordinates = Coordinates::kDouble);
/// Value of every sample, not only of the greatest: tells a tie from a mistake.
class BorderAlignSamples {
 public:
  BorderAlignSamples(const mluopsBorderAlignForwardProblem& problem, Coordinates coordinates);
  /// Value of sample index (0..pool_size) for one element of the output.
  double operator()(std::int64_t element, int index) const;

 private:
  mluopsBorderAlignShape shape_;
  Coordinates coordinates_;
  Values input_, boxes_;
};
/// grad_input [n,h,w,4*c].
Values border_align_backward(const mluopsBorderAlignBackwardProblem& problem,
                             Coordinates coordinates = Coordinates::kDouble);

}  // namespace mluops::reference
