// Each defect of defects.mlu is told, with its line and the objects it is about; what is right beside it stays silent.
#include <map>
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
      {"index_stores_beyond", {true, {"scalar code at ", "x[64] is outside of the 64 elements"}}},
      {"index_loads_beyond", {true, {"scalar code at ", "x[104] is outside of the 64 elements"}}},
      {"index_below", {true, {"scalar code at ", "y[-1] is outside of the 64 elements"}}},
      {"inner_index_beyond", {true, {"scalar code at ", "table[64] is outside of the 64 elements"}}},
      {"pointer_stores_beyond", {true, {"scalar code: wrote behind the end of x+256"}}},
      {"block_beyond", {true, {"destination block", "outside of the tensor's 4096 bytes"}}},
      {"load_reads_on", {false, {"__memcpy at ", "+3968 (GDRAM), 256 bytes: the last 128 lie outside of the tensor"}}},
      {"load_reads_on_and_is_stored", {true, {"__memcpy at ", "never written", "x+128"}}},
      {"rows_read_on", {false, {"__memcpy at ", "128 bytes: the last 32 lie outside of the tensor"}}},
      {"gathers_beside", {true, {"__gather at ", "4 bytes: ", "outside of the tensor"}}},
      {"scalar_loads_beyond",
       {true, {"scalar code at ", "g[1024], from block ", "outside of the tensor's 4096 bytes"}}},
      {"scalar_stores_beyond", {true, {"scalar code at ", "end[0], from block ", "outside of the tensor's 4096"}}},
      {"scalar_stores_below", {true, {"scalar code at ", "g[-1], from block ", "outside of the tensor's 4096"}}},
      {"pointer_runs_beyond", {true, {"scalar code at ", "*, from block ", "outside of the tensor's 4096"}}},
      {"result_stored_too_early",
       {true, {"__memcpy_async at ", "source x+0", "the result of __bang_write_value at ", "no __sync_compute()"}}},
      {"wrong_barrier_before_store", {true, {"__memcpy_async at ", "the result of __bang_write_value at "}}},
      {"load_over_operand", {false, {"unordered by the guide", "destination x+0", "an operand of __bang_add at "}}},
      {"load_over_ping_pong", {false, {"destination table+0", "an operand of __bang_mul_scalar at "}}},
      {"moved_too_early", {false, {"__memcpy_async at ", "unordered by the guide", "__bang_write_value at "}}},
      {"used_before_it_came", {true, {"__bang_add at ", "x+0", "no barrier between this and __memcpy_async at "}}},
      {"overwritten_before_it_left", {true, {"__bang_write_value at ", "the source of a copy still in flight"}}},
      {"two_engines", {true, {"__memcpy_async at ", "on another engine: __memcpy_async at "}}},
      {"overlaps_in_part", {false, {"__bang_add at ", "first source wide+0", "destination wide+4", "overlap in part"}}},
      {"overlaps_its_source", {false, {"__bang_mul_scalar at ", "source wide+0", "destination wide+16"}}},
      {"never_written", {true, {"__memcpy at ", "never written", "x+252"}}},
      {"sums_what_was_never_written", {true, {"__bang_sum at ", "never written", "x+252"}}},
      {"all_store_there",
       {true, {"task 1 (cluster 0, core 1)", "by another task of this launch, task 0, __memcpy at "}}},
      {"reads_what_another_writes", {true, {"task 3", "task 0, __memcpy at ", "race"}}},
      {"adds_beside_a_store", {true, {"__bang_atomic_reduce_add at ", "task 0, __memcpy at "}}},
      {"all_set_a_flag", {false, {"task 3", "scalar code at ", "task 2, scalar code at ", "a race of equal values"}}},
      {"all_store_their_numbers", {true, {"task 1 (", "scalar code at ", "+0 (GDRAM)", "task 0, scalar code at "}}},
      {"all_add_to_a_flag", {true, {"task 1 (", "scalar code at ", "+0 (GDRAM)", "task 0, scalar code at "}}},
      {"all_count", {true, {"task 1 (", "scalar code at ", "+0 (GDRAM)", "task 0, scalar code at "}}},
      {"stripes_overlap", {true, {"scalar code at ", "(GDRAM)", "task 0, scalar code at "}}},
      {"all_store_through_a_pointer", {true, {"scalar code at ", "+0 (GDRAM)", "task 0, scalar code at "}}},
      {"scalar_reads_what_a_copy_wrote", {true, {"scalar code at ", "+12 (GDRAM)", "task 0, __memcpy at "}}},
      {"copy_reads_what_a_scalar_wrote", {true, {"__memcpy at ", "+0 (GDRAM)", "task 0, scalar code at "}}},
      {"rows_share_an_element", {true, {"task 1", "+256 (GDRAM)", "task 0, scalar code at "}}},
      {"scalar_stores_beside_an_atomic", {true, {"task 3", "+8 (GDRAM)", "__bang_atomic_reduce_add at "}}},
      {"halves_are_shared", {true, {"task 1", "scalar code at ", "+0 (GDRAM)", "task 0, scalar code at "}}},
      {"barrier_of_some", {true, {"__sync_cluster", "dead-lock", "missing: task 1"}}},
  };
  return table;
}

class Defects : public WithQueue, public testing::WithParamInterface<int> {};

TEST_P(Defects, AreToldAndWhatIsRightIsNot) {
  OnDevice<float> g(1024, 1.0f);
  const std::string name = defect_name(GetParam());
  ASSERT_EQ(told().count(name), 1u) << name;
  const Told& want = told().at(name);

  run_defect(queue, GetParam(), true, g.data());
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");

  run_defect(queue, GetParam(), false, g.data());
  const std::string text = want.fault ? cnrtExtGetLastFault() : cnrtExtGetLastWarning();
  for (const std::string& part : want.parts)
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
  if (!want.fault) return expect_success();
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorKernelFault);
}

INSTANTIATE_TEST_SUITE_P(All, Defects, testing::Range(0, defects()),
                         [](const auto& defect) { return std::string(defect_name(defect.param)); });

}  // namespace
}  // namespace neuware_test
