// What a cncc command line asks for.
#pragma once

#include <string>
#include <vector>

namespace cncc {

enum class Stage { kDependencies, kPreprocess, kSyntax, kAssemble, kCompile, kLink };

struct Options {
  Stage stage = Stage::kLink;
  std::string output;
  std::vector<std::string> inputs;
  bool force_bang = false;              // -x bang: every input is BANG C whatever its suffix
  bool precompile = false;              // -x bang-header: the input is to be a prefix header's .gch
  std::string prefix_header;            // comes in the place of bang.h, which it includes; may have a .gch beside it
  int arch = 372;                       // of the card that programs built here run on by default
  std::vector<std::string> common;      // for every stage: -O, -f, -m, -g, -std, -pthread
  std::vector<std::string> preprocess;  // -D, -U, -I, -include, -M...
  std::vector<std::string> link;        // -L, -l, -Wl, -shared
  std::string prefix;                   // of the toolchain; from the executable or --neuware-path
  bool verbose = false;
};

/// The command line with what its response files (@file) say in their place, in the host compiler's form: whitespace
/// separates, quotes and backslashes protect. std::runtime_error: they contain each other.
std::vector<std::string> with_response_files(const std::vector<std::string>& arguments);

/// Fills `options`; returns what is wrong with the command line, "" if nothing.
std::string parse(const std::vector<std::string>& arguments, Options& options);

bool is_bang(const Options& options, const std::string& input);
/// A file the compiler reads, rather than an object or a library.
bool is_source(const std::string& input);

}  // namespace cncc
