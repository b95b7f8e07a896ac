#include "test/reference/diff_iou_rotated.h"

#include <cmath>
#include <set>

namespace mluops::reference {
namespace {

// Every operation rounded to float, or double for DOUBLE, and compared with 1e-8 in double.
class Order {
 public:
  explicit Order(bool is_float) : is_float_(is_float) {}

  bool less(double x1, double y1, double x2, double y2) const {
    if (std::fabs(round(x1 - x2)) < 1e-8 && std::fabs(round(y1 - y2)) < 1e-8) return false;
    if (y1 > 0 && y2 < 0) return true;
    const double difference = round(order(x1, y1) - order(x2, y2));
    if (y1 > 0 && y2 > 0) return difference > 1e-8;
    return y1 < 0 && y2 < 0 && difference < 1e-8;
  }
  double round(double x) const { return is_float_ ? static_cast<double>(static_cast<float>(x)) : x; }

 private:
  double order(double x, double y) const {
    const double squares = round(round(x * x) + round(y * y));
    return round(round(std::fabs(x) * x) / round(squares + 1e-8));
  }

  bool is_float_;
};

using Row = std::vector<int>;

Row sorted(const Order& order, const double* v, const std::uint8_t* mask, std::int32_t valid) {
  int pad = 8;
  while (pad < 23 && mask[pad] != 0) ++pad;
  if (valid < 3) return Row(9, pad);
  Row idx;
  for (int j = 0; j < std::min(valid, 8); ++j) {
    double x = 1, y = order.round(-1e-8);
    int taken = 0;
    for (int k = 0; k < 24; ++k) {
      const double xk = v[2 * k], yk = v[2 * k + 1];
      const bool behind = j == 0 || order.less(v[2 * idx.back()], v[2 * idx.back() + 1], xk, yk);
      if (mask[k] != 0 && behind && order.less(xk, yk, x, y)) x = xk, y = yk, taken = k;
    }
    idx.push_back(taken);
  }
  // mmcv counts equal numbers of the first and the last four, pair by pair
  int equal = 0;
  for (int j = 0; valid == 8 && j < 4; ++j) {
    for (int k = 4; k < 8; ++k) equal += idx[j] == idx[k] ? 1 : 0;
  }
  if (equal == 4) idx.resize(4);
  idx.push_back(idx[0]);
  idx.resize(9, pad);
  return idx;
}

}  // namespace

Values diff_iou_rotated_sort_vertices(const mluopsDiffIouRotatedSortVerticesProblem& p) {
  const Values v = decode(p.shape.dtype, p.vertices, p.shape.n * 48);
  const Order order(p.shape.dtype != MLUOP_DTYPE_DOUBLE);
  Values result;
  for (std::int64_t n = 0; n < p.shape.n; ++n) {
    const Row row = sorted(order, &v[48 * n], p.mask + 24 * n, p.num_valid[n]);
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace mluops::reference
