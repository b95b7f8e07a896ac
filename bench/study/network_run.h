// The main job: every selected network case on every selected backend.
#pragma once

#include <functional>

#include "bench/engine/runner.h"
#include "bench/study/options.h"

namespace bench {

/// Targets for every backend and number of threads of the options.
std::vector<Target> make_targets(const Options& options);

/// How the rows of these options are measured; the machine may be null.
Settings settings_of(const Options& options, Machine* machine);

/// Takes the rows of a group as soon as they are final.
using RowVisitor = std::function<void(const std::vector<Row>& rows)>;

/// Runs the selected cases; the machine, unless null, is measured on the way. Says on stderr how far it is and about
/// how long the rest takes.
std::vector<Row> run_network(const Options& options, const std::vector<Target>& targets, Machine* machine,
                             const RowVisitor& visit = nullptr);

/// One line per selected case.
std::string list_text(const Options& options);

}  // namespace bench
