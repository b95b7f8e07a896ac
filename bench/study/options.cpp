#include "bench/study/options.h"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

#include "bench/machine/memory.h"
#include "test/cases/base/nearest.h"
#include "test/cases/base/parallel.h"
#include "test/cases/operator.h"

namespace bench {
namespace {

using Setter = std::function<void(Options&, const std::string&)>;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  // A comma inside brackets belongs to the name of a case.
  int depth = 0;
  std::string part;
  for (const char c : text + ",") {
    depth += (c == '[') - (c == ']');
    if (c != ',' || depth > 0) {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

double number(const std::string& text, double least) {
  std::size_t used = 0;
  double value = least - 1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || value < least) throw std::invalid_argument("\"" + text + "\" is not a number >= allowed");
  return value;
}

std::vector<int> thread_counts(const std::string& text) {
  std::vector<int> counts;
  for (const std::string& part : split(text)) counts.push_back(static_cast<int>(number(part, 1)));
  return counts;
}

std::vector<mluOpDataType_t> dtypes(const std::string& text) {
  std::vector<mluOpDataType_t> list;
  for (const std::string& part : split(text)) {
    if (part != "float" && part != "half") throw std::invalid_argument("dtype \"" + part + "\": want float or half");
    list.push_back(part == "float" ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_HALF);
  }
  if (list.empty()) throw std::invalid_argument("--dtype names none");
  return list;
}

const std::map<std::string, Setter>& options_with_value() {
  static const std::map<std::string, Setter> map = {
      {"--op", [](Options& o, const std::string& v) { o.operators = split(v); }},
      {"--case", [](Options& o, const std::string& v) { o.cases = split(v); }},
      {"--backend", [](Options& o, const std::string& v) { o.backends = split(v); }},
      {"--dtype", [](Options& o, const std::string& v) { o.dtypes = dtypes(v); }},
      {"--threads", [](Options& o, const std::string& v) { o.threads = thread_counts(v); }},
      {"--min-time", [](Options& o, const std::string& v) { o.min_seconds = number(v, 0); }},
      {"--repetitions", [](Options& o, const std::string& v) { o.repetitions = static_cast<int>(number(v, 1)); }},
      {"--memory", [](Options& o, const std::string& v) { o.memory = number(v, 1); }},
      {"--json", [](Options& o, const std::string& v) { o.json = v; }},
      {"--html", [](Options& o, const std::string& v) { o.html = v; }},
      {"--roofline", [](Options& o, const std::string& v) { o.roofline = v; }},
      {"--operators-page", [](Options& o, const std::string& v) { o.operators_page = v; }},
      {"--report", [](Options& o, const std::string& v) { o.report = v; }},
      {"--times", [](Options& o, const std::string& v) { o.times = v; }},  // one side of --against
      {"--against", [](Options& o, const std::string& v) { o.against = v; }},
  };
  return map;
}

const std::map<std::string, Setter>& options_without_value() {
  static const std::map<std::string, Setter> map = {
      {"--all", [](Options& o, const std::string&) { o.all = true; }},
      {"--quick", [](Options& o, const std::string&) { o.quick = true; }},
      {"--full", [](Options& o, const std::string&) { o.full = true; }},
      {"--no-accuracy", [](Options& o, const std::string&) { o.check = false; }},
      {"--operators", [](Options& o, const std::string&) { o.operators_table = true; }},
      {"--list", [](Options& o, const std::string&) { o.list = true; }},
      {"--limits", [](Options& o, const std::string&) { o.limits = true; }},
      {"--scaling", [](Options& o, const std::string& v) { o.scaling = true, o.simulated = thread_counts(v); }},
      {"--scatter", [](Options& o, const std::string&) { o.scatter = true; }},
      {"--layout", [](Options& o, const std::string&) { o.layout = true; }},
      {"--sweep", [](Options& o, const std::string&) { o.sweep = true; }},
      {"--overhead", [](Options& o, const std::string&) { o.overhead = true; }},
      {"--peers", [](Options& o, const std::string&) { o.peers = true; }},
      {"--help", [](Options& o, const std::string&) { o.help = true; }},
      {"-h", [](Options& o, const std::string&) { o.help = true; }},
  };
  return map;
}

/// Whether one of the studies or lists is asked for, which go over all cases.
bool asks_more(const Options& o) {
  return o.list || o.operators_table || !o.operators_page.empty() || o.limits || o.scaling || o.scatter || o.layout ||
         o.sweep || o.overhead || o.peers || !o.against.empty() || !o.times.empty() || !o.report.empty();
}

void finish(Options& o) {
  mluops::cases::demand_parts("--op", o.operators, mluops::cases::api_operators());
  o.brief = !o.all && !o.quick && o.operators.empty() && o.cases.empty() && !asks_more(o);
  if (o.dtypes.empty()) {
    o.dtypes = {MLUOP_DTYPE_FLOAT};
    if (!o.brief) o.dtypes.push_back(MLUOP_DTYPE_HALF);
  }
  if (o.min_seconds < 0) o.min_seconds = o.brief ? 0.04 : 0.1;
  if (o.repetitions == 0) o.repetitions = o.brief ? 2 : 3;
  if (o.brief && (o.threads.size() > 1 || o.dtypes.size() > 1)) {
    throw std::invalid_argument("several threads or dtypes: say of which operators, by --all, --op or --case");
  }
  if (o.threads.empty()) o.threads = {mluops::cases::available_cpus()};
  if (!o.html.empty() && o.threads.size() == 1 && o.threads[0] > 1) o.threads.insert(o.threads.begin(), 1);
  if (o.backends.empty()) throw std::invalid_argument("--backend names none");
  if (!o.quick) return;
  o.min_seconds = std::min(o.min_seconds, 0.02);
  o.repetitions = 1;
}

}  // namespace

std::int64_t Options::cache() const {
  constexpr std::int64_t kBriefCache = std::int64_t{32} << 20;
  const std::int64_t whole = last_level_cache();
  return brief ? std::min(whole, kBriefCache) : whole;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    const std::size_t equals = name.find('=');
    if (name.starts_with("--benchmark_")) {
      options.benchmark_flags.push_back(name);
      continue;
    }
    if (equals != std::string::npos) value = name.substr(equals + 1);
    name = name.substr(0, equals);
    if (const auto flag = options_without_value().find(name); flag != options_without_value().end()) {
      flag->second(options, value);
      continue;
    }
    const auto option = options_with_value().find(name);
    if (option == options_with_value().end()) throw std::invalid_argument("unknown option " + name + " (see --help)");
    if (equals == std::string::npos && ++i == argc) throw std::invalid_argument(name + " wants a value");
    option->second(options, equals == std::string::npos ? argv[i] : value);
  }
  finish(options);
  return options;
}

const char* help_text() {
  return R"(usage: ./run bench [options]
Runs the network-scale cases of every operator through the C API, measures this machine, verifies every result
against a float64 reference and prints one table. Exit status: 0 if all verdicts hold, 1 if not, 2 if the
command line is wrong.

  (nothing selected)  one network-scale case of every operator, float, a summary of each family before its rows: a minute
  --all               every case
  --op PART,..        operators whose name contains one of the parts: all their cases
  --case PART,..      cases whose name contains one of the parts, e.g. 'h=25 w=38'; or any whole case, as
                      MLUOP_VERBOSE=2 prints it: 'carafe_forward n=1 h=9 w=8 c=64 k=5 g=1 s=2 dtype=half'
  --backend NAME,..   default: cpu,mlu_emu
  --dtype float,half  default: both, float where nothing is selected
  --threads N,..      default: all CPUs of this process
  --quick             the two smallest cases of every operator, one short repetition each
  --full              emulated backends run the cases unreduced (takes long)
  --no-accuracy       times only
  --min-time S        seconds of calls per repetition (0.1; 0.04)   --repetitions N  (3; 2 where nothing is selected)
  --json FILE         the rows as JSON
  --html FILE         write a page: machine limits, every row, threads and, without --quick, growth
  --roofline FILE     plot all rows under the measured machine limits, .svg (.png too, after ./run deps plot)
  --list              names of the cases
  --operators         table of operators: backends, dtypes, layouts, Python functions, gradients
studies, instead of the table:
  --limits            what limits the rows below 80 % of the bound, as far as measurements show
  --scaling           1, 2, 4 .. threads, and the cases over 5 ms that gain less than 1.8 from the second
  --scaling=K,..      what K threads could gain, simulated on one; --memory GB/s (200): what memory moves at most
  --scatter           gradients that scatter: owner against atomic, from few shared rows to none
  --layout            calls with images in NHWC and in NCHW (EXTENDED contract)
  --sweep             how the cost grows with each dimension
  --overhead          what the smallest call of every operator costs
  --peers             times of PyTorch compositions, if torch can be imported
  --against REV       another git revision of the library, alternating with this one
  --report FILE       everything that docs/performance.md shows, as Markdown, with FILE's .svg beside it
)";
}

bool selected(const std::vector<std::string>& parts, const std::string& name) {
  const auto inside = [&](const std::string& part) { return name.find(part) != std::string::npos; };
  return parts.empty() || std::any_of(parts.begin(), parts.end(), inside);
}

}  // namespace bench
