// The lists of cases every backend has to pass, per operator.
#pragma once

#include <string>
#include <vector>

#include "test/support/case.h"
#include "test/support/random.h"

namespace mluops::test {

using Cases = std::vector<Case>;

/// Shapes of the design documents and of the vendor's and mmcv's tests; the largest at reduced batch, channels or RoIs
/// (each says so), in full through bench.
Cases document_cases(const std::string& op);
/// One awkward thing at a time.
Cases edge_cases(const std::string& op);
/// A problem of at most `effort` (about 1: the usual size; 0.2 for a device with little memory).
Case random_case(const std::string& op, Random& random, double effort = 1);
using Filter = bool (*)(const Case&);

/// count problems that pass the filter, the same for the same seed.
Cases random_cases(const std::string& op, std::uint64_t seed, int count, double effort = 1, Filter filter = nullptr);

/// About how many terms the longest sum of the case has.
double longest_sum(const Case& text);

/// Whether a device that computes everything in half, coordinates and sums included, can be held to 3e-3
/// (docs/accuracy.md): coordinates below 64, where the spacing is 1/32; sums of at most 300 terms, 100 that
/// are added one by one, or 15 bilinear samples.
bool meaningful_in_half(const Case& text);

/// meaningful_in_half where it matters (mlu_emu in half), else nothing.
Filter filter_for(const std::string& backend, mluOpDataType_t dtype);

// One per operator family (cases/<op>.cpp); they name the forward operator.
Cases carafe_document_cases();
Cases carafe_edge_cases();
Case carafe_random_case(Random& random, double effort);
Cases psamask_document_cases();
Cases psamask_edge_cases();
Case psamask_random_case(Random& random, double effort);
Cases three_interpolate_document_cases();
Cases three_interpolate_edge_cases();
Case three_interpolate_random_case(Random& random, double effort);
Cases deform_roi_pool_document_cases();
Cases deform_roi_pool_edge_cases();
Case deform_roi_pool_random_case(Random& random, double effort);
Cases border_align_document_cases();
Cases border_align_edge_cases();
Case border_align_random_case(Random& random, double effort);

/// A size in [1, most]: mostly small, often odd or prime, sometimes 1.
std::int64_t odd_size(Random& random, std::int64_t most);

}  // namespace mluops::test
