#include "test/reference/roiaware_pool3d.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/reference/box_frame.h"

namespace mluops::reference {
namespace {

// The number of the voxel, along one axis, that `from`, a distance from the box's lower end, lies in.
std::int64_t place(const BoxFrame& frame, double from, double side, std::int64_t count) {
  const double at = frame.round(from / frame.round(side / static_cast<double>(count)));
  if (std::isnan(at)) return 0;
  return static_cast<std::int64_t>(std::clamp(std::trunc(at), 0.0, static_cast<double>(count - 1)));
}

std::int64_t voxel_of(const mluopsRoiAwarePool3dShape& s, const BoxFrame& frame, const double* roi,
                      const double* point) {
  std::int64_t at[3];
  const std::int64_t counts[] = {s.x, s.y, s.z};
  for (int axis = 0; axis < 2; ++axis) {
    const double from = frame.round(frame.local(point, axis) + frame.round(roi[3 + axis] / 2));
    at[axis] = place(frame, from, roi[3 + axis], counts[axis]);
  }
  at[2] = place(frame, frame.round(point[2] - roi[2]), roi[5], counts[2]);
  return (at[0] * s.y + at[1]) * s.z + at[2];
}

}  // namespace

RoiAwarePool3dResult roiaware_pool3d_forward(const mluopsRoiAwarePool3dForwardProblem& p) {
  const mluopsRoiAwarePool3dShape& s = p.shape;
  const Values rois = decode(s.dtype, p.rois, s.n * 7), pts = decode(s.dtype, p.pts, s.points * 3);
  const Values features = decode(s.dtype, p.pts_feature, s.points * s.c);
  const std::int64_t voxels = s.x * s.y * s.z;
  RoiAwarePool3dResult r;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const double* const roi = &rois[7 * n];
    const BoxFrame frame(s.dtype, roi, false);
    std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(voxels));
    for (std::int64_t i = 0; i < s.points; ++i) {
      if (!frame.has(&pts[3 * i])) continue;
      auto& voxel = members[static_cast<std::size_t>(voxel_of(s, frame, roi, &pts[3 * i]))];
      if (std::ssize(voxel) < s.most - 1) voxel.push_back(i);
    }
    for (const auto& voxel : members) {
      Values noted(static_cast<std::size_t>(s.most), 0.0);
      noted[0] = static_cast<double>(voxel.size());
      std::copy(voxel.begin(), voxel.end(), noted.begin() + 1);
      r.points.insert(r.points.end(), noted.begin(), noted.end());
      for (std::int64_t c = 0; c < s.c; ++c) {
        double greatest = -std::numeric_limits<double>::infinity(), which = -1, sum = 0;
        for (const std::int64_t i : voxel) {
          const double value = features[i * s.c + c];
          if (value > greatest) greatest = value, which = static_cast<double>(i);
          sum += value;
        }
        const double mean = voxel.empty() ? 0 : sum / static_cast<double>(voxel.size());
        r.pooled.push_back(s.mean != 0 ? mean : which < 0 ? 0 : greatest);
        r.argmax.push_back(s.mean != 0 ? 0 : which);
      }
    }
  }
  return r;
}

Values roiaware_pool3d_backward(const mluopsRoiAwarePool3dBackwardProblem& p) {
  const mluopsRoiAwarePool3dShape& s = p.shape;
  const std::int64_t voxels = s.n * s.x * s.y * s.z;
  const Values grad = decode(s.dtype, p.grad_output, voxels * s.c);
  Values result(static_cast<std::size_t>(s.points * s.c), 0.0);
  const auto add = [&](std::int64_t point, std::int64_t c, double value) {
    if (point >= 0 && point < s.points) result[point * s.c + c] += value;
  };
  for (std::int64_t v = 0; v < voxels; ++v) {
    const std::int32_t* const noted = p.pts_idx_of_voxels + v * s.most;
    const std::int64_t count = std::clamp<std::int64_t>(noted[0], 0, s.most - 1);
    for (std::int64_t c = 0; c < s.c; ++c) {
      if (s.mean == 0) {
        add(p.argmax[v * s.c + c], c, grad[v * s.c + c]);
        continue;
      }
      for (std::int64_t i = 1; i <= count; ++i) add(noted[i], c, grad[v * s.c + c] / static_cast<double>(count));
    }
  }
  return result;
}

}  // namespace mluops::reference
