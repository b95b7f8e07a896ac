// Words that multiply by weights in WRAM.
#include "backends/mlu_emu/bang/words/tensor_unit.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "backends/mlu_emu/bang/matrix.h"
#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/rounding.h"

namespace mluops::emu::bang {
namespace tensor_unit {
namespace {

/// Calls visit(T()) with the type's T.
template <class Visit>
void with_type(Type type, Visit visit) {
  switch (type) {
    case Type::kHalf:
      return visit(half());
    case Type::kBfloat16:
      return visit(bfloat16_t());
    case Type::kFloat:
      return visit(float());
    case Type::kInt8:
      return visit(std::int8_t());
    case Type::kInt16:
      return visit(std::int16_t());
    case Type::kInt32:
      return visit(std::int32_t());
  }
}

std::int64_t size_of(Type type) {
  std::int64_t size = 0;
  with_type(type, [&](auto t) { size = sizeof(t); });
  return size;
}

bool is_float(Type type) {
  return type == Type::kHalf || type == Type::kBfloat16 || type == Type::kFloat;
}

/// n numbers as they are summed.
template <class E>
void read(Type type, const void* from, std::int64_t n, E* to) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    const T* lanes = static_cast<const T*>(from);
    if constexpr (std::is_same_v<T, half> && std::is_same_v<E, float>) {
      widen(lanes, to, n);
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<E>(static_cast<Wide<T>>(lanes[i]));
    }
  });
}

// ---- where weights lie ---------------------------------------------------------------------------------------------

constexpr std::int64_t kChannels = 64, kLine = 64;

/// Rows of weights in WRAM, one for each output channel.
class Rows {
 public:
  Rows(const void* begin, std::int64_t row_bytes)
      : begin_(static_cast<const char*>(begin)),
        row_bytes_(row_bytes),
        pitch_((row_bytes + kLine - 1) / kLine * kLine) {
    Core& core = Core::current();
    wram_ = core.memory(Space::kWram).bytes();
    lanes_ = core.filled_in_64ths(begin) ? kChannels : core.launch().settings.arch.wram_lanes();
  }
  /// From the first row of a lane to the end of its last one.
  std::int64_t bytes_of_lane(std::int64_t channels) const {
    const std::int64_t rows = channels == 1 ? 1 : (channels + kChannels - 1) / kChannels * (kChannels / lanes_);
    return (rows - 1) * pitch_ + row_bytes_;
  }
  const char* row(std::int64_t channel) const {
    const std::int64_t in_lane = kChannels / lanes_, of_64 = channel % kChannels;
    const std::int64_t slot = channel / kChannels * in_lane + of_64 % in_lane;
    return begin_ + of_64 / in_lane * (wram_ / lanes_) + slot * pitch_;
  }
  /// A lane has several of each 64 channels: there must be 64, or a plain copy would not have brought them there.
  bool allows(std::int64_t channels) const { return lanes_ == kChannels || channels == 1 || channels % kChannels == 0; }

 private:
  const char* begin_;
  std::int64_t row_bytes_, pitch_, wram_, lanes_;
};

/// The place of row `channel` of n before a plain copy brings the rows to WRAM's lanes.
std::int64_t place(std::int64_t channel, std::int64_t n, std::int64_t lanes) {
  const std::int64_t in_lane = kChannels / lanes, of_64 = channel % kChannels;
  return of_64 / in_lane * (n / lanes) + channel / kChannels * in_lane + of_64 % in_lane;
}

/// Parts of what a plain copy of `bytes` brought to WRAM, from `begin` on; visit(part, bytes) for each lane.
template <class Visit>
void for_parts(const void* begin, std::int64_t bytes, Visit visit) {
  Core& core = Core::current();
  const std::int64_t lanes = core.launch().settings.arch.wram_lanes();
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    visit(static_cast<const char*>(begin) + lane * (core.memory(Space::kWram).bytes() / lanes), bytes / lanes);
  }
}

// ---- one use -------------------------------------------------------------------------------------------------------

template <class E>  // float, or double for integers, whose sums it holds exactly
class Use {
 public:
  Use(const Convolution& c, Word& word)
      : c_(c),
        word_(word),
        terms_(c.kernel_height * c.kernel_width * c.channel_input),
        out_height_((c.height - (c.kernel_height - 1) * c.dilation_y - 1) / c.stride_y + 1),
        out_width_((c.width - (c.kernel_width - 1) * c.dilation_x - 1) / c.stride_x + 1),
        panels_(c.channel_output, terms_) {}

  void run() {
    word_.count(pixels() * c_.channel_output);
    load_source();
    c_.by_input ? load_by_input() : load_rows();
    multiply();
    add(c_.bias, c_.channel_output, "bias");
    add(c_.partial, pixels() * c_.channel_output, "partial result");
    with_type(c_.dst_type, [&](auto t) { store(static_cast<decltype(t)*>(c_.dst)); });
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::int64_t pixels() const { return out_height_ * out_width_; }

  void load_source() {
    const std::int64_t n = c_.height * c_.width * c_.channel_input;
    source_flags_ = Core::current().source(c_.word, "source", c_.src.address, size_of(c_.src.type), n);
    source_.resize(at(n));
    read(c_.src.type, c_.src.address, n, source_.data());
    narrow_to_tf32(source_);
  }

  void narrow_to_tf32(std::vector<E>& numbers) const {
    if (!c_.tf32) return;
    for (E& x : numbers) x = static_cast<E>(to_format<Rounding::kZero>(static_cast<double>(x), kTf32Format));
  }

  void load_rows() {
    const std::int64_t row_bytes = terms_ * size_of(c_.weights.type);
    const Rows rows(c_.weights.address, row_bytes);
    word_.require(rows.allows(c_.channel_output),
                  "the output channels must be a multiple of 64, or the weights copied a 64th of WRAM apart");
    Core::current().weights(c_.word, c_.weights.address, rows.bytes_of_lane(c_.channel_output));
    std::vector<E> row(at(terms_));
    weight_flags_.resize(at(c_.channel_output));
    for (std::int64_t o = 0; o < c_.channel_output; ++o) {
      weight_flags_[at(o)] = Core::current().weights(c_.word, rows.row(o), row_bytes) ? kDefinedLane : kUndefinedLane;
      read(c_.weights.type, rows.row(o), terms_, row.data());
      narrow_to_tf32(row);
      for (std::int64_t k = 0; k < terms_; ++k) panels_.at(o, k) = row[at(k)];
    }
  }

  void load_by_input() {
    const std::int64_t n = terms_ * c_.channel_output, size = size_of(c_.weights.type);
    word_.require(n * size % (kChannels * size) == 0, "there must be a multiple of 64 weights");
    std::vector<E> all(at(n));
    std::int64_t done = 0;
    bool defined = true;
    for_parts(c_.weights.address, n * size, [&](const char* part, std::int64_t bytes) {
      defined = Core::current().weights(c_.word, part, bytes) && defined;
      read(c_.weights.type, part, bytes / size, all.data() + done);
      done += bytes / size;
    });
    weight_flags_.assign(at(c_.channel_output), defined ? kDefinedLane : kUndefinedLane);
    for (std::int64_t i = 0; i < n; ++i) panels_.at(i % c_.channel_output, i / c_.channel_output) = all[at(i)];
  }

  /// The terms of output pixel `pixel`, next to each other; of values or of flags.
  template <class T>
  void window(const T* source, std::int64_t pixel, T* row) const {
    const std::int64_t y = pixel / out_width_ * c_.stride_y, x = pixel % out_width_ * c_.stride_x;
    for (std::int64_t k = 0; k < c_.kernel_height * c_.kernel_width; ++k) {
      const std::int64_t line = y + k / c_.kernel_width * c_.dilation_y;
      const T* from = source + (line * c_.width + x + k % c_.kernel_width * c_.dilation_x) * c_.channel_input;
      std::copy_n(from, c_.channel_input, row + k * c_.channel_input);
    }
  }

  void multiply() {
    constexpr std::int64_t kRows = 4;
    sums_.resize(at(pixels() * c_.channel_output));
    std::vector<E> rows(at(kRows * terms_)), out(at(kRows * c_.channel_output));
    const E scale = static_cast<E>(std::ldexp(1.0, c_.position));
    for (std::int64_t first = 0; first < pixels(); first += kRows) {
      const std::int64_t count = std::min(kRows, pixels() - first);
      for (std::int64_t i = 0; i < count; ++i) window(source_.data(), first + i, rows.data() + i * terms_);
      panels_.multiply_four(rows.data(), out.data());
      std::transform(out.begin(), out.begin() + count * c_.channel_output, sums_.begin() + first * c_.channel_output,
                     [=](E sum) { return sum * scale; });
    }
    mark_undefined();
  }

  /// A result is undefined where a number of its window is, or a weight of its channel.
  void mark_undefined() {
    const bool weights = std::any_of(weight_flags_.begin(), weight_flags_.end(), [](auto f) { return f != 0; });
    if (source_flags_.empty() && !weights) return;
    flags_.resize(sums_.size());
    LaneFlags row(at(terms_));
    for (std::int64_t pixel = 0; pixel < pixels(); ++pixel) {
      bool missing = false;
      if (!source_flags_.empty()) {
        window(source_flags_.data(), pixel, row.data());
        missing = std::any_of(row.begin(), row.end(), [](auto f) { return f != 0; });
      }
      for (std::int64_t o = 0; o < c_.channel_output; ++o) {
        flags_[at(pixel * c_.channel_output + o)] =
            missing || weight_flags_[at(o)] != 0 ? kUndefinedLane : kDefinedLane;
      }
    }
  }

  /// What is added, of which the sums take lane i mod n.
  void add(const Vector& addend, std::int64_t n, const char* role) {
    if (addend.address == nullptr) return;
    const LaneFlags undefined = Core::current().source(c_.word, role, addend.address, size_of(addend.type), n);
    std::vector<E> lanes(at(n));
    read(addend.type, addend.address, n, lanes.data());
    if (!undefined.empty()) flags_.resize(sums_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] += lanes[i % at(n)];
      if (!undefined.empty()) flags_[i] |= undefined[i % at(n)];
    }
  }

  template <class T>
  void store(T* dst) {
    const auto n = static_cast<std::int64_t>(sums_.size());
    word_.undefined(std::move(flags_));
    Core& core = Core::current();
    core.destination(c_.word, "destination", dst, bytes_of_lanes<T>(n));
    word_.target(dst);
    word_.saturate_at_end(dst, n);
    core.multiplied(c_.word, bytes_of_lanes<T>(n), n,
                    static_cast<double>(pixels() * whole_channels() * terms_) * cost());
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) {
        dst[i] = to_integer<Rounding::kAwayFromTies, T>(static_cast<double>(sums_[at(i)]));
      } else {
        dst[i] = T(sums_[at(i)]);
      }
    }
  }

  /// The unit works on 64 output channels at a time.
  std::int64_t whole_channels() const { return (c_.channel_output + kChannels - 1) / kChannels * kChannels; }
  /// Multiply-adds of half that take as long as one of these.
  double cost() const {
    constexpr double kFloat = 4, kInt8 = 0.5, kHalf = 1;
    const bool either_float = c_.src.type == Type::kFloat || c_.weights.type == Type::kFloat;
    const bool both_int8 = c_.src.type == Type::kInt8 && c_.weights.type == Type::kInt8;
    return either_float ? kFloat : both_int8 ? kInt8 : kHalf;
  }

  const Convolution& c_;
  Word& word_;
  std::int64_t terms_, out_height_, out_width_;
  std::vector<E> source_, sums_;
  Panels<E> panels_;
  LaneFlags source_flags_, weight_flags_, flags_;
};

void check(const Convolution& c, const Word& word) {
  constexpr std::int64_t kLargest = 1 << 20;
  for (const std::int64_t size : {c.channel_input, c.height, c.width, c.kernel_height, c.kernel_width, c.stride_x,
                                  c.stride_y, c.channel_output, c.dilation_x, c.dilation_y}) {
    if (size <= 0 || size > kLargest) word.fault("sizes, strides and dilations must lie in [1, 2^20]");
  }
  if ((c.kernel_height - 1) * c.dilation_y >= c.height || (c.kernel_width - 1) * c.dilation_x >= c.width) {
    word.fault("the window must fit the map");
  }
  word.count(c.height * c.width);
  word.count(c.height * c.width * c.channel_input);
  word.count(c.kernel_height * c.kernel_width);
  word.count(c.kernel_height * c.kernel_width * c.channel_input);
  constexpr int kMost = 126;
  word.require(c.position >= -kMost && c.position <= kMost, "the fix-point position must lie in [-126, 126]");
}

}  // namespace

void run(const Convolution& c) {
  if (Core::current().task().memory_core) return;  // it has no tensor unit
  Word word(c.word);
  check(c, word);
  const bool floats = is_float(c.src.type) && is_float(c.weights.type);
  const auto integer = [](Type t) { return t == Type::kInt8 || t == Type::kInt16; };
  if (!floats && !(integer(c.src.type) && integer(c.weights.type))) {
    word.fault("source and weights must both be half, bfloat16 or float, or both int8 or int16");
  }
  floats ? Use<float>(c, word).run() : Use<double>(c, word).run();
}

void add_tail(Convolution& c, std::initializer_list<std::int64_t> tail) {
  // With 1, 3 or 5 numbers the first one is the position; with 2 or 4 there is no position.
  constexpr std::size_t kMost = 5;
  const Word word(c.word);
  word.require(tail.size() <= kMost, "at most a position and four dilations stand behind the output channels");
  const std::int64_t* next = tail.begin();
  if (tail.size() % 2 == 1) c.position = static_cast<int>(*next++);
  if (tail.end() - next < 2) return;
  c.dilation_x = *next++;
  c.dilation_y = *next++;
  for (; next != tail.end(); ++next) word.require(*next == 1, "dilations of the output are modelled as 1 only");
}

}  // namespace tensor_unit

template <class T>
void __bang_reshape_filter(T* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  Word word(__func__);
  word.require(n > 0 && n % tensor_unit::kChannels == 0, "the number of filters must be a multiple of 64");
  const std::int64_t row = h * w * c, lanes = word.arch().wram_lanes();
  word.count(n);
  word.count(row);
  word.count(n * row);
  word.require(dst + n * row <= src || src + n * row <= dst, "it cannot work in place");
  const LaneFlags undefined = word.lanes_of(src, n * row);
  LaneFlags moved(undefined.size());
  const auto move = [&](const auto& from, auto to) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(from + i * row, row, to + tensor_unit::place(i, n, lanes) * row);
    }
  };
  if (!undefined.empty()) move(undefined.begin(), moved.begin());
  word.undefined(std::move(moved));
  word.destination(dst, n * row);
  move(src, dst);
}
#define RESHAPE(T) \
  template void __bang_reshape_filter(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t)
RESHAPE(char);
RESHAPE(half);
RESHAPE(bfloat16_t);
RESHAPE(float);
RESHAPE(std::int8_t);
RESHAPE(std::uint8_t);
RESHAPE(std::int16_t);
RESHAPE(std::uint16_t);
RESHAPE(std::int32_t);
RESHAPE(std::uint32_t);

namespace {

/// The weights of c channels with one input each, of a plain copy or of rows a 64th of WRAM apart; whether all are
/// defined.
bool read_channels(const char* name, const float* weights, std::int64_t c, std::vector<float>& channel) {
  Core& core = Core::current();
  bool defined = true;
  const auto take = [&](const char* part, std::int64_t count) {
    defined = core.weights(name, part, bytes_of_lanes<float>(count)) && defined;
    const auto* lanes = reinterpret_cast<const float*>(part);
    channel.insert(channel.end(), lanes, lanes + count);
  };
  if (core.filled_in_64ths(weights)) {
    const tensor_unit::Rows rows(weights, bytes_of_lanes<float>(1));
    for (std::int64_t o = 0; o < c; ++o) take(rows.row(o), 1);
    return defined;
  }
  const std::int64_t padded = (c + tensor_unit::kChannels - 1) / tensor_unit::kChannels * tensor_unit::kChannels;
  tensor_unit::for_parts(weights, bytes_of_lanes<float>(padded), [&](const char* part, std::int64_t bytes) {
    const std::int64_t left = c - static_cast<std::int64_t>(channel.size());
    take(part, std::min(left, bytes / static_cast<std::int64_t>(sizeof(float))));
  });
  return defined;
}

void expand(const char* name, float* dst, const float* src, const float* weights, const float* factor,
            const float* addend, std::int64_t n, std::int64_t c) {
  if (Core::current().task().memory_core) return;
  Word word(name);
  word.count(n);
  word.count(c);
  word.count(n * c);
  std::vector<float> channel;
  const bool defined = read_channels(name, weights, c, channel);
  word.source(factor, n * c, "factor");
  if (addend != nullptr) word.source(addend, n * c, "addend");
  const LaneFlags missing = word.lanes_of(src, n);
  word.require(missing.empty() && defined, "the first source and the weights must be defined");
  word.destination(dst, n * c);
  for (std::int64_t i = 0; i < n * c; ++i) {
    const float product = src[i / c] * channel[static_cast<std::size_t>(i % c)] * factor[i];
    dst[i] = addend == nullptr ? product : product + addend[i];
  }
}

}  // namespace

void __bang_expand_channel_mul(float* dst, const float* src, const float* weights, const float* factor, std::int64_t n,
                               std::int64_t c) {
  expand(__func__, dst, src, weights, factor, nullptr, n, c);
}
void __bang_expand_channel_mul_add(float* dst, const float* src, const float* weights, const float* factor,
                                   const float* addend, std::int64_t n, std::int64_t c) {
  expand(__func__, dst, src, weights, factor, addend, n, c);
}

}  // namespace mluops::emu::bang
