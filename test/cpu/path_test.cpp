// Which path a kernel takes: one shape for every path, at the instruction-set levels that have it.

#include <list>

#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/gathers.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

/// Zeroed tensors that begin on cache lines.
class Tensors {
 public:
  float* operator()(std::int64_t count) {
    Arena& arena = arenas_.emplace_back();
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(float));
    return static_cast<float*>(std::memset(arena.reserve(bytes), 0, static_cast<std::size_t>(bytes)));
  }
  std::int32_t* indices(std::int64_t count) { return reinterpret_cast<std::int32_t*>((*this)(count)); }

 private:
  std::list<Arena> arenas_;
};

/// So many images of `elements` floats that all of them are more than `bytes`.
std::int64_t images_beyond(std::int64_t bytes, std::int64_t elements) {
  return bytes / (elements * static_cast<std::int64_t>(sizeof(float))) + 1;
}

class PathTest : public testing::TestWithParam<const char*> {
 protected:
  PathTest() { backend_.option("isa", GetParam()); }

  /// The level that runs: a lower one than asked for where this machine or this build lacks that.
  std::string level() const { return backend_.query("isa"); }
  bool avx512() const { return level() == "AVX512"; }
  bool vectors() const { return backend_.has_vectors(); }
  std::string taken() const { return backend_.query("last_path"); }

  std::string psamask_forward(const mluopsPsamaskShape& s, mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC) {
    Tensors t;
    const std::int64_t map = s.h * s.w;
    const mluopsPsamaskForwardProblem p{s, t(s.n * map * s.h_mask * s.w_mask), t(s.n * map * map), layout};
    EXPECT_EQ(backend_.run(&mluopsBackend::psamask_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }
  std::string psamask_backward(const mluopsPsamaskShape& s, mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC) {
    Tensors t;
    const std::int64_t map = s.h * s.w;
    const mluopsPsamaskBackwardProblem p{s, t(s.n * map * map), t(s.n * map * s.h_mask * s.w_mask), layout};
    EXPECT_EQ(backend_.run(&mluopsBackend::psamask_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }
  std::string three_interpolate_forward(const mluopsThreeInterpolateShape& s) {
    Tensors t;
    const std::int64_t wide = s.dtype == MLUOP_DTYPE_DOUBLE ? 2 : 1;
    const mluopsThreeInterpolateForwardProblem p{s, t(wide * s.b * s.c * s.m), t.indices(3 * s.b * s.n),
                                                 t(wide * 3 * s.b * s.n), t(wide * s.b * s.c * s.n)};
    EXPECT_EQ(backend_.run(&mluopsBackend::three_interpolate_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }
  std::string three_interpolate_backward(const mluopsThreeInterpolateShape& s) {
    Tensors t;
    const mluopsThreeInterpolateBackwardProblem p{s, t(s.b * s.c * s.n), t.indices(3 * s.b * s.n), t(3 * s.b * s.n),
                                                  t(s.b * s.c * s.m)};
    EXPECT_EQ(backend_.run(&mluopsBackend::three_interpolate_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }
  std::string border_align_forward(const mluopsBorderAlignShape& s, mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC) {
    Tensors t;
    const mluopsBorderAlignForwardProblem p{
        s,     t(s.n * s.h * s.w * 4 * s.c), t(s.n * s.k * 4), t(s.n * s.k * 4 * s.c), t.indices(s.n * s.k * 4 * s.c),
        layout};
    EXPECT_EQ(backend_.run(&mluopsBackend::border_align_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }
  /// All RoIs are squares of `side` input pixels.
  std::string deform_roi_pool_forward(const mluopsDeformRoiPoolShape& s, float side,
                                      mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC) {
    Tensors t;
    float* const rois = t(5 * s.rois);
    for (std::int64_t r = 0; r < s.rois; ++r) rois[5 * r + 3] = rois[5 * r + 4] = side;
    const mluopsDeformRoiPoolForwardProblem p{s,
                                              t(s.batch * s.h * s.w * s.c),
                                              rois,
                                              nullptr,
                                              t(s.rois * s.pooled_h * s.pooled_w * s.c),
                                              layout,
                                              s.spatial_scale,
                                              s.gamma};
    EXPECT_EQ(backend_.run(&mluopsBackend::deform_roi_pool_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }

  /// A map of 8 x 8 with 16 channels, two RoIs on its first pixel.
  std::string roi_align_forward(mluOpTensorLayout_t layout, int mean) {
    Tensors t;
    const mluopsRoiAlignForwardProblem p{
        {MLUOP_DTYPE_FLOAT, 1, 8, 8, 16, 2, 2, 2, 1.0f, 2, 1, mean}, t(1024), t(10), t(128), t(128), t(128), layout, 1};
    EXPECT_EQ(backend_.run(&mluopsBackend::roi_align_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }

  std::string roi_pool_forward(std::int64_t channels, mluOpTensorLayout_t layout) {
    Tensors t;
    const mluopsRoiPoolForwardProblem p{{MLUOP_DTYPE_FLOAT, 1, 8, 8, channels, 2, 2, 2, 1.0f},
                                        t(64 * channels),
                                        t(10),
                                        t(8 * channels),
                                        t.indices(8 * channels),
                                        layout,
                                        1};
    EXPECT_EQ(backend_.run(&mluopsBackend::roi_pool_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }
  /// 16 grids of 4 x 4 points.
  std::string roi_crop_forward(std::int64_t channels) {
    Tensors t;
    const mluopsRoiCropForwardProblem p{{MLUOP_DTYPE_FLOAT, 1, 8, 8, channels, 16, 4, 4},
                                        t(64 * channels),
                                        t(512),
                                        t(256 * channels),
                                        MLUOP_LAYOUT_NCHW};
    EXPECT_EQ(backend_.run(&mluopsBackend::roi_crop_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }
  std::string roi_crop_backward(std::int64_t channels, mluOpTensorLayout_t layout) {
    Tensors t;
    const mluopsRoiCropBackwardProblem p{
        {MLUOP_DTYPE_FLOAT, 1, 8, 8, channels, 16, 4, 4}, t(256 * channels), t(512), t(64 * channels), layout};
    EXPECT_EQ(backend_.run(&mluopsBackend::roi_crop_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return taken();
  }

  Backend backend_{2};
};

constexpr mluOpDataType_t kFloat = MLUOP_DTYPE_FLOAT;

TEST_P(PathTest, PsamaskCollect) {
  EXPECT_EQ(psamask_forward({kFloat, 1, 24, 24, 47, 47, 0}), "blocks");
  EXPECT_EQ(psamask_backward({kFloat, 1, 24, 24, 47, 47, 0}), "blocks");
}

TEST_P(PathTest, PsamaskNchw) {
  for (const int psa_type : {0, 1}) {
    EXPECT_EQ(psamask_forward({kFloat, 1, 24, 24, 47, 47, psa_type}, MLUOP_LAYOUT_NCHW), "blocks");
    EXPECT_EQ(psamask_backward({kFloat, 1, 24, 24, 47, 47, psa_type}, MLUOP_LAYOUT_NCHW), "blocks");
  }
}

TEST_P(PathTest, PsamaskDistribute) {
  const std::int64_t bytes = psamask::non_temporal_from();
  const char* const lines = avx512() ? "distribute_lines" : "blocks";
  EXPECT_EQ(psamask_forward({kFloat, 1, 4, 4, 3, 3, 1}), "blocks");
  EXPECT_EQ(psamask_forward({kFloat, images_beyond(bytes, 576 * 576), 24, 24, 5, 5, 1}), "blocks");
  EXPECT_EQ(psamask_forward({kFloat, images_beyond(bytes, 256 * 256), 16, 16, 31, 31, 1}), lines);
  EXPECT_EQ(psamask_forward({kFloat, images_beyond(bytes, 289 * 289), 17, 17, 33, 33, 1}), lines);
  EXPECT_EQ(psamask_backward({kFloat, 1, 4, 4, 3, 3, 1}), "blocks");
  EXPECT_EQ(psamask_backward({kFloat, images_beyond(bytes, 576 * 25), 24, 24, 5, 5, 1}), "blocks");
}

TEST_P(PathTest, ThreeInterpolate) {
  EXPECT_EQ(three_interpolate_forward({kFloat, 2, 32, 32, 128}), "blocks");
  EXPECT_EQ(three_interpolate_forward({MLUOP_DTYPE_DOUBLE, 2, 32, 32, 128}), "blocks");
  EXPECT_EQ(three_interpolate_forward({kFloat, 2, 32, 256, 1024}), "blocks");
  EXPECT_EQ(three_interpolate_forward({kFloat, 2, 1, 1024, 16}), "rows");
  EXPECT_EQ(three_interpolate_backward({kFloat, 8, 64, 16, 128}), "blocks");
  EXPECT_EQ(three_interpolate_backward({kFloat, 2, 32, 256, 1024}), "blocks");
  EXPECT_EQ(three_interpolate_backward({kFloat, 8, 2, 64, 256}), "rows");
}

TEST_P(PathTest, BorderAlignForward) {
  const std::int64_t n = images_beyond(border_align::pooled_non_temporal_from(), 64 * 4 * 32);
  for (const mluopsBorderAlignShape& s :
       {mluopsBorderAlignShape{kFloat, 1, 8, 8, 16, 4, 3}, mluopsBorderAlignShape{kFloat, n, 8, 8, 32, 64, 3},
        mluopsBorderAlignShape{kFloat, 1, 8, 8, 16, 4, 256}}) {
    EXPECT_EQ(border_align_forward(s), "lines");
    EXPECT_EQ(border_align_forward(s, MLUOP_LAYOUT_NCHW), s.k == 4 ? "lines" : "panels");
  }
  EXPECT_EQ(border_align_forward({kFloat, 1, 64, 64, 16, 2, 3}, MLUOP_LAYOUT_NCHW), "nchw_points");
}

TEST_P(PathTest, DeformRoiPoolForward) {
  const std::int64_t batch = images_beyond(second_cache_bytes(), 32 * 32 * 64);
  EXPECT_EQ(deform_roi_pool_forward({kFloat, batch, 32, 32, 64, 2 * batch, 2, 2, 1, 0.1f, 2}, 31), "sorted");
  EXPECT_EQ(deform_roi_pool_forward({kFloat, batch, 32, 32, 64, 2 * batch, 2, 2, 1, 0.1f, 2}, 4), "in_order");
  EXPECT_EQ(deform_roi_pool_forward({kFloat, 1, 8, 8, 16, 100, 2, 2, 1, 0.1f, 2}, 7), "in_order");
}

TEST_P(PathTest, DeformRoiPoolNchw) {
  EXPECT_EQ(deform_roi_pool_forward({kFloat, 1, 32, 32, 16, 40, 2, 2, 1, 0.1f, 2}, 31, MLUOP_LAYOUT_NCHW),
            vectors() ? "nchw_blocks" : "nchw_transposed");
  EXPECT_EQ(deform_roi_pool_forward({kFloat, 1, 32, 32, 8, 40, 2, 2, 1, 0.1f, 2}, 31, MLUOP_LAYOUT_NCHW),
            vectors() ? "nchw_blocks" : "nchw_transposed");
  EXPECT_EQ(deform_roi_pool_forward({kFloat, 1, 32, 32, 8, 1, 2, 2, 1, 0.1f, 2}, 31, MLUOP_LAYOUT_NCHW),
            !vectors()           ? "nchw_transposed"
            : gathers_are_slow() ? "nchw_rois"
                                 : "nchw_points");
  EXPECT_EQ(deform_roi_pool_forward({kFloat, 1, 32, 32, 4, 4, 2, 2, 1, 0.1f, 2}, 31, MLUOP_LAYOUT_NCHW),
            vectors() ? "nchw_planes" : "nchw_transposed");
}

TEST_P(PathTest, RoiAlignForward) {
  EXPECT_EQ(roi_align_forward(MLUOP_LAYOUT_NHWC, 1), "in_order");
  EXPECT_EQ(roi_align_forward(MLUOP_LAYOUT_NCHW, 1), vectors() ? "nchw_rois" : "nchw_transposed");
  EXPECT_EQ(roi_align_forward(MLUOP_LAYOUT_NHWC, 0), "greatest");
  EXPECT_EQ(roi_align_forward(MLUOP_LAYOUT_NCHW, 0), "greatest");
}

TEST_P(PathTest, RoiPoolForward) {
  for (const mluOpTensorLayout_t layout : {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_NCHW}) {
    const bool planes = layout == MLUOP_LAYOUT_NCHW;
    EXPECT_EQ(roi_pool_forward(1, layout), "columns");
    EXPECT_EQ(roi_pool_forward(4, layout), planes ? "columns" : "rows");
    EXPECT_EQ(roi_pool_forward(16, layout), planes ? "panels" : "rows");
  }
}

TEST_P(PathTest, RoiCropNchw) {
  EXPECT_EQ(roi_crop_forward(3), "nchw_planes");
  EXPECT_EQ(roi_crop_forward(16), "nchw_rois");
  EXPECT_EQ(roi_crop_backward(3, MLUOP_LAYOUT_NCHW), "planes");
  EXPECT_EQ(roi_crop_backward(3, MLUOP_LAYOUT_NHWC), "owner");
  EXPECT_EQ(roi_crop_backward(16, MLUOP_LAYOUT_NCHW), "owner");
}

TEST_P(PathTest, KernelsOfOnePath) {
  Tensors t;
  std::int32_t count = 0;
  const mluopsNmsShape boxes{kFloat, MLUOP_DTYPE_INT32, 3, 0.5f, 0};
  const mluopsNmsProblem nms{boxes,
                             kFloat,
                             MLUOP_NMS_BOX_DIAGONAL,
                             MLUOP_NMS_OUTPUT_TARGET_INDICES,
                             0,
                             -1,
                             3,
                             3,
                             0,
                             t(12),
                             t(3),
                             t.indices(3),
                             &count,
                             4};
  EXPECT_EQ(backend_.run(&mluopsBackend::nms, nms), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(taken(), "only");
  const mluopsSoftNmsProblem soft{boxes,  0.5f, 0.1f, MLUOP_EXT_SOFT_NMS_LINEAR, t(12), t(3), t(15), t.indices(3),
                                  &count, 0.5,  0.1};
  EXPECT_EQ(backend_.run(&mluopsBackend::soft_nms, soft), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(taken(), "only");
  const mluopsFurthestPointSampleProblem sample{{kFloat, 1, 16, 4}, t(48), t.indices(4)};
  EXPECT_EQ(backend_.run(&mluopsBackend::furthest_point_sample, sample), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(taken(), "only");
  const mluopsNmsMatchProblem match{boxes, t(15), t.indices(3), t.indices(3), &count};
  EXPECT_EQ(backend_.run(&mluopsBackend::nms_match, match), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(taken(), "only");
  const mluopsFurthestPointSampleWithDistProblem distances{{kFloat, 1, 16, 4}, t(256), t.indices(4)};
  EXPECT_EQ(backend_.run(&mluopsBackend::furthest_point_sample_with_dist, distances), MLUOP_STATUS_SUCCESS)
      << last_error;
  EXPECT_EQ(taken(), "only");
}

INSTANTIATE_TEST_SUITE_P(Isa, PathTest, testing::ValuesIn(kLevels),
                         [](const auto& level) { return std::string(level.param); });

TEST(PathOption, ForcesAPathOrSaysWhichThereAre) {
  Backend backend;
  Tensors t;
  const mluopsThreeInterpolateForwardProblem p{{kFloat, 1, 1, 1024, 16}, t(1024), t.indices(48), t(48), t(16)};
  EXPECT_EQ(backend.query("path"), "auto");
  backend.option("path", "blocks");
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(backend.query("last_path"), "blocks");
  EXPECT_EQ(backend.query("last_paths"), "blocks, rows");
  backend.option("path", "lines");  // of another operator
  std::memset(p.output, 0x77, 16 * sizeof(float));
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_forward, p), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(last_error, "option path: wanted one of blocks, rows, got \"lines\"");
  EXPECT_EQ(static_cast<const unsigned char*>(p.output)[0], 0x77);
  backend.option("path", "auto");
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(backend.query("last_path"), "rows");
}

TEST(PathOption, AtomicNeedsTheCallersLeave) {
  Backend backend(2);
  Tensors t;
  const mluopsThreeInterpolateBackwardProblem p{{kFloat, 1, 4, 8, 16}, t(64), t.indices(48), t(48), t(32)};
  backend.option("path", "atomic");
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_backward, p), MLUOP_STATUS_NOT_SUPPORTED);
  backend.call().atomics = MLUOP_ATOMICS_ALLOWED;
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(backend.query("last_scatter"), "atomic");
}

}  // namespace
}  // namespace mluops::cpu::test
