// Each study answers one question with tables.
#pragma once

#include "bench/output/growth.h"
#include "bench/study/network_run.h"

namespace bench {

/// Numbers of threads from 1 to all CPUs, doubling.
std::vector<int> thread_ladder();

/// Times of every case by number of threads, from rows that were measured with several.
Grid speedup_grid(const std::vector<Row>& rows);

/// Cases of over 5 ms with one thread that two threads make less than 1.8 times as fast, beside what the
/// machine itself gains: in the figure that bounds them, and in moving the same bytes.
Grid slow_scaling_grid(const std::vector<Row>& rows);

/// The rows of the selected cases below 80 % of the bound, with what limits them.
Grid limits_study(const Options& options);

/// Every selected case at every step of the ladder: time and speed-up; then slow_scaling_grid.
std::vector<Grid> scaling_study(const Options& options);

/// What speed-up every selected case can have with the threads of Options::simulated, from the times of the parts of
/// its loops on one thread.
Grid simulated_study(const Options& options);

/// The scatter-add gradients from few hot rows to spread out: owner, atomic and what auto chooses.
Grid scatter_study(const Options& options);

/// The selected cases with images in NHWC and in NCHW, taking turns.
Grid layout_study(const Options& options);

/// Time while one parameter doubles: fitted exponent beside the exponent of the work.
std::vector<GrowthRow> measure_growth(const Options& options);
Grid sweep_study(const Options& options);

/// What the smallest legal call of every operator costs, in nanoseconds: everything but arithmetic.
Grid overhead_study(const Options& options);

/// PyTorch compositions of the same cases in the same run. Throws std::runtime_error when torch cannot be imported.
Grid peers_study(const Options& options);

/// The selected cases with this library and with the one of another git revision, alternating.
Grid against_study(const Options& options, const std::string& program);

/// Everything above that needs no other software, with the table itself, as Markdown; the plot goes to <path>.svg.
/// Returns whether all verdicts hold.
bool write_report(const Options& options);

/// Runs the selected cases without the reference and writes one line per row for against_study.
void write_times(const Options& options);

}  // namespace bench
