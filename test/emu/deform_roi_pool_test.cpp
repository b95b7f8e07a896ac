// DeformRoiPool of the emulator against a scalar model of the device's instruction order, bit for bit.
#include "test/emu/scalar.h"

namespace mluops::emu::test {
namespace {

using Shape = mluopsDeformRoiPoolShape;

/// Inputs of one call. An empty offset means: called without.
template <class T>
struct Case {
  Shape shape;
  std::vector<T> input, rois, offset, grad_output;
};

/// The device's way of working, one channel at a time.
template <class T>
class Model {
 public:
  using S = Scalar<T>;
  explicit Model(const Case<T>& c) : case_(c), s_(c.shape) {}

  std::vector<T> forward() const {
    std::vector<T> output(s_.rois * s_.pooled_h * s_.pooled_w * s_.c);
    for (std::int64_t bin = 0; bin < bins(); ++bin) {
      const Bin b(*this, bin);
      for (std::int64_t ch = 0; ch < s_.c; ++ch) output[bin * s_.c + ch] = pooled(b, ch).stored();
    }
    return output;
  }

  struct Gradients {
    std::vector<T> input, offset;
  };

  /// Tasks run one after the other; each deals with its bins segment by segment.
  Gradients backward(const MachineSpec& m) const {
    Gradients g{std::vector<T>(case_.input.size()), std::vector<T>(case_.offset.size())};
    const std::int64_t cores = m.cores_per_cluster;
    const std::int64_t tasks = cores * std::min<std::int64_t>(m.clusters, (bins() + cores - 1) / cores);
    const std::int64_t elements = m.nram_bytes / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t part = (case_.offset.empty() ? elements / 5 : (elements - kLanes) / 13) / kLanes * kLanes;
    for (std::int64_t task = 0; task < tasks; ++task)
      for (std::int64_t bin = task; bin < bins(); bin += tasks)
        for (std::int64_t begin = 0; begin < s_.c; begin += part)
          segment_gradients(Bin(*this, bin), begin, std::min(begin + part, s_.c), g);
    return g;
  }

 private:
  static constexpr std::int64_t kLanes = 128 / sizeof(T);

  struct Bin {
    std::int64_t index, batch, roi, ph, pw, grid_h, grid_w;
    S y0, x0, roi_h, roi_w, bin_h, bin_w, reciprocal;

    Bin(const Model& model, std::int64_t bin) : index(bin) {
      const Shape& s = model.s_;
      pw = bin % s.pooled_w, ph = bin / s.pooled_w % s.pooled_h, roi = bin / s.pooled_w / s.pooled_h;
      const T* corner = &model.case_.rois[roi * 5];
      const S scale(double{s.spatial_scale}), gamma(double{s.gamma});
      batch = whole(S(corner[0]));
      x0 = S(corner[1]) * scale - S(0.5), y0 = S(corner[2]) * scale - S(0.5);
      roi_w = S(corner[3]) * scale - S(0.5) - x0, roi_h = S(corner[4]) * scale - S(0.5) - y0;
      bin_w = roi_w / S(double(s.pooled_w)), bin_h = roi_h / S(double(s.pooled_h));
      grid_h = grid(s.sampling_ratio, bin_h), grid_w = grid(s.sampling_ratio, bin_w);
      reciprocal = S(1.0) / S(double(std::max<std::int64_t>(grid_h * grid_w, 1)));
      if (model.case_.offset.empty()) return;
      const std::int64_t plane = s.pooled_h * s.pooled_w;
      const T* shift = &model.case_.offset[roi * 2 * plane + ph * s.pooled_w + pw];
      x0 = x0 + gamma * roi_w * S(shift[0]), y0 = y0 + gamma * roi_h * S(shift[plane]);
    }
    static std::int64_t grid(int ratio, S bin_size) {
      if (ratio > 0) return ratio;
      return std::isfinite(bin_size.value()) ? static_cast<std::int64_t>(std::ceil(bin_size.value())) : -1;
    }
    S y(std::int64_t iy) const { return y0 + S(double(ph)) * bin_h + S(iy + 0.5) * bin_h / S(double(grid_h)); }
    S x(std::int64_t ix) const { return x0 + S(double(pw)) * bin_w + S(ix + 0.5) * bin_w / S(double(grid_w)); }
  };

  std::int64_t bins() const { return s_.rois * s_.pooled_h * s_.pooled_w; }
  std::int64_t pixel(const Bin& b, std::int64_t y, std::int64_t x) const {
    return ((b.batch * s_.h + y) * s_.w + x) * s_.c;
  }

  template <class Visit>
  void samples(const Bin& b, const Visit& visit) const {
    for (std::int64_t iy = 0; iy < b.grid_h; ++iy)
      for (std::int64_t ix = 0; ix < b.grid_w; ++ix) {
        const AxisPoint<T> y(b.y(iy), s_.h), x(b.x(ix), s_.w);
        if (!y.outside && !x.outside) visit(y, x, b.y(iy), b.x(ix));
      }
  }

  S pooled(const Bin& b, std::int64_t ch) const {
    S sum;
    samples(b, [&](const AxisPoint<T>& y, const AxisPoint<T>& x, S, S) {
      const auto term = [&](std::int64_t yy, std::int64_t xx, S weight) {
        return S(case_.input[pixel(b, yy, xx) + ch]) * weight;
      };
      S value = term(y.low, x.low, y.weight_low * x.weight_low);
      value = value + term(y.low, x.high, y.weight_low * x.weight_high);
      value = value + term(y.high, x.low, y.weight_high * x.weight_low);
      value = value + term(y.high, x.high, y.weight_high * x.weight_high);
      sum = sum + value;
    });
    return sum * b.reciprocal;
  }

  void segment_gradients(const Bin& b, std::int64_t begin, std::int64_t end, Gradients& g) const {
    std::vector<S> upstream;
    for (std::int64_t ch = begin; ch < end; ++ch)
      upstream.push_back(S(case_.grad_output[b.index * s_.c + ch]) * b.reciprocal);
    samples(b, [&](const AxisPoint<T>& y, const AxisPoint<T>& x, S raw_y, S raw_x) {
      scatter(b, y, x, begin, upstream, g.input);
      if (!g.offset.empty()) offset_gradients(b, y, x, raw_y, raw_x, begin, upstream, g.offset);
    });
  }

  void scatter(const Bin& b, const AxisPoint<T>& y, const AxisPoint<T>& x, std::int64_t begin,
               const std::vector<S>& upstream, std::vector<T>& grad) const {
    const auto add = [&](std::int64_t yy, std::int64_t xx, S weight) {
      T* at = &grad[pixel(b, yy, xx) + begin];
      for (const S& u : upstream) *at = (S(*at) + u * weight).stored(), ++at;
    };
    add(y.low, x.low, y.weight_low * x.weight_low);
    add(y.low, x.high, y.weight_low * x.weight_high);
    add(y.high, x.low, y.weight_high * x.weight_low);
    add(y.high, x.high, y.weight_high * x.weight_high);
  }

  /// Sums of channels go lane by lane first: the pooling unit adds 128-byte rows, then their lanes are added.
  static S sum(const std::vector<S>& values) {
    S lanes[kLanes], total;
    for (std::size_t i = 0; i < values.size(); ++i) lanes[i % kLanes] = lanes[i % kLanes] + values[i];
    for (const S& lane : lanes) total = total + lane;
    return total;
  }

  /// Unclamped coordinates beside clamped neighbours.
  void offset_gradients(const Bin& b, const AxisPoint<T>& y, const AxisPoint<T>& x, S raw_y, S raw_x,
                        std::int64_t begin, const std::vector<S>& upstream, std::vector<T>& grad) const {
    const S gamma(double{s_.gamma}), yl(double(y.low)), yh(double(y.high)), xl(double(x.low)), xh(double(x.high));
    std::vector<S> of_x, of_y;
    for (std::size_t i = 0; i < upstream.size(); ++i) {
      const auto at = [&](std::int64_t yy, std::int64_t xx) { return S(case_.input[pixel(b, yy, xx) + begin + i]); };
      const S v00 = at(y.low, x.low), v01 = at(y.low, x.high), v10 = at(y.high, x.low), v11 = at(y.high, x.high);
      const S dx = v11 * (raw_y - yl) + v01 * (yh - raw_y) + v10 * (yl - raw_y) + v00 * (raw_y - yh);
      const S dy = v11 * (raw_x - xl) + v10 * (xh - raw_x) + v01 * (xl - raw_x) + v00 * (raw_x - xh);
      of_x.push_back(dx * (gamma * b.roi_w) * upstream[i]);
      of_y.push_back(dy * (gamma * b.roi_h) * upstream[i]);
    }
    const std::int64_t plane = s_.pooled_h * s_.pooled_w;
    T* at = &grad[b.roi * 2 * plane + b.ph * s_.pooled_w + b.pw];
    at[0] = (S(at[0]) + sum(of_x)).stored();
    at[plane] = (S(at[plane]) + sum(of_y)).stored();
  }

  const Case<T>& case_;
  const Shape& s_;
};

template <class T>
Case<T> make_case(const Shape& shape, bool with_offset, unsigned seed) {
  Case<T> c{shape, {}, {}, {}, {}};
  c.shape.dtype = kDtype<T>;
  const std::int64_t bins = shape.rois * shape.pooled_h * shape.pooled_w;
  c.input = uniform_values<T>(shape.batch * shape.h * shape.w * shape.c, -2, 2, seed);
  c.grad_output = uniform_values<T>(bins * shape.c, -2, 2, seed + 1);
  // Corners from outside to outside, now and then inverted.
  const double reach = static_cast<double>(std::max(shape.h, shape.w)) / shape.spatial_scale;
  c.rois = uniform_values<T>(shape.rois * 5, -0.4 * reach, 1.4 * reach, seed + 2);
  for (std::int64_t r = 0; r < shape.rois; ++r) c.rois[r * 5] = from_float<T>(static_cast<float>(r % shape.batch));
  if (with_offset) c.offset = uniform_values<T>(2 * bins, -1, 1, seed + 3);
  return c;
}

template <class T>
std::vector<T> run_forward(Emulator& emulator, const Case<T>& c) {
  auto output = untouched<T>(c.shape.rois * c.shape.pooled_h * c.shape.pooled_w * c.shape.c);
  const void* offset = c.offset.empty() ? nullptr : c.offset.data();
  EXPECT_EQ(emulator.run(&mluopsBackend::deform_roi_pool_forward,
                         mluopsDeformRoiPoolForwardProblem{c.shape, c.input.data(), c.rois.data(), offset,
                                                           output.data(), MLUOP_LAYOUT_NHWC}),
            MLUOP_STATUS_SUCCESS)
      << error_text();
  return output;
}

template <class T>
typename Model<T>::Gradients run_backward(Emulator& emulator, const Case<T>& c) {
  typename Model<T>::Gradients g{untouched<T>(c.input.size()), untouched<T>(c.offset.size())};
  const bool with_offset = !c.offset.empty();
  EXPECT_EQ(
      emulator.run(&mluopsBackend::deform_roi_pool_backward,
                   mluopsDeformRoiPoolBackwardProblem{c.shape, c.grad_output.data(), c.input.data(), c.rois.data(),
                                                      with_offset ? c.offset.data() : nullptr, g.input.data(),
                                                      with_offset ? g.offset.data() : nullptr, MLUOP_LAYOUT_NHWC}),
      MLUOP_STATUS_SUCCESS)
      << error_text();
  return g;
}

template <class T>
void check(const Case<T>& c, const MachineSpec& spec, const std::string& what) {
  SCOPED_TRACE(what + " on " + spec.arch + "/" + std::to_string(spec.nram_bytes));
  Emulator emulator(spec);
  expect_same_bits(run_forward(emulator, c), Model<T>(c).forward(), "output");
  const auto got = run_backward(emulator, c), want = Model<T>(c).backward(spec);
  expect_same_bits(got.input, want.input, "grad_input");
  expect_same_bits(got.offset, want.offset, "grad_offset");
}

template <class T>
class EmuDeformRoiPool : public ::testing::Test {};
using Elements = ::testing::Types<float, Half>;
TYPED_TEST_SUITE(EmuDeformRoiPool, Elements);

TYPED_TEST(EmuDeformRoiPool, follows_the_instruction_order) {
  const Shape shapes[] = {{MLUOP_DTYPE_FLOAT, 2, 7, 9, 5, 5, 3, 3, 0.5f, 0.1f, 2},
                          {MLUOP_DTYPE_FLOAT, 1, 5, 4, 33, 3, 2, 1, 1.0f, 0.3f, 0},
                          {MLUOP_DTYPE_FLOAT, 3, 6, 6, 128, 4, 2, 3, 0.25f, 1.0f, 1},
                          {MLUOP_DTYPE_FLOAT, 1, 1, 1, 70, 2, 2, 2, 1.0f, 0.5f, 3},
                          {MLUOP_DTYPE_FLOAT, 1, 9, 1, 1, 6, 4, 1, 0.8f, 0.635f, 5}};
  unsigned seed = 1;
  for (const MachineSpec& spec : machine_specs())
    for (const Shape& shape : shapes)
      for (bool with_offset : {false, true})
        check(make_case<TypeParam>(shape, with_offset, seed++), spec,
              "case " + std::to_string(&shape - shapes) + (with_offset ? " with offset" : ""));
}

// The smallest NRAM the plan takes: every channel segment is 128 bytes.
TYPED_TEST(EmuDeformRoiPool, splits_channels) {
  const Shape shape{MLUOP_DTYPE_FLOAT, 1, 6, 5, 200, 3, 2, 2, 0.5f, 0.2f, 2};
  for (std::int64_t nram : {1792, 4096, 8192})
    for (bool with_offset : {false, true})
      check(make_case<TypeParam>(shape, with_offset, 77), {"mtp_372", nram, 3, 3}, with_offset ? "offset" : "plain");
}

// Input, roi and offset of the header's example.
TYPED_TEST(EmuDeformRoiPool, header_example) {
  using S = Scalar<TypeParam>;
  Case<TypeParam> c{{kDtype<TypeParam>, 1, 2, 2, 1, 1, 1, 1, 1.0f, 1.0f, 1}, {}, {}, {}, {}};
  for (double v : {1.0, 2.0, 2.0, 4.0}) c.input.push_back(S(v).stored());
  for (double v : {0.0, 0.0, 0.0, 1.0, 1.0}) c.rois.push_back(S(v).stored());
  for (double v : {0.5, 0.5}) c.offset.push_back(S(v).stored());
  Emulator emulator(machine_specs()[0]);
  expect_same_bits(run_forward(emulator, c), {S(2.25).stored()}, "output");
}

struct Worked {
  std::vector<double> input, roi, output, grad_input;
  std::int64_t side, channels;
};

// The examples of mmcv's tests: pooled 2 x 2, two samples per axis, gradient of ones.
TYPED_TEST(EmuDeformRoiPool, mmcv_examples) {
  const double a = .47265625, b = .4296875, c0 = .04296875, d = .390625, e = .0390625, f = .00390625;
  const Worked examples[] = {{{1, 2, 3, 4}, {0, 0, 0, 1, 1}, {1, 1.25, 1.5, 1.75}, {3.0625, .4375, .4375, .0625}, 2, 1},
                             {{1, 4, 2, 3, 3, 2, 4, 1},
                              {0, 0, 0, 1, 1},
                              {1, 4, 1.25, 3.75, 1.5, 3.5, 1.75, 3.25},
                              {3.0625, 3.0625, .4375, .4375, .4375, .4375, .0625, .0625},
                              2,
                              2},
                             {{1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16},
                              {0, 0, 0, 3, 3},
                              {1.9375, 4.75, 7.5625, 10.375},
                              {a, b, b, c0, b, d, d, e, b, d, d, e, c0, e, e, f},
                              4,
                              1}};
  using S = Scalar<TypeParam>;
  const auto values = [](const std::vector<double>& from) {
    std::vector<TypeParam> to;
    for (double v : from) to.push_back(S(v).stored());
    return to;
  };
  for (const Worked& w : examples) {
    Case<TypeParam> c{{kDtype<TypeParam>, 1, w.side, w.side, w.channels, 1, 2, 2, 1.0f, 0.1f, 2}, {}, {}, {}, {}};
    c.input = values(w.input), c.rois = values(w.roi);
    c.grad_output = values(std::vector<double>(w.output.size(), 1.0));
    for (const MachineSpec& spec : machine_specs()) {
      Emulator emulator(spec);
      expect_same_bits(run_forward(emulator, c), values(w.output), "output");
      expect_same_bits(run_backward(emulator, c).input, values(w.grad_input), "grad_input");
    }
  }
}

// Empty and inverted RoIs give zeros when the grid comes from the RoI, far ones touch nothing.
TYPED_TEST(EmuDeformRoiPool, rois_without_samples_give_zeros) {
  using S = Scalar<TypeParam>;
  auto c = make_case<TypeParam>({MLUOP_DTYPE_FLOAT, 1, 6, 7, 40, 3, 2, 2, 1.0f, 0.1f, 0}, true, 3);
  const double rois[] = {0, 2, 2, 2, 2, 0, 5, 5, 1, 1, 0, 200, 200, 205, 205};
  for (int i = 0; i < 15; ++i) c.rois[i] = S(rois[i]).stored();
  for (const MachineSpec& spec : machine_specs()) {
    Emulator emulator(spec);
    const auto zero = [](std::size_t n) { return std::vector<TypeParam>(n); };
    expect_same_bits(run_forward(emulator, c), zero(3 * 4 * 40), "output");
    const auto g = run_backward(emulator, c);
    expect_same_bits(g.input, zero(c.input.size()), "grad_input");
    expect_same_bits(g.offset, zero(c.offset.size()), "grad_offset");
  }
}

// NaN and Inf anywhere must neither fault nor hang; what they give is not specified.
TYPED_TEST(EmuDeformRoiPool, nan_and_inf_do_no_harm) {
  using S = Scalar<TypeParam>;
  for (int ratio : {0, 2})
    for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      for (int at : {1, 2, 3, 4, 9}) {
        auto c = make_case<TypeParam>({MLUOP_DTYPE_FLOAT, 1, 6, 7, 3, 1, 2, 2, 1.0f, 0.1f, ratio}, true, 4);
        (at < 5 ? c.rois[at] : c.offset[1]) = S(bad).stored();
        Emulator emulator(machine_specs()[at % 2]);
        run_forward(emulator, c);
        run_backward(emulator, c);
      }
}

// A grid nobody can wait for, or whose size the device's 32 bits do not hold, is declined, outputs untouched.
TYPED_TEST(EmuDeformRoiPool, huge_grids_are_declined) {
  auto c = make_case<TypeParam>({MLUOP_DTYPE_FLOAT, 1, 6, 7, 3, 1, 1, 1, 1.0f, 0.1f, 0}, false, 5);
  const float far[] = {0, 0, 0, 65000, 65000};
  for (int i = 0; i < 5; ++i) c.rois[i] = from_float<TypeParam>(far[i]);
  Emulator emulator(machine_specs()[0]);
  auto output = untouched<TypeParam>(3);
  const mluopsDeformRoiPoolForwardProblem problem{c.shape, c.input.data(), c.rois.data(),
                                                  nullptr, output.data(),  MLUOP_LAYOUT_NHWC};
  EXPECT_EQ(emulator.run(&mluopsBackend::deform_roi_pool_forward, problem), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(error_text().find("grid"), std::string::npos) << error_text();
  expect_same_bits(output, untouched<TypeParam>(3), "output");
}

TEST(EmuDeformRoiPoolRefusals, double_is_declined) {
  std::vector<double> data(64);
  Emulator emulator(machine_specs()[0]);
  const Shape shape{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1, 1, 1, 1.0f, 0.1f, 1};
  const mluopsDeformRoiPoolForwardProblem problem{shape,   data.data(), data.data(),
                                                  nullptr, data.data(), MLUOP_LAYOUT_NHWC};
  EXPECT_EQ(emulator.run(&mluopsBackend::deform_roi_pool_forward, problem), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(error_text().find("dtype"), std::string::npos);
}

}  // namespace
}  // namespace mluops::emu::test
