#include "bench/study/brief.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "bench/output/brief.h"
#include "bench/output/table.h"
#include "bench/study/countdown.h"
#include "bench/study/network_run.h"
#include "bench/study/peers.h"
#include "bench/study/plan.h"

namespace bench {
namespace {

constexpr double kPeerSeconds = 0.1;

std::string emphasized(const std::string& line) {
  return isatty(STDOUT_FILENO) != 0 ? "\033[1m" + line + "\033[0m" : line;
}

/// A family's operators one after the other, each family where its first one stands.
std::vector<Group> by_family(std::vector<Group> groups) {
  std::vector<std::string> order;
  for (const Group& g : groups) {
    if (std::ranges::find(order, g.op->family) == order.end()) order.push_back(g.op->family);
  }
  std::ranges::stable_sort(groups, {}, [&](const Group& g) { return std::ranges::find(order, g.op->family); });
  return groups;
}

void add_peers(std::vector<Row>& rows, Peers& peers, int threads) {
  for (Row& row : rows) {
    if (row.measured() && row.backend == "cpu" && row.threads == threads) row.peer = peers.seconds(row);
  }
}

/// Prints the rows of one number of threads.
void print_family(const std::string& family, std::vector<Row> rows, const BriefTable& table, int threads) {
  std::erase_if(rows, [&](const Row& row) { return row.threads != threads; });
  progress("");
  std::printf("%s\n", emphasized(family_line(family, rows)).c_str());
  for (const Row& row : rows) {
    if (row.verdict != Verdict::absent) std::fputs(table.line(row).c_str(), stdout);
  }
  std::fflush(stdout);
}

std::string peers_text(const Peers& peers, const std::vector<Row>& rows) {
  if (!peers.there()) return "no PyTorch beside it: no python3 here can import torch\n";
  const auto with = std::ranges::count_if(rows, [](const Row& row) { return row.peer > 0; });
  return format("bench/python/peers.py composes %d of the operators of stock PyTorch\n", static_cast<int>(with));
}

}  // namespace

std::vector<Row> run_brief(const Options& options, const std::vector<Target>& targets, Machine* machine) {
  const std::vector<Group> groups = by_family(chosen_groups(options));
  const int threads = options.threads.back();
  Peers peers(threads, kPeerSeconds);
  std::size_t width = 0;
  for (const Group& g : groups) width = std::max(width, g.text.op().size());
  const BriefTable table(width);
  std::printf("%s\n%s", machine_line(machine->now(threads)).c_str(), table.heading().c_str());
  Countdown countdown(groups, options, targets);
  std::vector<Row> rows, family;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    countdown.show(groups[i].text.text());
    std::vector<Row> own = run_group(jobs_of(groups[i], options, targets), settings_of(options, machine));
    countdown.done();
    add_peers(own, peers, threads);
    std::ranges::move(own, std::back_inserter(family));
    if (i + 1 < groups.size() && groups[i + 1].op->family == groups[i].op->family) continue;
    print_family(groups[i].op->family, family, table, threads);
    std::ranges::move(family, std::back_inserter(rows));
    family.clear();
  }
  std::printf("\n%s%s", absent_text(rows).c_str(), peers_text(peers, rows).c_str());
  return rows;
}

}  // namespace bench
