#include "bench/cases/network.h"

#include <algorithm>

#include "bench/cases/builders.h"

namespace bench {
namespace {

// Multiply-adds that an emulated machine is asked for when the case may be reduced.
constexpr double kReducedWork = 2.5e8;

/// `count` divided so that work falls to kReducedWork; at least 1.
std::int64_t reduced(std::int64_t count, double work) {
  if (work <= kReducedWork) return count;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(count) * kReducedWork / work));
}

CarafeSizes reduced(CarafeSizes s) {
  const double row = static_cast<double>(s.w * s.c * s.kernel * s.kernel * s.scale * s.scale);
  s.n = 1;
  s.h = std::max<std::int64_t>(s.kernel, reduced(s.h, row * static_cast<double>(s.h)));
  return s;
}

// The map itself decides the partition, and a pass over the tensors is cheap: nothing to reduce.
PsamaskSizes reduced(PsamaskSizes s) {
  return s;
}

ThreeInterpolateSizes reduced(ThreeInterpolateSizes s) {
  s.b = reduced(s.b, 3.0 * static_cast<double>(s.b * s.c * s.n));
  return s;
}

DeformRoiPoolSizes reduced(DeformRoiPoolSizes s) {
  const double samples = s.pooled * s.pooled * s.sampling_ratio * s.sampling_ratio;
  s.rois = reduced(s.rois, 4.0 * samples * static_cast<double>(s.rois * s.c));
  return s;
}

BorderAlignSizes reduced(BorderAlignSizes s) {
  s.k = reduced(s.k, 16.0 * (s.pool + 1) * static_cast<double>(s.n * s.k * s.c));
  return s;
}

template <class Sizes, class Make>
NetworkCase network_case(const char* operators, Sizes sizes, Make make) {
  NetworkCase c;
  c.operators = operators;
  c.make = [=](Direction direction, mluOpDataType_t dtype, bool small) {
    return make(small ? reduced(sizes) : sizes, direction, dtype);
  };
  c.quick = c.make(Direction::backward, MLUOP_DTYPE_FLOAT, false).all_bytes() < 40e6;
  return c;
}

void add_carafe(std::vector<NetworkCase>& list) {
  for (const auto& [h, w] : {std::pair{25, 38}, {50, 76}, {100, 152}}) {
    list.push_back(network_case("carafe", CarafeSizes{2, h, w, 256}, make_carafe));
  }
}

void add_psamask(std::vector<NetworkCase>& list) {
  for (const auto& [size, mask] : {std::pair{30, 59}, {49, 97}, {60, 119}}) {
    for (const int type : {0, 1}) {
      list.push_back(network_case("psamask", PsamaskSizes{2, size, size, mask, mask, type}, make_psamask));
      list.back().has_half = false;
    }
  }
}

void add_three_interpolate(std::vector<NetworkCase>& list) {
  constexpr std::int64_t kSizes[][3] = {{512, 64, 16},   {256, 256, 64},  {256, 1024, 256},  {128, 4096, 1024},
                                        {16, 64, 512},   {64, 256, 256},  {1024, 4096, 128}, {1, 128, 1024},
                                        {128, 512, 256}, {512, 2048, 128}};
  for (const auto& s : kSizes) {
    list.push_back(
        network_case("three_interpolate", ThreeInterpolateSizes{16, s[0], s[1], s[2]}, make_three_interpolate));
  }
}

void add_deform_roi_pool(std::vector<NetworkCase>& list) {
  const DeformRoiPoolSizes sizes[] = {{2, 200, 304, 256, 998, 0.25f},
                                      {2, 100, 152, 256, 13, 0.125f},
                                      {2, 50, 76, 256, 11, 0.0625f},
                                      {2, 25, 38, 256, 2, 0.03125f}};
  for (DeformRoiPoolSizes s : sizes) {
    for (const bool offset : {false, true}) {
      s.offset = offset;
      list.push_back(network_case("deform_roi_pool", s, make_deform_roi_pool));
    }
  }
}

void add_border_align(std::vector<NetworkCase>& list) {
  const BorderAlignSizes sizes[] = {
      {2, 7, 10, 256, 70}, {2, 25, 38, 256, 950}, {2, 10, 7, 128, 70}, {2, 100, 152, 256, 15200}};
  for (const BorderAlignSizes& s : sizes) list.push_back(network_case("border_align", s, make_border_align));
}

}  // namespace

const std::vector<NetworkCase>& network_cases() {
  static const std::vector<NetworkCase> list = [] {
    std::vector<NetworkCase> cases;
    add_carafe(cases);
    add_psamask(cases);
    add_three_interpolate(cases);
    add_deform_roi_pool(cases);
    add_border_align(cases);
    return cases;
  }();
  return list;
}

}  // namespace bench
