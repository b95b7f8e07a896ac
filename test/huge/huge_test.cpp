// Tensors of more than 2^31 elements: a batch of equal images, each of whose results is that of a call with one image,
// bit for bit, at the near and at the far end; and the time per element, beside that of a quarter of the batch.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "test/cases/base/element.h"
#include "test/cases/operator.h"
#include "test/support/handle.h"
#include "test/support/tensor.h"

namespace mluops::test {
namespace {

using namespace cases;

constexpr std::int64_t kMuch = std::int64_t{1} << 31;
constexpr std::int64_t kBytesWanted = std::int64_t{12} << 30;

/// One image; the tensor with the most elements gets more than 2^31 of them from the batch.
const char* const kImages[] = {
    "carafe_forward n=1 h=64 w=64 c=256 k=3 g=1 s=2",
    "carafe_backward n=1 h=64 w=64 c=256 k=3 g=1 s=2",
    "psamask_forward n=1 h=60 w=60 hm=60 wm=60 type=0",
    "psamask_forward n=1 h=60 w=60 hm=60 wm=60 type=1",
    "psamask_backward n=1 h=60 w=60 hm=60 wm=60 type=0",
    "psamask_backward n=1 h=60 w=60 hm=60 wm=60 type=1",
    "three_interpolate_forward b=1 c=1024 m=128 n=4096",
    "three_interpolate_backward b=1 c=1024 m=128 n=4096",
    "deform_roi_pool_forward b=1 h=128 w=128 c=256 r=8",
    "deform_roi_pool_backward b=1 h=128 w=128 c=256 r=8",
    "border_align_forward n=1 h=100 w=152 c=64 k=200 p=10",
    "border_align_backward n=1 h=100 w=152 c=64 k=200 p=10 argmax=uniform",
};

/// Fresh pages, given back at the end.
class Pages {
 public:
  explicit Pages(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    if (std::getenv("MLUOP_TEST_HUGE_PAGES") != nullptr) madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(data_, bytes_); }
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A tensor of the call: that of one image, `images` times one behind the other.
class Batch {
 public:
  Batch(const TensorSpec& one, std::int64_t images)
      : spec_(one), images_(images), pages_(one.bytes() * images), desc_(one.layout, one.dtype, dims()) {
    if (one.is_output()) return;
    write(one.fill, one.dtype, one.elements(), image(0));
    for (std::int64_t i = 1; i < images; ++i) std::memcpy(image(i), image(0), static_cast<std::size_t>(one.bytes()));
    if (one.name == "rois") number_images();
  }

  Argument argument() const { return {desc_.get(), pages_.data()}; }
  std::int64_t elements() const { return spec_.elements() * images_; }
  bool is_output() const { return spec_.is_output(); }
  /// The first image whose bytes are not those of `one`; -1 when there is none.
  std::int64_t first_other(const Batch& one) const {
    for (std::int64_t i = 0; i < images_; ++i) {
      if (std::memcmp(image(i), one.image(0), static_cast<std::size_t>(spec_.bytes())) != 0) return i;
    }
    return -1;
  }

 private:
  std::vector<std::int64_t> dims() const {
    std::vector<std::int64_t> all = spec_.dims;
    all[0] *= images_;
    return all;
  }
  unsigned char* image(std::int64_t i) const { return pages_.data() + i * spec_.bytes(); }
  /// A RoI says first which image it is of.
  void number_images() {
    const std::int64_t row = spec_.bytes() / spec_.dims[0];
    for (std::int64_t r = 0; r < spec_.dims[0] * images_; ++r) {
      const auto number = static_cast<double>(r / spec_.dims[0]);
      write([=](std::int64_t) { return number; }, spec_.dtype, 1, pages_.data() + r * row);
    }
  }

  TensorSpec spec_;
  std::int64_t images_;
  Pages pages_;
  Descriptor desc_;
};

/// Nanoseconds: of the clock, and of all threads' work in the process and in the kernel.
struct Cost {
  double wall, user, system;
};

Cost cost_so_far() {
  const auto ns = [](const timeval& t) {
    return 1e9 * static_cast<double>(t.tv_sec) + 1e3 * static_cast<double>(t.tv_usec);
  };
  const std::chrono::duration<double, std::nano> now = std::chrono::steady_clock::now().time_since_epoch();
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return {now.count(), ns(used.ru_utime), ns(used.ru_stime)};
}

void print(const char* what, const Cost& c) {
  std::printf("    %-17s %6.3f ns, threads %6.3f, kernel %6.3f\n", what, c.wall, c.user, c.system);
}

/// The description's call on so many images.
class HugeCall {
 public:
  HugeCall(const Description& one, std::int64_t images) : one_(one) {
    for (const TensorSpec& t : one.tensors) batches_.push_back(std::make_unique<Batch>(t, images));
    for (const auto& batch : batches_) arguments_.push_back(batch->argument());
  }
  Cost run(mluOpHandle_t handle) {
    const Cost begin = cost_so_far();
    EXPECT_EQ(one_.call(handle, arguments_), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    const Cost end = cost_so_far();
    const auto elements = static_cast<double>(most_elements());
    return {(end.wall - begin.wall) / elements, (end.user - begin.user) / elements,
            (end.system - begin.system) / elements};
  }
  std::int64_t most_elements() const {
    std::int64_t most = 0;
    for (const auto& batch : batches_) most = std::max(most, batch->elements());
    return most;
  }
  void expect_images_of(const HugeCall& one) const {
    for (std::size_t t = 0; t < batches_.size(); ++t) {
      if (!batches_[t]->is_output()) continue;
      EXPECT_EQ(batches_[t]->first_other(*one.batches_[t]), -1) << one_.tensors[t].name;
    }
  }

 private:
  const Description& one_;
  std::vector<std::unique_ptr<Batch>> batches_;
  Arguments arguments_;
};

std::int64_t bytes_available() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::int64_t kib = 0;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kib) break;
  }
  return kib * 1024;
}

class Huge : public ::testing::TestWithParam<const char*> {};

TEST_P(Huge, FarEndsAndTimes) {
  if (bytes_available() < kBytesWanted) GTEST_SKIP() << "wanted 12 GB of free memory";
  const Description one = describe(Case::parse(GetParam()), MLUOP_DTYPE_HALF);
  Handle handle("cpu", 0);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  HugeCall small(one, 1);
  small.run(handle.get());
  std::printf("%s\n", GetParam());
  const std::int64_t images = kMuch / small.most_elements() + 5;
  for (const std::int64_t count : {images / 4, images}) {
    HugeCall call(one, count);
    std::printf("  %lld elements, each\n", static_cast<long long>(call.most_elements()));
    print("into fresh pages", call.run(handle.get()));
    for (int i = 0; i < 3; ++i) print("again", call.run(handle.get()));
    call.expect_images_of(small);
    std::fflush(stdout);
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Huge, ::testing::ValuesIn(kImages), [](const auto& image) {
  const std::string text = image.param;
  return text.substr(0, text.find(' ')) + (text.find("type=1") != std::string::npos ? "_distribute" : "");
});

}  // namespace
}  // namespace mluops::test
