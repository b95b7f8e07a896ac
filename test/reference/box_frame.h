// A point in the frame of an upright box: the operations, and their rounding, that decide whether it is inside.
#pragma once

#include <cmath>
#include <cstdint>

#include "test/reference/reference.h"

namespace mluops::reference {

class BoxFrame {
 public:
  /// box: bx, by, bz, dx, dy, dz, rz, where bz is the bottom, or the centre of a box to whose half sides 1e-5 is
  /// added. Every operation is rounded to float; for DOUBLE to double.
  BoxFrame(mluOpDataType_t dtype, const double* box, bool centred)
      : wide_(dtype == MLUOP_DTYPE_DOUBLE), box_(box), margin_(centred ? 1e-5 : 0) {
    middle_ = centred ? box[2] : round(box[2] + round(box[5] / 2));
    cosine_ = round(std::cos(-box[6]));
    sine_ = round(std::sin(-box[6]));
  }

  /// Along the box's own axis 0 or 1, from its centre.
  double local(const double* point, int axis) const {
    const double x = round(point[0] - box_[0]), y = round(point[1] - box_[1]);
    if (axis == 0) return round(round(x * cosine_) - round(y * sine_));
    return round(round(x * sine_) + round(y * cosine_));
  }

  bool has(const double* point) const {
    if (std::fabs(round(point[2] - middle_)) > round(box_[5] / 2)) return false;
    return near(point, 0) && near(point, 1);
  }

  double round(double x) const { return wide_ ? x : static_cast<double>(static_cast<float>(x)); }

 private:
  bool near(const double* point, int axis) const {
    return std::fabs(local(point, axis)) < round(box_[3 + axis] / 2 + margin_);
  }

  bool wide_;
  const double* box_;
  double margin_, middle_, cosine_, sine_;
};

}  // namespace mluops::reference
