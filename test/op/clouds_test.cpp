// What operators on points cost does not depend on where the points lie: clouds padded with zeros, blocks of equal
// points, grids and lines cost about what points spread over a cube do, however many there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "test/support/run.h"

namespace mluops::test {
namespace {

/// Of this thread alone: what others do meanwhile does not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double least_seconds(const std::string& text) {
  const Handle handle("cpu", 1);
  Problem problem = make_problem(Case::parse(text), MLUOP_DTYPE_FLOAT);
  double least = 1e9;
  for (int i = 0; i < 4; ++i) {
    const double start = thread_seconds();
    EXPECT_EQ(run(problem, handle), MLUOP_STATUS_SUCCESS) << text << ": " << mluOpExtGetLastErrorText();
    least = std::min(least, thread_seconds() - start);
  }
  return least;
}

/// At most 2.5 was seen; a search that visits equal points one by one costs 17 to 35.
constexpr double kMost = 6;

void expect_cost_of_a_cube(const std::string& call) {
  const double spread = least_seconds(call + " data=uniform");
  for (const char* const kind : {"same", "grid", "padded", "blocks", "places", "line", "lattice"}) {
    const double seconds = least_seconds(call + " data=" + kind);
    EXPECT_LT(seconds, kMost * spread) << call << " " << kind;
  }
}

TEST(Clouds, AllCostAboutWhatPointsSpreadOverACubeDo) {
  for (const std::string n : {"8192", "32768", "131072"}) {
    for (const std::string& call :
         {"knn b=1 m=1024 k=8 n=" + n, "knn b=1 m=512 k=300 n=" + n, "ball_query b=1 m=1024 s=16 max=0.1 n=" + n,
          "ball_query b=1 m=1024 s=32 min=0.3 max=0.4 n=" + n, "three_nn_forward b=1 n=1024 m=" + n,
          "chamfer_distance_forward b=1 n=1024 m=" + n, "furthest_point_sample b=1 m=512 n=" + n}) {
      expect_cost_of_a_cube(call);
    }
  }
}

/// Too few centres to sort the points for: all are compared with each.
TEST(Clouds, SoDoTheyForFewCentres) {
  for (const char* const call : {"knn b=1 m=32 k=8 n=32768", "knn b=1 m=32 k=600 n=32768",
                                 "three_nn_forward b=1 n=32 m=32768", "ball_query b=1 m=32 s=16 max=0.1 n=32768"}) {
    expect_cost_of_a_cube(call);
  }
}

TEST(Clouds, PointsInBoxesAndVoxelsCostWhatTheirNumberDoes) {
  for (const std::string call :
       {"points_in_boxes_part b=1 n=64 m=32768", "points_in_boxes_all b=1 n=64 m=32768",
        "roipoint_pool3d b=1 m=32 c=4 s=64 n=32768", "roiaware_pool3d_forward n=16 c=4 p=32768",
        "voxelization n=131072", "dynamic_voxelize n=131072"}) {
    expect_cost_of_a_cube(call);
  }
}

TEST(Boxes, SuppressionCostsWhatItDoesInARow) {
  for (const std::string call : {"nms n=20000 iou=0.5", "nms_match n=20000 iou=0.5"}) {
    const double row = least_seconds(call + " boxes=apart");
    for (const char* const kind : {"column", "far", "islands", "crossed", "same"}) {
      EXPECT_LT(least_seconds(call + " boxes=" + kind), kMost * row) << call << " " << kind;
    }
  }
}

}  // namespace
}  // namespace mluops::test
