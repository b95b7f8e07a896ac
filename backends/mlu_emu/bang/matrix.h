// Products of matrices for the tensor unit: every sum in the order of its terms, whatever the host's vectors.
#pragma once

#include <cstdint>
#include <vector>

namespace mluops::emu::bang {

/// The right-hand side [columns,terms], kept in panels of as many columns as a vector of 64 bytes has lanes.
template <class E>  // float, double
class Panels {
 public:
  static constexpr std::int64_t kLanes = 64 / static_cast<std::int64_t>(sizeof(E));

  Panels(std::int64_t columns, std::int64_t terms)
      : terms_(terms),
        columns_(columns),
        data_(static_cast<std::size_t>((columns + kLanes - 1) / kLanes * kLanes * terms)) {}
  E& at(std::int64_t column, std::int64_t term) {
    return data_[static_cast<std::size_t>((column / kLanes * terms_ + term) * kLanes + column % kLanes)];
  }
  /// out [columns] = row [terms] times this, for four rows: out and rows lie `columns` and `terms` apart.
  void multiply_four(const E* rows, E* out) const;

 private:
  std::int64_t terms_, columns_;
  std::vector<E> data_;
};

}  // namespace mluops::emu::bang
