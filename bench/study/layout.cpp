#include "bench/output/table.h"
#include "bench/study/plan.h"
#include "bench/study/studies.h"
#include "test/cases/base/nchw.h"

namespace bench {
namespace {

/// The selected cases with image tensors.
std::vector<Group> groups_with_images(const Options& options) {
  std::vector<Group> chosen;
  for (Group& group : chosen_groups(options)) {
    const mluOpDataType_t dtype = group.op->dtypes.strict.back();
    if (mluops::cases::has_images(describe(group.text, dtype))) chosen.push_back(std::move(group));
  }
  return chosen;
}

std::vector<std::string> cells_of(const Row& nhwc, const Row& nchw, const std::string& path) {
  const auto ms = [](const Row& r) { return r.measured() ? format("%.3f", r.median() * 1e3) : std::string("-"); };
  const bool ran = nhwc.measured() && nchw.measured();
  return {nhwc.op,    nhwc.shape,
          nhwc.dtype, ms(nhwc),
          ms(nchw),   ran ? format("%.2f", nchw.median() / nhwc.median()) : "-",
          path,       std::string(verdict_name(nhwc.verdict)) + " " + verdict_name(nchw.verdict)};
}

}  // namespace

Grid layout_study(const Options& options) {
  const int threads = options.threads.back();
  const Target channels_last("cpu", threads), channels_first("cpu", threads);
  channels_first.extended_contract();
  const Settings settings{options.min_seconds, options.repetitions, options.check};
  Grid grid{format("The same calls on NHWC and on NCHW tensors (cpu, %d threads)", threads),
            {"operator", "case", "dtype", "NHWC ms", "NCHW ms", "NCHW/NHWC", "NCHW takes", "verdicts"},
            "lllrrrll",
            {},
            "Both calls of a row take turns. A path that begins with nchw was written for NCHW; others run between "
            "transposes of whole tensors."};
  for (const Group& group : groups_with_images(options)) {
    progress(group.text.op() + " " + group.text.shape());
    Case nchw = group.text;
    nchw.set("layout", "nchw");
    for (const mluOpDataType_t dtype : options.dtypes) {
      if (!has_dtype(*group.op, dtype)) continue;
      const std::vector<Row> rows = run_group(
          {{describe(group.text, dtype), {channels_last}, false}, {describe(nchw, dtype), {channels_first}, false}},
          settings);
      grid.add(cells_of(rows[0], rows[1], channels_first.query("last_path")));
    }
  }
  return grid;
}

}  // namespace bench
