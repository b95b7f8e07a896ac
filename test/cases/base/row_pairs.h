// Pairs of rows, as of a sparse convolution, made up from numbers of rows: indice_pairs and indice_num.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "mluops/problem.h"
#include "test/cases/base/case.h"
#include "test/cases/base/fill.h"

namespace mluops::cases {

inline constexpr const char* kRowPairKinds = "band (neighbours, as of sorted voxels) | random | wild (some outside)";

/// [offsets,2,places]; a case's keys are share and pairs.
struct RowPairs {
  std::int64_t offsets, places;
  std::int64_t first_rows, second_rows;
  std::string kind;
  std::uint64_t seed;
  std::shared_ptr<std::vector<std::int64_t>> num;

  /// The first number of a pair leads to first_rows rows, the second to second_rows. The middle offset has as many
  /// pairs as can be, the others about `share` of that; all at most the fewer of both tensors' rows.
  RowPairs(const Case& t, std::int64_t offsets_, std::int64_t places_, std::int64_t first, std::int64_t second)
      : offsets(offsets_),
        places(places_),
        first_rows(first),
        second_rows(second),
        kind(t.word("pairs")),
        seed(t.seed("pairs")) {
    const std::int64_t most = std::min({places, first, second});
    std::vector<std::int64_t> counts;
    for (std::int64_t k = 0; k < offsets; ++k) {
      const double part = k == offsets / 2 ? 1 : 2 * t.real("share") * unit_random(seed, -1 - k);
      counts.push_back(std::min(most, static_cast<std::int64_t>(std::lround(part * static_cast<double>(most)))));
    }
    num = std::make_shared<std::vector<std::int64_t>>(std::move(counts));
  }

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : *num) sum += count;
    return sum;
  }

  Fill fill() const {
    return [*this](std::int64_t i) {
      const std::int64_t k = i / (2 * places), p = i % places, count = (*num)[static_cast<std::size_t>(k)];
      const std::int64_t rows = i / places % 2 == 0 ? first_rows : second_rows;
      if (p >= count) return -1.0;
      const double unit = unit_random(seed + 1, i), all = static_cast<double>(rows);
      if (kind == "band") {
        const double near = (static_cast<double>(p) + 3 * unit) / static_cast<double>(count) * all;
        return std::min(std::floor(near), all - 1);
      }
      return std::floor(kind == "wild" ? (1.4 * unit - 0.2) * all : unit * all);
    };
  }

  mluopsIndicePairs problem(const void* indice_pairs) const {
    return {offsets, places, static_cast<const std::int32_t*>(indice_pairs), num->data()};
  }
};

}  // namespace mluops::cases
