// What fuzzing found worth keeping, in every build: test/fuzz/corpus holds the inputs that reach code no other input of
// it reaches, those of a target in one file, an input a line in hexadecimal (corpus.py). As they are, and changed at
// random: fuzzing without coverage to guide it (./run fuzz has that), ten times as many inputs a second. An input that
// finds something ends the program and is kept in a file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "test/cases/base/random.h"
#include "test/fuzz/targets/target.h"
#include "test/support/sanitized.h"

#if MLUOPS_TEST_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

namespace mluops::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct FuzzTarget {
  const char* name;
  void (*run)(const std::uint8_t* data, std::size_t size);
};

Bytes bytes_of(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<Bytes> corpus_of(const std::string& target) {
  std::ifstream file(std::string(CORPUS "/") + target + ".hex");
  std::vector<Bytes> inputs;
  for (std::string line; std::getline(file, line);) inputs.push_back(bytes_of(line));
  return inputs;
}

/// Writes the input that runs to a file when the process is about to die of it.
class Keeper {
 public:
  static void watch(const std::string& target) {
    file_name() = "finding_" + target;
#if MLUOPS_TEST_SANITIZED
    __sanitizer_set_death_callback(keep);
#endif
    for (const int signal : {SIGABRT, SIGALRM}) std::signal(signal, keep_and_die);
    if (!MLUOPS_TEST_SANITIZED) {
      for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, keep_and_die);
    }
  }
  static void runs(const Bytes& input) {
    running() = &input;
  }

 private:
  static std::string& file_name() {
    static std::string& name = *new std::string;
    return name;
  }
  static const Bytes*& running() {
    static const Bytes* input = nullptr;
    return input;
  }
  static void keep() {
    if (running() == nullptr) return;
    std::ofstream file(file_name(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(running()->data()), static_cast<std::streamsize>(running()->size()));
    std::fprintf(stderr, "the input is in %s\n", file_name().c_str());
  }
  static void keep_and_die(int signal) {
    std::signal(signal, SIG_DFL);
    keep();
    std::raise(signal);
  }
};

/// Inputs of the corpus with a few bytes changed, put in, taken out, or those of another input in their place.
class Mutations {
 public:
  Mutations(const std::vector<Bytes>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed) {}

  const Bytes& next() {
    input_ = any();
    for (std::int64_t i = random_.integer(1, 5); i > 0; --i) change();
    if (input_.size() > kMost) input_.resize(kMost);
    return input_;
  }

 private:
  static constexpr std::size_t kMost = 256;

  const Bytes& any() { return corpus_[random_.bits() % corpus_.size()]; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(random_.bits()); }
  std::ptrdiff_t place() { return static_cast<std::ptrdiff_t>(random_.bits() % (input_.size() + 1)); }

  void change() {
    const std::ptrdiff_t at = place();
    switch (random_.integer(0, 4)) {
      case 0:
        input_.insert(input_.begin() + at, byte());
        break;
      case 1:
        if (at < std::ssize(input_)) input_.erase(input_.begin() + at);
        break;
      case 2: {
        const Bytes& other = any();
        const std::size_t end = std::min(other.size(), input_.size());
        if (at < static_cast<std::ptrdiff_t>(end)) {
          std::copy(other.begin() + at, other.begin() + static_cast<std::ptrdiff_t>(end), input_.begin() + at);
        }
        break;
      }
      default:
        if (at < std::ssize(input_)) input_[static_cast<std::size_t>(at)] = byte();
    }
  }

  const std::vector<Bytes>& corpus_;
  cases::Random random_;
  Bytes input_;
};

double number_of_environment(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atof(text);
}

class CorpusTest : public ::testing::TestWithParam<FuzzTarget> {};

TEST_P(CorpusTest, IsHarmless) {
  const std::vector<Bytes> corpus = corpus_of(GetParam().name);
  for (const Bytes& input : corpus) GetParam().run(input.data(), input.size());
  EXPECT_FALSE(corpus.empty());
}

// MLUOP_TEST_FUZZ_SECONDS: how long; other inputs for another MLUOP_TEST_FUZZ_SEED.
TEST_P(CorpusTest, ChangedAtRandomIsHarmless) {
  constexpr double kUsualSeconds = 0.5;
  constexpr unsigned kInputsBetweenLooks = 16, kMostSecondsOfThem = 60;
  const std::vector<Bytes> corpus = corpus_of(GetParam().name);
  Mutations mutations(corpus, static_cast<std::uint64_t>(number_of_environment("MLUOP_TEST_FUZZ_SEED", 1)));
  Keeper::watch(GetParam().name);
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> most(number_of_environment("MLUOP_TEST_FUZZ_SECONDS", kUsualSeconds));
  long long inputs = 0;
  for (const auto begin = Clock::now(); Clock::now() - begin < most;) {
    alarm(kMostSecondsOfThem);
    for (unsigned i = 0; i < kInputsBetweenLooks; ++i, ++inputs) {
      const Bytes& input = mutations.next();
      Keeper::runs(input);
      GetParam().run(input.data(), input.size());
    }
  }
  alarm(0);
  std::printf("verdict: %lld inputs of %s were harmless\n", inputs, GetParam().name);
  EXPECT_GT(inputs, 0);
}

INSTANTIATE_TEST_SUITE_P(All, CorpusTest,
                         ::testing::Values(FuzzTarget{"api", fuzz_api}, FuzzTarget{"operators", fuzz_operators},
                                           FuzzTarget{"calls", fuzz_calls},
                                           FuzzTarget{"differential", fuzz_differential}, FuzzTarget{"cncc", fuzz_cncc},
                                           FuzzTarget{"mlisa", fuzz_mlisa}, FuzzTarget{"replay", fuzz_replay}),
                         [](const ::testing::TestParamInfo<FuzzTarget>& target) { return target.param.name; });

}  // namespace
}  // namespace mluops::test
