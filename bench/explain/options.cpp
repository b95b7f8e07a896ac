#include "bench/explain/options.h"

#include <cstdlib>
#include <stdexcept>

namespace explain {
namespace {

std::pair<std::string, double> parse_parameter(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string text = equals == std::string::npos ? "" : word.substr(equals + 1);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw std::invalid_argument("wanted name=number, got \"" + word + "\"");
  return {word.substr(0, equals), value};
}

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
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      line.help = true;
    } else if (word.rfind("--", 0) == 0) {
      if (i + 1 == argc) throw std::invalid_argument(word + " needs a value");
      if (!take_option(line, word, argv[++i])) throw std::invalid_argument("unknown option " + word);
    } else if (line.op.empty()) {
      line.op = word;
    } else {
      line.parameters.push_back(parse_parameter(word));
    }
  }
  if (line.op.empty() && line.docs.empty()) line.help = true;
  return line;
}

std::string help_text() {
  std::string text =
      "usage: ./run explain OPERATOR [name=number ...] [options]\n"
      "Runs an operator on the emulated MLU and shows how it is laid out and what it did.\n"
      "  --arch NAME      mtp_220 mtp_270 mtp_290 mtp_372 mtp_592\n"
      "  --nram BYTES     usable NRAM of a core\n"
      "  --clusters N, --cores N (of a cluster), --rates name=number,... , --order, --check\n"
      "  --dtype TYPE     float (default) or half\n"
      "  --svg FILE       draw the NRAM map and the timeline\n"
      "  --trace FILE     write a Chrome trace; open it in Perfetto\n"
      "  --json FILE      write the report\n"
      "  --docs FOLDER    write <op>_explain.md with pictures for every operator at its defaults\n"
      "Operators and their parameters:\n";
  for (const std::string& op : operator_names()) {
    text += "  " + op;
    for (const auto& [name, value] : default_parameters(op)) {
      std::string digits = std::to_string(value);
      digits.erase(digits.find_last_not_of('0') + 1);
      if (digits.back() == '.') digits.pop_back();
      text += " " + name + "=" + digits;
    }
    text += "\n";
  }
  return text;
}

}  // namespace explain
