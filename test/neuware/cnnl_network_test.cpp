// The compute library's functions of networks against their definitions in double, gradients against differences of
// those definitions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "test/neuware/cnnl_tensors.h"

namespace neuware_test {
namespace {

using Values = std::vector<double>;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

Values random_values(int count, unsigned seed, double low = -1, double high = 1) {
  std::mt19937 generator(seed);
  Values v(at(count));
  // What a float holds, so that both sides read the same.
  for (double& x : v) {
    x = static_cast<float>(low + (high - low) * static_cast<double>(generator()) / 4294967296.0);
  }
  return v;
}

OnDevice<float> to_device(const Values& v) {
  return OnDevice<float>(std::vector<float>(v.begin(), v.end()));
}

void expect_near(const std::vector<float>& got, const Values& wanted, const char* what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(got[i]), wanted[i], 1e-5 * std::max(1.0, std::fabs(wanted[i]))) << what << " " << i;
  }
}

/// The slopes of a number in each element of v.
Values slopes(Values& v, const std::function<double()>& number) {
  Values found;
  for (double& x : v) {
    const double here = x, step = 1e-6;
    x = here + step;
    const double above = number();
    x = here - step;
    found.push_back((above - number()) / (2 * step));
    x = here;
  }
  return found;
}

double dot(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Images [n,h,w,c].
struct Images {
  int n, h, w, c;
  std::vector<int> dims() const { return {n, h, w, c}; }
  int count() const { return n * h * w * c; }
  /// The bilinear sample as a sum over all pixels.
  double sample(const Values& v, int image, double y, double x, int channel) const {
    double sum = 0;
    for (int i = 0; i < h; ++i) {
      for (int j = 0; j < w; ++j) {
        sum += std::max(0.0, 1 - std::fabs(y - i)) * std::max(0.0, 1 - std::fabs(x - j)) *
               v[at(((image * h + i) * w + j) * c + channel)];
      }
    }
    return sum;
  }
};

// ---- deformable convolution ----

struct Convolution {
  Images in{2, 5, 4, 4}, out{2, 2, 3, 6};
  int kernel_h = 3, kernel_w = 2, parts = 2, groups = 2;
  int pad[4] = {1, 0, 1, 1}, stride[2] = {1, 2}, dilation[2] = {2, 1};
  Values input = random_values(in.count(), 1), offset = random_values(2 * 2 * 3 * 2 * 6 * 2, 2, -1.5, 1.5),
         mask = random_values(2 * 2 * 3 * 2 * 6, 3, 0, 1), filter = random_values(6 * 6 * 2, 4),
         bias = random_values(6, 5);

  double one(int image, int y, int x, int o) const {
    double sum = bias[at(o)];
    for (int k = 0; k < kernel_h * kernel_w; ++k) {
      for (int c = 0; c < in.c / groups; ++c) {
        const int channel = o / (out.c / groups) * (in.c / groups) + c, part = channel / (in.c / parts);
        const int tap = (((image * out.h + y) * out.w + x) * parts + part) * kernel_h * kernel_w + k;
        const double row = y * stride[0] - pad[0] + k / kernel_w * dilation[0] + offset[at(2 * tap)];
        const double column = x * stride[1] - pad[2] + k % kernel_w * dilation[1] + offset[at(2 * tap + 1)];
        sum += filter[at((o * kernel_h * kernel_w + k) * 2 + c)] * mask[at(tap)] *
               in.sample(input, image, row, column, channel);
      }
    }
    return sum;
  }
  Values output() const {
    Values all;
    for (int i = 0; i < out.count(); ++i) {
      all.push_back(one(i / out.c / out.w / out.h, i / out.c / out.w % out.h, i / out.c % out.w, i % out.c));
    }
    return all;
  }
};

class CnnlDcn : public Cnnl, public Convolution {
 protected:
  void SetUp() override {
    Cnnl::SetUp();
    ASSERT_EQ(cnnlCreateDCNDescriptor(&desc), CNNL_STATUS_SUCCESS);
    ASSERT_EQ(cnnlSetDCNDescriptor(desc, 4, pad, stride, dilation, parts, groups, 1, CNNL_DTYPE_FLOAT),
              CNNL_STATUS_SUCCESS);
  }
  void TearDown() override {
    cnnlDestroyDCNDescriptor(desc);
    Cnnl::TearDown();
  }
  cnnlDCNDescriptor_t desc = nullptr;
  Desc in_desc = image_floats(in.dims()), out_desc = image_floats(out.dims()),
       offset_desc = image_floats({2, 2, 3, 24}), mask_desc = image_floats({2, 2, 3, 12}),
       filter_desc = image_floats({6, 3, 2, 2}), bias_desc = floats({6});
};

TEST_F(CnnlDcn, Forward) {
  OnDevice<float> x = to_device(input), o = to_device(offset), m = to_device(mask), f = to_device(filter),
                  b = to_device(bias), y(at(out.count()));
  ASSERT_EQ(cnnlDCNForward(handle, desc, in_desc, x.data(), offset_desc, o.data(), mask_desc, m.data(), filter_desc,
                           f.data(), bias_desc, b.data(), nullptr, 0, out_desc, y.data()),
            CNNL_STATUS_SUCCESS);
  expect_near(y.values(), output(), "output");
  ASSERT_EQ(cnnlDCNForward(handle, desc, in_desc, x.data(), offset_desc, o.data(), nullptr, nullptr, filter_desc,
                           f.data(), nullptr, nullptr, nullptr, 0, out_desc, y.data()),
            CNNL_STATUS_SUCCESS);
  mask.assign(mask.size(), 1.0);
  bias.assign(bias.size(), 0.0);
  expect_near(y.values(), output(), "output without mask and bias");
  EXPECT_EQ(cnnlDCNForward(handle, desc, in_desc, x.data(), mask_desc, o.data(), nullptr, nullptr, filter_desc,
                           f.data(), nullptr, nullptr, nullptr, 0, out_desc, y.data()),
            CNNL_STATUS_BAD_PARAM)
      << "offset of the shape of a mask";
}

TEST_F(CnnlDcn, BackwardData) {
  Values grad = random_values(out.count(), 6);
  OnDevice<float> x = to_device(input), o = to_device(offset), m = to_device(mask), f = to_device(filter),
                  g = to_device(grad), dx(input.size()), d_offset(offset.size()), dm(mask.size());
  ASSERT_EQ(cnnlDCNBackwardData(handle, desc, in_desc, x.data(), offset_desc, o.data(), mask_desc, m.data(),
                                filter_desc, f.data(), out_desc, g.data(), nullptr, 0, in_desc, dx.data(), offset_desc,
                                d_offset.data(), mask_desc, dm.data()),
            CNNL_STATUS_SUCCESS);
  const auto loss = [&] { return dot(grad, output()); };
  expect_near(dx.values(), slopes(input, loss), "grad_input");
  expect_near(d_offset.values(), slopes(offset, loss), "grad_offset");
  expect_near(dm.values(), slopes(mask, loss), "grad_mask");
}

TEST_F(CnnlDcn, BackwardWeight) {
  Values grad = random_values(out.count(), 6);
  OnDevice<float> x = to_device(input), o = to_device(offset), m = to_device(mask), g = to_device(grad),
                  df(filter.size()), db(bias.size());
  ASSERT_EQ(cnnlDCNBackwardWeight(handle, desc, in_desc, x.data(), offset_desc, o.data(), mask_desc, m.data(), out_desc,
                                  g.data(), nullptr, 0, filter_desc, df.data(), bias_desc, db.data()),
            CNNL_STATUS_SUCCESS);
  const auto loss = [&] { return dot(grad, output()); };
  expect_near(df.values(), slopes(filter, loss), "grad_filter");
  expect_near(db.values(), slopes(bias, loss), "grad_bias");
}

// ---- pooling of boxes ----

/// Boxes inside, across the border, off the image, and smaller than a pixel.
const Values kBoxes = {0, 1, 0.5, 6, 5, 1, -3, -2, 4, 9, 0, 40, 40, 50, 50, 1, 2.25, 2.5, 2.5, 3.125};

struct Align {
  Images in{2, 6, 5, 3}, out{4, 2, 3, 3};
  float scale = 0.5f;
  int ratio = 2;
  bool aligned = true;
  Values input = random_values(in.count(), 7);

  /// Where the samples of a bin lie along one axis.
  Values samples(double low, double high, int bins, int bin) const {
    const double shift = aligned ? 0.5 : 0, start = low * static_cast<double>(scale) - shift;
    double size = high * static_cast<double>(scale) - shift - start;
    if (!aligned) size = std::max(size, 1.0);
    const int count = ratio > 0 ? ratio : static_cast<int>(std::ceil(size / bins));
    Values all;
    for (int i = 0; i < count; ++i) all.push_back(start + size / bins * (bin + (i + 0.5) / count));
    return all;
  }
  double value(int image, double y, double x, int c) const {
    if (y < -1 || x < -1 || y > in.h || x > in.w) return 0;
    return in.sample(input, image, std::clamp(y, 0.0, in.h - 1.0), std::clamp(x, 0.0, in.w - 1.0), c);
  }
  struct Bin {
    double mean = 0, greatest = -INFINITY, x = -1, y = -1;
  };
  Bin bin(int e) const {
    const int c = e % out.c, j = e / out.c % out.w, i = e / out.c / out.w % out.h, r = e / out.c / out.w / out.h;
    const double* box = &kBoxes[at(5 * r)];
    const Values rows = samples(box[2], box[4], out.h, i), columns = samples(box[1], box[3], out.w, j);
    Bin b;
    for (const double y : rows) {
      for (const double x : columns) {
        const double v = value(static_cast<int>(box[0]), y, x, c);
        b.mean += v / static_cast<double>(rows.size() * columns.size());
        if (v > b.greatest) b.greatest = v, b.x = x, b.y = y;
      }
    }
    return b;
  }
  Values all(double Bin::*what) const {
    Values v;
    for (int e = 0; e < out.count(); ++e) v.push_back(bin(e).*what);
    return v;
  }
};

class CnnlRoiAlign : public Cnnl, public Align {
 protected:
  void forward(int pool_mode) {
    cnnlRoiAlignDescriptor_t desc = nullptr;
    ASSERT_EQ(cnnlCreateRoiAlignDescriptor(&desc), CNNL_STATUS_SUCCESS);
    ASSERT_EQ(cnnlSetRoiAlignDescriptor_v2(desc, out.h, out.w, ratio, scale, pool_mode, aligned), CNNL_STATUS_SUCCESS);
    OnDevice<float> x = to_device(input);
    ASSERT_EQ(cnnlRoiAlign_v2(handle, desc, in_desc, x.data(), boxes_desc, boxes.data(), out_desc, y.data(), out_desc,
                              argmax_x.data(), out_desc, argmax_y.data()),
              CNNL_STATUS_SUCCESS);
    cnnlDestroyRoiAlignDescriptor(desc);
  }
  std::vector<float> backward(const Values& grad, int pool_mode) {
    OnDevice<float> g = to_device(grad), dx(input.size(), 9.0f);
    EXPECT_EQ(cnnlRoiAlignBackward_v2(handle, out_desc, g.data(), boxes_desc, boxes.data(), out_desc, argmax_x.data(),
                                      out_desc, argmax_y.data(), scale, ratio, aligned, pool_mode, in_desc, dx.data()),
              CNNL_STATUS_SUCCESS);
    return dx.values();
  }
  Desc in_desc = image_floats(in.dims()), out_desc = image_floats(out.dims()), boxes_desc = floats({4, 5});
  OnDevice<float> boxes = to_device(kBoxes), y{at(out.count())}, argmax_x{at(out.count())}, argmax_y{at(out.count())};
};

TEST_F(CnnlRoiAlign, Mean) {
  for (const bool half_pixel : {true, false}) {
    for (const int samples_per_bin : {2, 0}) {
      aligned = half_pixel, ratio = samples_per_bin;
      forward(1);
      expect_near(y.values(), all(&Bin::mean), "output");
      const Values grad = random_values(out.count(), 8);
      const auto loss = [&] { return dot(grad, all(&Bin::mean)); };
      expect_near(backward(grad, 1), slopes(input, loss), "grads_image");
    }
  }
}

TEST_F(CnnlRoiAlign, Greatest) {
  forward(0);
  expect_near(y.values(), all(&Bin::greatest), "output");
  expect_near(argmax_x.values(), all(&Bin::x), "argmax_x");
  expect_near(argmax_y.values(), all(&Bin::y), "argmax_y");
  const Values grad = random_values(out.count(), 8);
  const auto loss = [&] { return dot(grad, all(&Bin::greatest)); };
  expect_near(backward(grad, 0), slopes(input, loss), "grads_image");
}

TEST_F(CnnlRoiAlign, ImageThatDoesNotExist) {
  OnDevice<float> g(at(out.count())), dx(input.size(), 9.0f), wrong(std::vector<float>(20, 2.0f));
  EXPECT_EQ(cnnlRoiAlignBackward_v2(handle, out_desc, g.data(), boxes_desc, wrong.data(), nullptr, nullptr, nullptr,
                                    nullptr, scale, ratio, aligned, 1, in_desc, dx.data()),
            CNNL_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(dx.values(), std::vector<float>(input.size(), 9.0f));
}

TEST_F(Cnnl, RoiPooling) {
  const Images in{2, 6, 5, 3}, out{4, 2, 3, 3};
  const Values input = random_values(in.count(), 9), grad = random_values(out.count(), 10);
  Values greatest(at(out.count()), 0.0), spread(input.size(), 0.0);
  std::vector<int> places(at(out.count()), -1);
  for (int e = 0; e < out.count(); ++e) {
    const int c = e % 3, j = e / 3 % 3, i = e / 9 % 2;
    const double* box = &kBoxes[at(e / 18 * 5)];
    const auto inside = [](int pixel, double low, double high, int bins, int bin) {
      const double start = std::round(low / 2), size = std::max(std::round(high / 2) - start + 1, 1.0);
      return pixel >= start + std::floor(bin * size / bins) && pixel < start + std::ceil((bin + 1) * size / bins);
    };
    for (int p = 0; p < 30; ++p) {
      const std::size_t from = at((static_cast<int>(box[0]) * 30 + p) * 3 + c);
      if (!inside(p / 5, box[2], box[4], 2, i) || !inside(p % 5, box[1], box[3], 3, j)) continue;
      if (places[at(e)] < 0 || input[from] > greatest[at(e)]) greatest[at(e)] = input[from], places[at(e)] = p;
    }
    if (places[at(e)] >= 0) spread[at((static_cast<int>(box[0]) * 30 + places[at(e)]) * 3 + c)] += grad[at(e)];
  }
  OnDevice<float> x = to_device(input), boxes = to_device(kBoxes), y(at(out.count())), g = to_device(grad),
                  dx(input.size(), 9.0f);
  OnDevice<int> argmax(at(out.count()));
  const Desc argmax_desc(CNNL_DTYPE_INT32, out.dims(), CNNL_LAYOUT_NHWC);
  ASSERT_EQ(cnnlRoiPoolingForward(handle, 0, image_floats(in.dims()), x.data(), floats({4, 5}), boxes.data(), 0.5f,
                                  image_floats(out.dims()), y.data(), argmax.data()),
            CNNL_STATUS_SUCCESS);
  expect_near(y.values(), greatest, "output");
  EXPECT_EQ(argmax.values(), places);
  ASSERT_EQ(cnnlRoiPoolingBackward(handle, 0, image_floats(out.dims()), g.data(), floats({4, 5}), boxes.data(),
                                   argmax_desc, argmax.data(), 0.5f, image_floats(in.dims()), dx.data()),
            CNNL_STATUS_SUCCESS);
  expect_near(dx.values(), spread, "grads_image");
}

// ---- batch normalization ----

constexpr double kEps = 0.125;

/// The batch in one process: rows x 3 channels.
struct Batch {
  Values x, filter = {0.5, -2, 1.5}, bias = {1, 0, -1};
  explicit Batch(int rows) : x(random_values(rows * 3, 11, -2, 3)) {}

  double rows() const { return static_cast<double>(x.size() / 3); }
  Values mean() const {
    Values m(3, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) m[i % 3] += x[i] / rows();
    return m;
  }
  Values variance() const {
    Values v(3, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) v[i % 3] += std::pow(x[i] - mean()[i % 3], 2) / rows();
    return v;
  }
  Values invstd() const {
    Values s = variance();
    for (double& v : s) v = 1 / std::sqrt(v + kEps);
    return s;
  }
  Values y() const {
    const Values m = mean(), s = invstd();
    Values all = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      all[i] = (x[i] - m[i % 3]) * s[i % 3] * filter[i % 3] + bias[i % 3];
    }
    return all;
  }
};

TEST_F(Cnnl, BatchNormOfTwoProcesses) {
  const Batch whole(10);
  Values parts[2] = {Values(whole.x.begin(), whole.x.begin() + 12), Values(whole.x.begin() + 12, whole.x.end())};
  OnDevice<float> means(6), invstds(6), counts(std::vector<float>{4, 6}), mean(3), invstd(3),
      moving_mean(std::vector<float>{1, 2, 3}), moving_var(std::vector<float>{4, 5, 6}),
      x = to_device(whole.x), y(30), filter = to_device(whole.filter), bias = to_device(whole.bias);
  for (int p = 0; p < 2; ++p) {
    OnDevice<float> part = to_device(parts[p]);
    ASSERT_EQ(
        cnnlSyncBatchNormStats_v2(handle, floats({4 + 2 * p, 3}), part.data(), nullptr, 0, static_cast<float>(kEps),
                                  floats({3}), means.data() + 3 * p, floats({3}), invstds.data() + 3 * p),
        CNNL_STATUS_SUCCESS);
  }
  ASSERT_EQ(cnnlSyncBatchNormGatherStatsWithCounts(handle, floats({2, 3}), means.data(), floats({2, 3}), invstds.data(),
                                                   floats({3}), moving_mean.data(), floats({3}), moving_var.data(),
                                                   0.25f, static_cast<float>(kEps), floats({2}), counts.data(),
                                                   floats({3}), mean.data(), floats({3}), invstd.data()),
            CNNL_STATUS_SUCCESS);
  expect_near(mean.values(), whole.mean(), "mean");
  expect_near(invstd.values(), whole.invstd(), "invstd");
  Values moved_mean, moved_var;
  for (int c = 0; c < 3; ++c) {
    moved_mean.push_back(0.75 * (c + 1) + 0.25 * whole.mean()[at(c)]);
    moved_var.push_back(0.75 * (c + 4) + 0.25 * whole.variance()[at(c)] * 10 / 9);
  }
  expect_near(moving_mean.values(), moved_mean, "moving_mean");
  expect_near(moving_var.values(), moved_var, "moving_var");
  ASSERT_EQ(
      cnnlSyncBatchNormElemt(handle, floats({10, 3}), x.data(), floats({3}), mean.data(), floats({3}), invstd.data(),
                             floats({3}), filter.data(), floats({3}), bias.data(), floats({10, 3}), y.data()),
      CNNL_STATUS_SUCCESS);
  expect_near(y.values(), whole.y(), "y");
}

TEST_F(Cnnl, BatchNormBackward) {
  Batch batch(10);
  const Values grad = random_values(30, 12);
  OnDevice<float> x = to_device(batch.x), dz = to_device(grad), mean = to_device(batch.mean()),
                  invstd = to_device(batch.invstd()), filter = to_device(batch.filter), dfilter(3), dbias(3), sum_dy(3),
                  sum_dy_xmu(3), dx(30);
  const Desc c = floats({3}), rows = floats({10, 3});
  ASSERT_EQ(cnnlSyncBatchnormBackwardReduce_v2(handle, rows, dz.data(), rows, x.data(), c, mean.data(), c,
                                               invstd.data(), nullptr, 0, c, dfilter.data(), c, dbias.data(), c,
                                               sum_dy.data(), c, sum_dy_xmu.data(), true, true, true),
            CNNL_STATUS_SUCCESS);
  const auto loss = [&] { return dot(grad, batch.y()); };
  expect_near(dfilter.values(), slopes(batch.filter, loss), "dfilter");
  expect_near(dbias.values(), slopes(batch.bias, loss), "dbias");
  const Values of_x = slopes(batch.x, loss);
  OnDevice<int> counts(std::vector<int>{4, 6});
  ASSERT_EQ(cnnlSyncBatchNormBackwardElemtV2(handle, rows, dz.data(), rows, x.data(), c, mean.data(), c, invstd.data(),
                                             c, filter.data(), c, sum_dy.data(), c, sum_dy_xmu.data(), ints({2}),
                                             counts.data(), rows, dx.data()),
            CNNL_STATUS_SUCCESS);
  expect_near(dx.values(), of_x, "diff_x from sums");
  Values mean_dy, mean_dy_xmu;
  for (const float v : sum_dy.values()) mean_dy.push_back(static_cast<double>(v) / 10);
  for (const float v : sum_dy_xmu.values()) mean_dy_xmu.push_back(static_cast<double>(v) / 10);
  OnDevice<float> dy = to_device(mean_dy), dy_xmu = to_device(mean_dy_xmu), again(30);
  ASSERT_EQ(cnnlSyncBatchNormBackwardElemt(handle, rows, dz.data(), rows, x.data(), c, mean.data(), c, invstd.data(), c,
                                           filter.data(), c, dy.data(), c, dy_xmu.data(), rows, again.data()),
            CNNL_STATUS_SUCCESS);
  expect_near(again.values(), of_x, "diff_x from means");
}

// ---- suppression ----

class CnnlNms : public Cnnl {
 protected:
  void SetUp() override {
    Cnnl::SetUp();
    ASSERT_EQ(cnnlCreateNmsDescriptor(&desc), CNNL_STATUS_SUCCESS);
    set(CNNL_NMS_DESC_MAX_OUTPUT_SIZE, 4);
  }
  void TearDown() override {
    cnnlDestroyNmsDescriptor(desc);
    Cnnl::TearDown();
  }
  template <class T>
  void set(cnnlNmsDescAttribute_t attribute, T value) {
    ASSERT_EQ(cnnlSetNmsDescAttr(desc, attribute, &value, sizeof(value)), CNNL_STATUS_SUCCESS);
  }
  /// Three boxes: the first two share a third of their union.
  template <class T>
  std::vector<T> kept(const Desc& out_desc, std::size_t size, T before) {
    OnDevice<T> out(size, before);
    OnDevice<float> scores(std::vector<float>{0.75f, 0.875f, 0.5f});
    EXPECT_EQ(cnnlNms_v2(handle, desc, floats({3, 4}), boxes.data(), floats({3}), scores.data(), nullptr, 0, out_desc,
                         out.data(), count.data()),
              CNNL_STATUS_SUCCESS);
    return out.values();
  }
  cnnlNmsDescriptor_t desc = nullptr;
  OnDevice<float> boxes{std::vector<float>{0, 0, 2, 2, 1, 0, 3, 2, 5, 5, 6, 6}};
  OnDevice<int> count{1};
};

TEST_F(CnnlNms, Upright) {
  set(CNNL_NMS_DESC_IOU_THRESHOLD, 0.33f);
  EXPECT_EQ(kept<int>(ints({4}), 4, -7), (std::vector<int>{1, 2, -7, -7})) << "0 is suppressed, the rest stays";
  EXPECT_EQ(count.values()[0], 2);
  set(CNNL_NMS_DESC_IOU_THRESHOLD, 0.34f);
  set(CNNL_NMS_DESC_PAD_TO_MAX_OUTPUT_SIZE, true);
  EXPECT_EQ(kept<int>(ints({4}), 4, -7), (std::vector<int>{1, 0, 2, 0}));
  set(CNNL_NMS_DESC_PAD_TO_MAX_OUTPUT_SIZE, false);
  set(CNNL_NMS_DESC_CONFIDENCE_THRESHOLD, 0.75f);
  set(CNNL_NMS_DESC_OUTPUT_MODE, 1);
  EXPECT_EQ(kept<float>(floats({2, 5}), 10, -7), (std::vector<float>{0.875f, 1, 0, 3, 2, -7, -7, -7, -7, -7}));
  set(CNNL_NMS_DESC_OUTPUT_MODE, 2);
  EXPECT_EQ(kept<float>(floats({5, 2}), 10, -7), (std::vector<float>{0.875f, -7, 1, -7, 0, -7, 3, -7, 2, -7}));
  EXPECT_EQ(count.values()[0], 1);
}

TEST_F(CnnlNms, RotatedSeenFromAbove) {
  // A square of side 2, and the same turned by an eighth: their IoU is the square root of a half.
  const float eighth = 0.78539816f;
  OnDevice<float> rotated(std::vector<float>{1, 1, 0, 2, 2, 1, 0, 1, 1, 9, 2, 2, 1, eighth});
  OnDevice<int> out(2);
  for (const float threshold : {0.707f, 0.7072f}) {
    set(CNNL_NMS_DESC_IOU_THRESHOLD, threshold);
    ASSERT_EQ(cnnlNms_v2(handle, desc, floats({2, 7}), rotated.data(), nullptr, nullptr, nullptr, 0, ints({2}),
                         out.data(), count.data()),
              CNNL_STATUS_SUCCESS);
    EXPECT_EQ(count.values()[0], threshold < 0.7071f ? 1 : 2);
  }
  EXPECT_EQ(out.values(), (std::vector<int>{0, 1}));
  EXPECT_EQ(cnnlNms_v2(handle, desc, floats({2, 7}), rotated.data(), nullptr, nullptr, nullptr, 0, ints({1}),
                       out.data(), count.data()),
            CNNL_STATUS_BAD_PARAM)
      << "no room for the second box";
}

TEST_F(CnnlNms, OfBoxesOf7NumbersTheThresholdAndTheLayoutCount) {
  OnDevice<float> columns(std::vector<float>{1, 8, 1, 1, 0, 0, 2, 2, 2, 2, 1, 1, 0, 0});
  set(CNNL_NMS_DESC_INPUT_LAYOUT, 1);
  set(CNNL_NMS_DESC_MAX_OUTPUT_SIZE, 1);
  set(CNNL_NMS_DESC_PAD_TO_MAX_OUTPUT_SIZE, true);
  set(CNNL_NMS_DESC_CONFIDENCE_THRESHOLD, 0.9f);
  for (const int mode : {0, 1, 2, 3}) {
    set(CNNL_NMS_DESC_OUTPUT_MODE, mode);
    OnDevice<int> out(3, -7);
    EXPECT_EQ(cnnlNms_v2(handle, desc, floats({7, 2}), columns.data(), nullptr, nullptr, nullptr, 0, ints({3}),
                         out.data(), count.data()),
              CNNL_STATUS_SUCCESS);
    EXPECT_EQ(count.values()[0], 2) << mode;
    EXPECT_EQ(out.values(), (std::vector<int>{0, 1, -7})) << mode;
  }
  OnDevice<float> scores(std::vector<float>{1, 2});
  OnDevice<int> out(2, -7);
  EXPECT_EQ(cnnlNms_v2(handle, desc, floats({7, 2}), columns.data(), floats({2}), scores.data(), nullptr, 0, ints({2}),
                       out.data(), count.data()),
            CNNL_STATUS_BAD_PARAM);
}

}  // namespace
}  // namespace neuware_test
