#include "bench/explain/options.h"

#include <stdexcept>

namespace explain {
namespace {

mluOpDataType_t parse_dtype(const std::string& name) {
  if (name == "float") return MLUOP_DTYPE_FLOAT;
  if (name == "half") return MLUOP_DTYPE_HALF;
  throw std::invalid_argument("--dtype: wanted float or half, got \"" + name + "\"");
}

/// Takes --name VALUE; false when it is no option of that kind.
bool take_option(CommandLine& line, const std::string& name, const std::string& value) {
  if (name == "--arch" || name == "--clusters" || name == "--rates" || name == "--order" || name == "--check") {
    line.options.emplace_back(name.substr(2), value);
  } else if (name == "--nram") {
    line.options.emplace_back("nram_bytes", value);
  } else if (name == "--cores") {
    line.options.emplace_back("cores_per_cluster", value);
  } else if (name == "--dtype") {
    line.dtype = parse_dtype(value);
  } else if (name == "--svg") {
    line.svg = value;
  } else if (name == "--html") {
    line.html = value;
  } else if (name == "--trace") {
    line.trace = value;
  } else if (name == "--json") {
    line.json = value;
  } else if (name == "--docs") {
    line.docs = value;
  } else {
    return false;
  }
  return true;
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  std::string text;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      line.help = true;
    } else if (word.rfind("--", 0) == 0) {
      if (i + 1 == argc) throw std::invalid_argument(word + " needs a value");
      if (!take_option(line, word, argv[++i])) throw std::invalid_argument("unknown option " + word);
    } else {
      text += word + " ";
    }
  }
  if (!text.empty()) line.text = cases::Case::parse(text);
  if (text.empty() && line.docs.empty()) line.help = true;
  return line;
}

std::string help_text() {
  std::string text =
      "usage: ./run explain OPERATOR [name=value ...] [options]\n"
      "Runs an operator on the emulated MLU and shows how it was partitioned and what each engine did.\n"
      "  --arch NAME      mtp_220 mtp_270 mtp_290 mtp_372 mtp_592\n"
      "  --nram BYTES     usable NRAM of a core\n"
      "  --clusters N, --cores N (of a cluster), --rates name=number,... , --order, --check\n"
      "  --dtype TYPE     float (default) or half\n"
      "  --html FILE      write a page: NRAM map, bytes moved, cores, a zoomable timeline\n"
      "  --svg FILE       draw the NRAM map and the timeline\n"
      "  --trace FILE     write a Chrome trace; open it in Perfetto\n"
      "  --json FILE      write the report\n"
      "  --docs FOLDER    write one page per family with pictures, every operator at its defaults\n"
      "Operators and their parameters:\n";
  for (const cases::OperatorCases& op : cases::all_operators()) {
    text += std::string("  ") + op.op + "\n";
    for (const cases::Parameter& p : op.parameters) {
      text += std::string("    ") + p.name + "=" + p.value + ": " + p.meaning + "\n";
    }
  }
  return text;
}

}  // namespace explain
