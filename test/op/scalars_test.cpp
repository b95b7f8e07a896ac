// Tensors of double are computed with the doubles that were given (mluOpExtSetScalars): where the floats they round to
// would show, in numbers or in what is chosen, results are those of the doubles.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "test/op/suite.h"

namespace mluops::test {
namespace {

struct Sensitive {
  const char* text;
  std::vector<std::string> keys;  ///< arguments, each of which shows when it is rounded
};

const std::vector<Sensitive>& sensitive_cases() {
  static const std::vector<std::string> both = {"scale", "gamma"}, scale = {"scale"}, focal = {"alpha", "gamma"};
  static const std::vector<Sensitive> all = {
      {"deform_roi_pool_forward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 gamma=0.1 rois=inside", both},
      {"deform_roi_pool_backward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 gamma=0.1 rois=inside", both},
      {"roi_align_forward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 ratio=2 rois=inside", scale},
      {"roi_align_forward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 ratio=2 rois=inside pool=greatest", scale},
      {"roi_align_backward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 ratio=2 rois=inside", scale},
      {"roi_align_rotated_forward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 rois=inside", scale},
      {"roi_align_rotated_backward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 rois=inside", scale},
      {"prroi_pool_forward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 rois=inside", scale},
      {"prroi_pool_backward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 rois=inside", scale},
      {"bezier_align_forward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 rois=inside", scale},
      {"bezier_align_backward b=1 h=12 w=11 c=3 r=9 ph=3 pw=3 scale=0.1 rois=inside", scale},
      {"rotated_feature_align_forward b=1 h=9 w=8 c=3 scale=0.1", scale},
      {"rotated_feature_align_backward b=1 h=9 w=8 c=3 scale=0.1", scale},
      {"ps_roi_pool_forward b=1 h=12 w=11 d=3 r=20 ph=2 pw=2 scale=0.3 rois=edge", scale},
      {"ps_roi_pool_backward b=1 h=12 w=11 d=3 r=20 ph=2 pw=2 scale=0.3 rois=edge", scale},
      {"roi_pool_forward b=1 h=12 w=11 c=3 r=20 ph=2 pw=2 scale=0.3 rois=edge", scale},
      {"focal_loss_sigmoid_forward n=20 c=7 alpha=0.1 gamma=1.7 target=classes", focal},
      {"focal_loss_sigmoid_backward n=20 c=7 alpha=0.1 gamma=1.7 target=classes", focal},
      {"focal_loss_softmax_forward n=20 c=7 alpha=0.1 gamma=1.7", focal},
      {"focal_loss_softmax_backward n=20 c=7 alpha=0.1 gamma=1.7", focal},
      {"ball_query b=1 m=30 n=200 s=20 max=0.35355339059327379 data=grid", {"max"}},
      {"ball_query b=1 m=30 n=200 s=20 min=0.35355339059327373 max=2 data=grid", {"min"}},
      {"nms3d n=9 iou=0.99999999906867743 rotated=0 boxes=same", {"iou"}},
      {"nms_rotated n=60 iou=0.1999999999 boxes=grid", {"iou"}},
      {"poly_nms n=60 iou=0.1999999999 boxes=grid", {"iou"}},
      {"generate_proposals_v2 n=1 h=1 w=2 a=2 pre=0 post=4 iou=0.99999999906867743 data=same", {"iou"}},
      {"generate_proposals_v2 n=1 h=1 w=2 a=2 pre=0 post=4 least=6.000000001 data=same", {"least"}},
      {"yolo_box n=1 s=2 c=3 h=4 w=5 conf=0.5000000001 data=even", {"conf"}},
      {"yolo_box n=1 s=2 c=3 h=4 w=5 iou_aware=1 factor=0.3 scale=1.1", {"factor", "scale"}},
      {"upfirdn2d n=1 h=9 w=8 c=3 x0=1 x1=1 gain=0.1", {"gain"}},
      {"prior_box h=3 w=4 steph=7.3 stepw=5.1 offset=0.3 clip=0", {"steph", "stepw", "offset"}},
      {"soft_nms n=60 method=naive iou=0.2 boxes=grid", {"iou"}},
      {"soft_nms n=60 method=gaussian sigma=0.1 min_score=0 boxes=grid", {"sigma"}},
      {"soft_nms n=60 method=naive min_score=0.2 boxes=apart scores=ties", {"min_score"}},
      {"nms_match n=60 iou=0.2 boxes=grid", {"iou"}},
      {"sync_batch_norm_stats rows=30 c=5 eps=0.1", {"eps"}},
      {"sync_batch_norm_gather_stats processes=3 c=5 momentum=0.1 eps=0.1", {"momentum", "eps"}},
      {"logspace steps=9 start=1.1 end=1.3 base=3.3", {"start", "end", "base"}},
  };
  return all;
}

/// The case with the argument as a float has it.
Case rounded(Case text, const std::string& key) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", static_cast<double>(static_cast<float>(text.real(key))));
  return text.set(key, std::string(digits));
}

/// The greatest difference of two results, by the greatest number.
double distance(const Expected& a, const Expected& b) {
  double most = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t i = 0; i < a[k].size(); ++i) {
      most = std::max(most, std::fabs(a[k][i] - b[k][i]));
      size = std::max(size, std::fabs(a[k][i]));
    }
  }
  return most / size;
}

TEST(Scalars, OfDoubleAreNotRounded) {
  Handle handle("cpu", 2);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  const Tolerance tolerance = tolerance_of("cpu", MLUOP_DTYPE_DOUBLE);
  for (const auto& [words, keys] : sensitive_cases()) {
    const Case text = Case::parse(words);
    Problem problem = make_problem(text, MLUOP_DTYPE_DOUBLE);
    const Expected expected = problem.expect(tolerance.coordinates);
    const Report report = run_and_check(problem, handle, "cpu", expected, tolerance);
    EXPECT_EQ(report.outcome, Outcome::kRan) << words << ": " << report.text;
    for (const std::string& key : keys) {
      const Problem other = make_problem(rounded(text, key), MLUOP_DTYPE_DOUBLE);
      EXPECT_GT(distance(expected, other.expect(tolerance.coordinates)), 1e-9) << words << ": " << key;
    }
  }
}

/// No argument of an operator is left out above, but those that decide nothing.
TEST(Scalars, OfAllOperatorsAreTried) {
  for (const cases::OperatorCases& op : cases::all_operators()) {
    if (std::ranges::count(op.dtypes.extended, MLUOP_DTYPE_DOUBLE) == 0) continue;
    const std::size_t count = describe(cases::cases_of(op, op.smallest).back(), MLUOP_DTYPE_DOUBLE).scalars.size();
    std::set<std::string> tried;
    for (const auto& [words, keys] : sensitive_cases()) {
      if (Case::parse(words).op() == op.op) tried.insert(keys.begin(), keys.end());
    }
    const std::string name = op.op;
    const std::size_t idle = name == "roi_pool_backward"       ? count  // argmax decides
                             : name == "generate_proposals_v2" ? 1      // eta is 1 or refused
                                                               : 0;
    EXPECT_EQ(tried.size() + idle, count) << name;
  }
}

}  // namespace
}  // namespace mluops::test
