// Each defect of defects.mlu is told, with its line and the objects it is about; what is right beside it stays silent.
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

struct Told {
  bool fault;
  std::vector<std::string> parts;
};

const std::map<std::string, Told>& told() {
  static const std::map<std::string, Told> table = {
      {"fill_beyond", {true, {"__bang_write_value at ", "destination x+0", "outside of x, which has 256 bytes"}}},
      {"begins_before", {true, {"__bang_add at ", "first source NRAM offset", "in no object"}}},
      {"middle_to_beyond", {true, {"__bang_mul_scalar at ", "x+128", "outside of x"}}},
      {"own_object", {true, {"mine+0", "outside of mine, which has 128 bytes"}}},
      {"row_reads_on", {false, {"__bang_add at ", "x+16", "256 bytes: the last 16 lie outside of x, which has 256"}}},
      {"row_reads_on_and_is_stored",
       {true, {"__memcpy at ", "never written, or computed from what never was", "y+240"}}},
      {"load_beyond", {true, {"__memcpy at ", "destination x+0", "320 bytes", "outside of x"}}},
      {"store_beyond", {true, {"__memcpy at ", "source x+0", "outside of x"}}},
      {"last_piece_beyond", {true, {"__memcpy at ", "destination", "in no object"}}},
      {"sram_beyond", {true, {"source shared_x+128", "SRAM offset", "outside of shared_x"}}},
      {"sram_stored_beyond", {true, {"__memcpy at ", "destination shared_x+128", "outside of shared_x"}}},
      {"sram_index_beyond", {true, {"scalar code at ", "shared_y[67] is outside of the 64 elements"}}},
      {"wram_filled_beyond",
       {true, {"__memcpy at ", "destination few_weights+0", "256 bytes: outside of few_weights, which has 128 bytes"}}},
      {"weights_beyond", {true, {"__bang_conv at ", "weights weights+0", "512 bytes: outside of weights"}}},
      {"index_stores_beyond", {true, {"scalar code at ", "x[64] is outside of the 64 elements"}}},
      {"index_loads_beyond", {true, {"scalar code at ", "x[104] is outside of the 64 elements"}}},
      {"index_below", {true, {"scalar code at ", "y[-1] is outside of the 64 elements"}}},
      {"inner_index_beyond", {true, {"scalar code at ", "grid[64] is outside of the 64 elements"}}},
      {"pointer_stores_beyond", {true, {"scalar code: wrote behind the end of x+256"}}},
      {"block_beyond", {true, {"destination g+3968 (GDRAM, block ", "outside of the tensor's 4096 bytes"}}},
      {"load_reads_on",
       {false, {"__memcpy at ", "source g+3968 (GDRAM, block ", "256 bytes: the last 128 lie outside of the tensor"}}},
      {"load_reads_on_and_is_stored", {true, {"__memcpy at ", "never written", "x+128"}}},
      {"rows_read_on", {false, {"__memcpy at ", "128 bytes: the last 32 lie outside of the tensor"}}},
      {"scalar_loads_beyond",
       {true, {"scalar code at ", "g[1024], from g+0 (GDRAM, block ", "outside of the tensor's 4096 bytes"}}},
      {"scalar_stores_beyond",
       {true, {"scalar code at ", "end[0], from g+4096 (GDRAM, block ", "outside of the tensor's 4096"}}},
      {"scalar_stores_below",
       {true, {"scalar code at ", "g[-1], from g+0 (GDRAM, block ", "outside of the tensor's 4096"}}},
      {"pointer_runs_beyond",
       {true, {"scalar code at ", "*, from g+4096 (GDRAM, block ", "outside of the tensor's 4096"}}},
      {"result_stored_too_early",
       {true, {"__memcpy_async at ", "source x+0", "the result of __bang_write_value at ", "no __sync_compute()"}}},
      {"wrong_barrier_before_store", {true, {"__memcpy_async at ", "the result of __bang_write_value at "}}},
      {"load_over_operand", {false, {"unordered by the guide", "destination x+0", "an operand of __bang_add at "}}},
      {"load_over_ping_pong", {false, {"destination grid+0", "an operand of __bang_mul_scalar at "}}},
      {"moved_too_early", {false, {"__memcpy_async at ", "unordered by the guide", "__bang_write_value at "}}},
      {"load_over_what_scalars_read",
       {false, {"__memcpy_async at ", "destination y+", "4 bytes: loaded by scalar code at ", "no __sync()"}}},
      {"moved_before_scalars_stored",
       {false, {"__memcpy_async at ", "source x+0", "256 bytes: stored by scalar code at ", "no __sync()"}}},
      {"load_over_scalars_of_the_last_round",
       {false, {"__memcpy_async at ", "destination grid+0", "4 bytes: stored by scalar code at ", "no __sync()"}}},
      {"used_before_it_came", {true, {"__bang_add at ", "x+0", "no barrier between this and __memcpy_async at "}}},
      {"overwritten_before_it_left", {true, {"__bang_write_value at ", "the source of a copy still in flight"}}},
      {"two_engines", {true, {"__memcpy_async at ", "on another engine: __memcpy_async at "}}},
      {"overlaps_in_part", {false, {"__bang_add at ", "first source wide+0", "destination wide+4", "overlap in part"}}},
      {"overlaps_its_source", {false, {"__bang_mul_scalar at ", "source wide+0", "destination wide+16"}}},
      {"never_written", {true, {"__memcpy at ", "never written", "x+252"}}},
      {"counts_what_was_never_written", {true, {"__bang_count at ", "never written", "x+252"}}},
      {"loads_from_fresh_memory", {true, {"scalar code at ", "fresh+0", "4 bytes: never written since cnrtMalloc"}}},
      {"copies_fresh_memory", {false, {"__memcpy at ", "fresh+0", "256 bytes: never written since cnrtMalloc"}}},
      {"all_store_there",
       {true, {"task 1 (cluster 0, core 1)", "by another task of this launch, task 0, __memcpy at "}}},
      {"reads_what_another_writes", {true, {"task 3", "task 0, __memcpy at ", "race"}}},
      {"adds_beside_a_store", {true, {"__bang_atomic_reduce_add at ", "task 0, __memcpy at "}}},
      {"reads_a_count_too_early",
       {true, {"scalar code at ", "g+0 (GDRAM, block ", "was written by another task", "__bang_atomic_add at "}}},
      {"all_set_a_flag", {false, {"task 3", "scalar code at ", "task 2, scalar code at ", "a race of equal values"}}},
      {"all_store_their_numbers",
       {true, {"task 1 (", "scalar code at ", "g+0 (GDRAM, block ", "task 0, scalar code at "}}},
      {"all_add_to_a_flag", {true, {"task 1 (", "scalar code at ", "g+0 (GDRAM, block ", "task 0, scalar code at "}}},
      {"all_count", {true, {"task 1 (", "scalar code at ", "g+0 (GDRAM, block ", "task 0, scalar code at "}}},
      {"stripes_overlap", {true, {"scalar code at ", "(GDRAM, block ", "task 0, scalar code at "}}},
      {"all_store_through_a_pointer", {true, {"scalar code at ", "g+0 (GDRAM, block ", "task 0, scalar code at "}}},
      {"scalar_reads_what_a_copy_wrote", {true, {"scalar code at ", "g+12 (GDRAM, block ", "task 0, __memcpy at "}}},
      {"copy_reads_what_a_scalar_wrote", {true, {"__memcpy at ", "g+0 (GDRAM, block ", "task 0, scalar code at "}}},
      {"rows_share_an_element", {true, {"task 1", "g+256 (GDRAM, block ", "task 0, scalar code at "}}},
      {"scalar_stores_beside_an_atomic", {true, {"task 3", "g+8 (GDRAM, block ", "__bang_atomic_reduce_add at "}}},
      {"halves_are_shared", {true, {"task 1", "scalar code at ", "g+0 (GDRAM, block ", "task 0, scalar code at "}}},
      {"bytes_of_elements", {true, {"__memcpy at ", "never written", "x+64"}}},
      {"elements_of_bytes", {true, {"__bang_write_value at ", "1024 bytes: outside of x, which has 256 bytes"}}},
      {"size_overflows", {true, {"__memcpy at ", "the number of bytes must lie in [0, 2^31)"}}},
      {"the_other_way_round", {true, {"__memcpy at ", "destination g+0", "not in NRAM"}}},
      {"computes_in_sram", {true, {"__bang_add at ", "first source shared_x+0", "not in NRAM"}}},
      {"last_tile_too_many", {true, {"__memcpy at ", "g+4096", "outside of the tensor's 4096 bytes"}}},
      {"nested_pieces_beyond", {true, {"__memcpy at ", "destination NRAM offset", "in no object"}}},
      {"looks_up_beyond", {true, {"__memcpy at ", "source wide+0", "never written", "wide+252"}}},
      {"pools_in_place", {false, {"__bang_maxpool at ", "source x+0", "destination x+0", "the guide forbids it"}}},
      {"widens_over_its_source", {false, {"__bang_half2float at ", "x+0", "the guide forbids it"}}},
      {"sums_part_of_a_line", {true, {"__bang_reduce_sum at ", "a multiple of 128 bytes"}}},
      {"pieces_over_each_other",
       {false, {"__memcpy at ", "destination stride of 32 bytes is less than the 64", "bytes, not elements"}}},
      {"strides_are_elements",
       {false, {"__memcpy at ", "source g+2048", "stride of 64 bytes", "with 256", "a stride in elements?"}}},
      {"halves_with_strides_of_elements",
       {false, {"__memcpy_async at ", "source g+2048", "stride of 64 bytes", "with 128", "a stride in elements?"}}},
      {"parts_too_close", {false, {"__bang_add at ", "wide+256", "destination wide+384", "overlap in part"}}},
      {"half_overflows", {false, {"__bang_add at ", "beyond 65504"}}},
      {"half_sum_overflows", {false, {"__bang_reduce_sum at ", "beyond 65504"}}},
      {"exponent_too_large", {false, {"__bang_active_exp at ", "lane 0 is 12", "to 11"}}},
      {"loads_between_numbers", {true, {"scalar code at ", "source g+2", "a multiple of 4"}}},
      {"stores_a_sum_of_padding", {false, {"scalar code at ", "source x+0", "computed from what never was"}}},
      {"needs_a_later_machine", {false, {"__gather at ", "mtp_592 or later", "runs on mtp_372"}}},
      {"weights_never_written", {true, {"__memcpy at ", "source wide+0", "never written"}}},
      {"weights_before_they_came",
       {true, {"__bang_conv at ", "weights", "no barrier between this and __memcpy_async"}}},
      {"index_never_written", {true, {"scalar code at ", "g[", "outside of the tensor's 4096 bytes"}}},
      {"asserts_what_is_not", {true, {"scalar code", "asserts_what_is_not", "a failed assertion"}}},
      {"sram_read_too_early",
       {true, {"__memcpy at ", "shared_x+0", "written by core 0 of this cluster", "no __sync_cluster()"}}},
      {"sram_read_by_scalars_too_early",
       {true, {"scalar code at ", "shared_x+20", "written by core 0 of this cluster", "no __sync_cluster()"}}},
      {"all_store_their_numbers_in_sram", {true, {"scalar code at ", "shared_x+0", "written by core 0"}}},
      {"sram_overwritten_too_early", {true, {"__memcpy at ", "shared_x+0", "read by core ", "no __sync_cluster()"}}},
      {"all_store_in_sram", {true, {"__memcpy at ", "shared_x+0", "written by core 0 of this cluster"}}},
      {"shifts_in_place", {false, {"task 3", "g+768", "read by another task of this launch, task 2", "race"}}},
      {"uses_what_another_task_left", {true, {"task 1", "__memcpy at ", "source x+0", "never written"}}},
      {"reads_in_anothers_nram", {true, {"task 1", "__bang_add at ", "first source", "not in NRAM"}}},
      {"copies_too_much", {true, {"cnrtMemcpy: destination, 8192 bytes: outside of block "}}},
      {"copies_too_much_back", {true, {"cnrtMemcpy: source, 4096 bytes: outside of block "}}},
      {"copies_back_what_nobody_wrote",
       {false, {"cnrtMemcpy: source, 256 bytes to the host: block ", "+252 was never"}}},
      {"copies_in_the_wrong_direction",
       {true, {"cnrtMemcpy: source, 256 bytes: wanted memory of the host, got block "}}},
      {"sets_too_much", {true, {"cnrtMemset: destination, 4097 bytes: outside of block "}}},
      {"frees_from_the_middle", {true, {"cnrtFree: not the beginning of a block to free: block "}}},
      {"frees_twice", {true, {"cnrtFree: ", ", which was freed"}}},
      {"stores_in_what_was_freed", {true, {"__memcpy at ", "destination block ", ", which was freed, 256 bytes"}}},
      {"scalar_store_in_what_was_freed", {true, {"scalar code at ", "block ", ", which was freed"}}},
      {"passes_memory_of_the_host", {true, {"destination an address in no block of device memory"}}},
      {"columns_overlap", {true, {"scalar code at ", "g+12 (GDRAM, block ", "task 0, scalar code at "}}},
      {"column_is_read_too_early", {true, {"scalar code at ", "g+4 (GDRAM, block ", "task 0, scalar code at "}}},
      {"barrier_of_some", {true, {"__sync_cluster", "deadlock", "missing: task 1"}}},
  };
  return table;
}

class Defects : public WithQueue, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    WithQueue::SetUp();
    ASSERT_EQ(cnrtMalloc(&fresh_, 1024 * sizeof(float)), cnrtSuccess);
    run(0, true);  // it has no warning
  }
  void TearDown() override {
    EXPECT_EQ(cnrtFree(fresh_), cnrtSuccess);
    WithQueue::TearDown();
  }
  void run(int which, bool right) { run_defect(queue, which, right, g_.data(), static_cast<float*>(fresh_)); }

 private:
  OnDevice<float> g_{1024, 1.0f};
  void* fresh_ = nullptr;
};

TEST_P(Defects, AreToldAndWhatIsRightIsNot) {
  const std::string name = defect_name(GetParam());
  ASSERT_EQ(told().count(name), 1u) << name;
  const Told& want = told().at(name);

  run(GetParam(), true);
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");

  run(GetParam(), false);
  const std::string text = want.fault ? cnrtExtGetLastFault() : cnrtExtGetLastWarning();
  for (const std::string& part : want.parts)
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
  if (!want.fault) return expect_success();
  EXPECT_NE(cnrtGetLastError(), cnrtSuccess);
}

INSTANTIATE_TEST_SUITE_P(All, Defects, testing::Range(0, defects()),
                         [](const auto& defect) { return std::string(defect_name(defect.param)); });

// ---- docs/kernel_defects.md ----------------------------------------------------------------------------------------

/// A text without what differs from run to run: numbers of blocks, places of objects, folders.
std::string lasting(std::string text) {
  text = std::regex_replace(text, std::regex("^defective(, task [0-9]+ \\([^)]*\\))?: "), "");
  text = std::regex_replace(text, std::regex("[^ ]*/defects\\.mlu"), "defects.mlu");
  text = std::regex_replace(text, std::regex("\\bblock [0-9]+"), "a block");
  text = std::regex_replace(
      text, std::regex(", [0-9]+ bytes (before|behind the end of) a block, which has [0-9]+ bytes"), "");
  return std::regex_replace(text, std::regex(" offset [0-9]+"), "");
}

class DefectsPage : public Defects {
 protected:
  std::string row(int which) {
    const Told& want = told().at(defect_name(which));
    run(which, false);
    const std::string text = want.fault ? cnrtExtGetLastFault() : cnrtExtGetLastWarning();
    cnrtGetLastError();
    cnrtQueueDestroy(queue);
    cnrtQueueCreate(&queue);  // one that met no fault
    bool note = false;
    for (const char* part :
         {"a race of equal values", "too close?", "beyond 65504", "promises something", "in elements?"}) {
      note = note || text.find(part) != std::string::npos;
    }
    return std::string("| ") + defect_name(which) + " | " +
           (want.fault ? "fault"
            : note     ? "note"
                       : "warning") +
           " | `" + lasting(text) + "` |\n";
  }
};

/// MLUOPS_WRITE_PAGES=1 writes it.
TEST_F(DefectsPage, HasEachOfThem) {
  std::string table = "| defect | found as | told |\n|---|---|---|\n";
  for (int i = 0; i < defects(); ++i) table += row(i);
  const std::string path = PAGE;
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  const std::size_t begin = page.str().find("| defect |");
  ASSERT_NE(begin, std::string::npos) << path;
  if (std::getenv("MLUOPS_WRITE_PAGES") != nullptr) {
    std::ofstream(path) << page.str().substr(0, begin) << table;
  } else {
    EXPECT_EQ(page.str().substr(begin), table);
  }
}

}  // namespace
}  // namespace neuware_test
