#include "bench/study/operators.h"

#include <algorithm>

#include "bench/engine/targets.h"
#include "bench/study/doors.h"
#include "mlu_op_ext.h"
#include "test/cases/base/nchw.h"

namespace bench {
namespace {

constexpr const char* kYes = "yes";

std::string names(const std::vector<mluOpDataType_t>& dtypes) {
  std::string text;
  for (const mluOpDataType_t dtype : dtypes) text.append(text.empty() ? "" : " ").append(dtype_name(dtype));
  return text;
}

std::string layouts(const OperatorCases& op) {
  const Case text = cases_of(op, op.smallest).front();
  return mluops::cases::has_images(describe(text, op.dtypes.strict.back())) ? "NHWC NCHW" : "";
}

bool behind(const OperatorCases& op, const std::string& door) {
  return std::ranges::any_of(python_doors(), [&](const Door& of) {
    return of.function == op.function && (" " + of.doors + " ").find(" " + door + " ") != std::string::npos;
  });
}

/// Whether the list has the gradient of a forward operator.
bool has_gradient(const std::string& op) {
  constexpr std::string_view kForward = "_forward";
  if (!op.ends_with(kForward)) return false;
  const std::string backward = op.substr(0, op.size() - kForward.size()) + "_backward";
  return std::ranges::any_of(all_operators(),
                             [&](const OperatorCases& o) { return std::string(o.op).starts_with(backward); });
}

std::vector<Target> all_backends() {
  std::vector<Target> targets;
  for (int i = 0; i < mluOpExtGetBackendCount(); ++i) targets.emplace_back(mluOpExtGetBackendName(i), 1);
  return targets;
}

}  // namespace

Grid operators_grid() {
  const std::vector<Target> backends = all_backends();
  Grid grid{"", {"operator", "C function"}, "ll", {}, ""};
  for (const Target& t : backends) grid.heading.push_back(t.backend());
  for (const char* name : {"dtypes", "EXTENDED adds", "layouts", "numpy", "torch", "mmcv", "gradient"}) {
    grid.heading.emplace_back(name);
  }
  grid.align = std::string(grid.heading.size(), 'l');
  for (const OperatorCases& op : all_operators()) {
    std::vector<std::string> cells = {op.op, op.function};
    for (const Target& t : backends) cells.emplace_back(t.has(op.op) ? kYes : "");
    cells.insert(cells.end(), {names(op.dtypes.strict), names(op.dtypes.extended), layouts(op)});
    for (const char* door : {"numpy", "torch", "mmcv"}) cells.emplace_back(behind(op, door) ? kYes : "");
    cells.emplace_back(has_gradient(op.op) ? kYes : "");
    grid.add(std::move(cells));
  }
  return grid;
}

std::string operators_page() {
  return "# Operators\n\n"
         "Written by `./run operators` from the list, the descriptions in test/cases, the backends and the Python "
         "package.\n"
         "dtypes: of the floating-point tensors; what the EXTENDED contract adds is for backends that have it, `cpu` "
         "among\n"
         "them, as are image tensors in NCHW. numpy, torch, mmcv: which of the package's doors call the function. "
         "gradient:\n"
         "the list has the backward operator too. Formulas and borders: [the operators' "
         "pages](README.md#operators).\n\n" +
         operators_grid().markdown();
}

}  // namespace bench
