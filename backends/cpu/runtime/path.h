// The ways a kernel can take, by name: one list per kernel says which there are and when each runs.
#pragma once

#include <cstddef>
#include <string>

#include "backends/cpu/runtime/context.h"

namespace mluops::cpu {

/// How a path and a call go together.
enum class Fit {
  kCannot,  ///< the path would be wrong here, or the machine lacks what it needs
  kCan,     ///< right, but another path is preferred
  kPrefer,
};

constexpr Fit fit(bool can, bool prefer = true) {
  return !can ? Fit::kCannot : prefer ? Fit::kPrefer : Fit::kCan;
}

/// One way to compute a problem. `applies` looks at the problem and at what the call allows; it writes nothing.
template <class Problem>
struct Path {
  const char* name;
  Fit (*applies)(const Context&, const mluopsCall&, const Problem&);
  mluOpStatus_t (*run)(Context&, const mluopsCall&, const Problem&);
};

/// For the last path of a list.
template <class Problem>
Fit always(const Context&, const mluopsCall&, const Problem&) {
  return Fit::kPrefer;
}

/// Runs the first path that is preferred, or the one option "path" names, and notes in the context which it was and
/// which others could have run (queries "last_path", "last_paths"). NOT_SUPPORTED, and nothing is written, where the
/// list has no path of that name or it cannot run this call.
template <class Problem, std::size_t N>
mluOpStatus_t run_path(Context& context, const mluopsCall& call, const Problem& problem,
                       const Path<Problem> (&paths)[N]) {
  static_assert(N <= Context::kMostPaths);
  const Path<Problem>* chosen = nullptr;
  context.paths_known = 0;
  for (const Path<Problem>& path : paths) {
    const Fit found = path.applies(context, call, problem);
    if (found == Fit::kCannot) continue;
    context.paths[context.paths_known++] = path.name;
    const bool wanted = context.path.empty() ? found == Fit::kPrefer : context.path == path.name;
    if (wanted && chosen == nullptr) chosen = &path;
  }
  if (chosen == nullptr) return path_not_found(context, call);
  context.last_path = chosen->name;
  return chosen->run(context, call, problem);
}

}  // namespace mluops::cpu
