// One MLU core while it runs a task: every word of the kernel passes through here to be checked, timed and, if it is a
// copy, done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/gdram.h"
#include "backends/mlu_emu/device/launch_spec.h"
#include "backends/mlu_emu/device/nram.h"
#include "backends/mlu_emu/device/running.h"
#include "backends/mlu_emu/device/scalar_watch.h"
#include "backends/mlu_emu/device/settings.h"
#include "backends/mlu_emu/device/source.h"
#include "backends/mlu_emu/device/task.h"
#include "backends/mlu_emu/device/timeline.h"

namespace mluops::emu {

/// Where a core waits for others.
enum class Barrier {
  kCluster,       // the cores of its cluster and its memory core
  kClusterCores,  // the same without the memory core
  kAllCores,      // the cores of all clusters of the launch's job
  kAll,           // the same with their memory cores
  kMemoryCores,   // those of all clusters, without others
};

/// A barrier with a number: of all clusters' cores, or of one cluster's.
struct Numbered {
  int id;
  bool of_cluster;
};

/// What holds the cores of a job together; a launch without one has no barriers.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  /// Returns when all of them are there.
  virtual void arrive(Barrier barrier) = 0;
  /// The running core has come by a barrier with a number; returns when as many cores as it waits for have.
  virtual void come_by(Numbered barrier) = 0;
  virtual void wait_for(Numbered barrier, int count) = 0;
  /// null: the job has no such cluster.
  virtual Nram* sram_of(int cluster) = 0;
  /// The memory core of the running core's cluster does its copies itself.
  virtual bool memory_core_runs() const = 0;
};

/// One piece of a copy whose pieces no stride describes.
struct Piece {
  char* dst;
  const char* src;
};

/// `pieces` copies of `bytes`, one after the other.
struct Copy {
  const char* word;
  Space to, from;
  char* dst;
  const char* src;
  std::int64_t bytes;
  std::int64_t pieces = 1;
  std::int64_t dst_stride = 0, src_stride = 0;
  std::shared_ptr<const std::vector<Piece>> list = nullptr;  // in place of dst, src and strides
  std::string pattern = {};                                  // no source: the pieces are filled with this
  CallSite site = {};                                        // of a queued one
  int dst_cluster = -1;                                      // whose SRAM it goes to; -1: its own
  bool moved = false;                                        // its bytes; the operands are in use until a barrier

  bool fills() const { return !pattern.empty(); }
  /// One piece within NRAM is the vector unit's: in order with what that computes.
  bool by_vector_unit() const {
    return to == Space::kNram && from == Space::kNram && pieces == 1 && list == nullptr && !fills();
  }
  Engine engine() const {
    if (off_chip(to) || off_chip(from)) return Engine::kIo;
    return by_vector_unit() ? Engine::kVector : Engine::kMove;
  }
  static bool off_chip(Space space) { return space == Space::kGdram || space == Space::kLdram; }
  bool within(Space a, Space b) const { return (to == a && from == b) || (to == b && from == a); }
};

/// State that all cores of a launch share.
struct LaunchState {
  const LaunchSpec& spec;
  const Settings& settings;
  Gdram& gdram;
  bool threads;      // several host threads run cores at once
  int active_cores;  // share the GDRAM bandwidth
  Rendezvous* rendezvous = nullptr;
  const std::vector<NramRegion>* objects = nullptr;  // named parts of NRAM beside those of the spec; may grow
  const std::atomic<bool>* overdue = nullptr;        // it has run longer than the settings allow
  const std::int64_t* nram_reach = nullptr;          // where the objects in NRAM end; null: it is all one. May grow
  const std::vector<NramRegion>* filled = nullptr;   // parts of NRAM that are filled before each task, used or not
  const char* file = "this kernel";                  // the objects are of
  KernelSource* source = nullptr;                    // of kernels a toolchain compiled
  const char* no_tensor = "an address in no tensor of the launch";
};

class Core {
 public:
  explicit Core(std::int64_t nram_bytes) : nram_(nram_bytes) {}
  /// A core with WRAM and a share in its cluster's SRAM. The objects of a file may reach beyond its NRAM, as long as no
  /// task uses more than that.
  Core(std::int64_t nram_bytes, std::int64_t wram_bytes, Nram* sram, Window* shared)
      : nram_(nram_bytes, kMostNrams * nram_bytes),
        wram_(std::make_unique<Nram>(wram_bytes)),
        sram_(sram),
        shared_(shared) {}

  /// The core whose task this thread runs; a fault outside of any.
  static Core& current();
  /// This thread runs a task.
  static bool runs_here();
  /// A word that begins in these last bytes of the thread's stack ends the task: what the processor stops inside the
  /// library may hold a lock.
  void keep_stack(const void* low, std::size_t bytes) {
    kept_stack_ = reinterpret_cast<std::uintptr_t>(low);
    kept_stack_bytes_ = bytes;
  }

  void begin_task(const LaunchState& launch, const TaskBuiltins& task, Timeline& timeline);
  /// Completes what is still queued, as the device does, and checks that scalar code stayed inside NRAM.
  void end_task();
  /// Forgets the task; needed whether it ended well or not.
  void leave() noexcept;

  const TaskBuiltins& task() const { return task_; }
  const LaunchState& launch() const { return *launch_; }
  Nram& nram() { return nram_; }
  /// A memory of this core or its cluster; a fault where there is none.
  Nram& memory(Space space);
  /// Completes all queued copies, then waits for the others.
  void arrive(const char* word, Barrier barrier);
  void come_by(const char* word, Numbered barrier);
  void wait_for(const char* word, Numbered barrier, int count);

  // Operands of vector builtins: in bounds, aligned, not in flight.
  /// The lanes of the source that are undefined; reading them is not yet a fault.
  LaneFlags source(const char* word, const char* role, const void* address, std::int64_t lane, std::int64_t n);
  void destination(const char* word, const char* role, const void* address, std::int64_t bytes);
  /// For builtins that do not use the vector unit: any alignment.
  void stored_destination(const char* word, const char* role, const void* address, std::int64_t bytes);
  /// A part of the tensor unit's weights in WRAM: are all its bytes defined?
  bool weights(const char* word, const void* address, std::int64_t bytes);
  /// Whether the last copy to this place in WRAM put its pieces a 64th of WRAM apart.
  bool filled_in_64ths(const void* address) const;
  /// Every lane must be defined: a scalar, a branch or an address depends on it.
  void deciding_source(const char* word, const char* role, const void* address, std::int64_t bytes);
  /// A source that goes to GDRAM: every byte defined, any alignment.
  void stored_source(const char* word, const char* role, const void* address, std::int64_t bytes);
  /// Scalar code stored there: what it stored may look like poison.
  void written_by_scalar(const void* address, std::int64_t bytes) { mark_written(address, bytes); }
  /// Gives the flagged lanes of a destination their poison back.
  void forget(const void* address, std::int64_t lane, const LaneFlags& flags);
  [[noreturn]] void fault_overdue(const char* word) const;
  /// A rule of a word beyond those; part of the memory check.
  void require(bool holds, const char* word, const char* rule) const {
    if (!holds && checks().memory) fault(word, rule);
  }
  /// Accounts for a vector builtin that wrote `bytes` in `lanes` results, for which it went over `steps` lanes.
  void computed(const char* word, std::int64_t bytes, std::int64_t lanes, std::int64_t steps);

  /// Accounts for a word of the tensor unit: `macs` as many multiply-adds of half.
  void multiplied(const char* word, std::int64_t bytes, std::int64_t lanes, double macs);

  /// Checks an atomic update of GDRAM, then runs add() under the lock cores on threads need.
  template <class Add>
  void atomic(const char* word, const void* gdram, std::int64_t bytes, Add&& add) {
    if (task_.memory_core) return;
    const auto lock = check_atomic(word, gdram, bytes);
    add();
  }

  /// While one exists, a builtin that is no copy is at work on this engine. It comes behind the copies queued there,
  /// as all that one engine does is in order (3.1.3, 3.13). Queued itself, it leaves them in use until a barrier.
  class InOrder {
   public:
    InOrder(Core& core, Engine engine, bool queued);
    ~InOrder() { core_.in_order_of_ = before_; }
    InOrder(const InOrder&) = delete;
    InOrder& operator=(const InOrder&) = delete;

   private:
    Core& core_;
    std::optional<Engine> before_;
  };
  /// Whether the atomics that follow are queued.
  void queue_atomics(bool yes) { atomics_queued_ = yes; }
  bool atomics_queued() const { return atomics_queued_; }
  /// Operands of a queued builtin that has done its work here already: in use until a barrier.
  void hold(Copy operands);

  /// Checks what scalar code loads or stores through a word.
  void scalar_load(const char* word, Space space, const void* address, std::int64_t bytes);
  void scalar_store(const char* word, Space space, const void* address, std::int64_t bytes);
  /// Checks a load or store that is no word. Those of a toolchain's kernels come here unless their spans tell that
  /// all is well.
  void scalar_access(const ScalarAccess& access);
  /// The address lies in a tensor of the launch.
  bool in_gdram(const void* address) const { return area(address) == nullptr && launch_->gdram.find(address) >= 0; }
  /// The address lies in that memory of the chip.
  bool in(Space space, const void* address) const {
    const Nram* found = area(address);
    return found != nullptr && found == (space == Space::kNram ? &nram_ : space == Space::kWram ? wram_.get() : sram_);
  }

  void copy(const Copy& c);
  void copy_async(const Copy& c);
  /// Does the copies queued on an engine and waits for them.
  void wait(Engine engine);

  /// Ends the launch, but of a memory core's vector builtin the task alone: nobody sees its results.
  [[noreturn]] void fault(const char* word, const std::string& text, const CallSite& other = {}) const;
  /// State of the task's random numbers.
  std::uint64_t& random_state() { return random_state_; }
  /// Something no guide orders: it is told, and the launch goes on.
  void warn(const char* word, const std::string& text, const CallSite& other = {}) const;
  void note(const char* word, const std::string& text, const CallSite& other = {}) const;
  /// A source that the guide wants apart from the destination, and is not.
  void warn_not_apart(const char* word, const void* source, std::int64_t source_bytes, const void* destination,
                      std::int64_t bytes) const;
  /// A sum of halves became infinite though none was; told once the builtin is done.
  void half_overflowed() { half_overflow_ = true; }
  void note_half_overflow(const char* word);
  /// A destination that overlaps a source in part. What another source is: none, the destination itself, or neither.
  enum class Beside { kNothing, kDestination, kOther };
  void not_behind_source(const char* word, const char* role, const void* source, const void* destination,
                         std::int64_t bytes, Beside beside) const;
  /// Scalar code indexes an array outside of its elements: the index to go on with, of a memory core that has no number
  /// to index with.
  std::int64_t index_outside(const CallSite& site, const char* name, const void* array, std::int64_t index,
                             std::int64_t count);
  /// The processor stopped scalar code. Of a memory core that ends the task alone.
  void scalars_went_astray(const std::string& text) const;
  /// Attributes later faults to this place, not to the last builtin; an unknown place is allowed.
  void act_at(const CallSite& site) {
    acting_ = site;
    ending_ = !site.known();
  }

  /// The objects of one file take up at most as many times a core's NRAM.
  static constexpr std::int64_t kMostNrams = 16;
  std::int64_t most_of_nram() const { return kMostNrams * launch_->settings.arch.nram_bytes; }

 private:
  const Checks& checks() const { return checks_; }
  /// A fault when the task has used more words than it may.
  void count_word(const char* word);
  /// Adds the time of the scalar code since the last builtin.
  void spend_scalar_work();
  void spend(const ScalarWork& work);
  /// The on-chip memory an address is meant in; null for none.
  Nram* area(const void* address) const;
  bool leaves_to_others(const Copy& c) const;
  /// Some of its bytes are this core's to move.
  bool moves(const Copy& c);
  std::string describe(const void* address) const;
  std::string describe_gdram(const Window& window, std::int64_t offset) const;
  std::string describe_nram(std::int64_t offset) const;
  std::string who() const;
  [[noreturn]] void end_launch(const char* word, const std::string& text, const CallSite& other = {}) const;
  void warn_for_nothing(const char* word, const std::string& text) const;
  CallSite where() const;
  void tell(Severity severity, const char* word, const std::string& text, const CallSite& other) const;
  [[noreturn]] void operand_fault(const char* word, const char* role, const void* address, std::int64_t bytes,
                                  const std::string& what, const CallSite& other = {}) const;
  void check_object(const char* word, const char* role, const void* address, std::int64_t bytes, Space space) const;
  void check_weights_object(const char* word, const char* role, const void* address, std::int64_t bytes) const;
  std::int64_t beyond_object(const void* address, std::int64_t bytes) const;
  void warn_beyond(const char* word, const char* role, const void* address, std::int64_t bytes,
                   std::int64_t beyond) const;
  void check_between_objects() const;
  /// An operand of a vector builtin: it is in use until a barrier.
  void note_running(const char* word, const void* address, std::int64_t bytes, bool written);
  void check_running(const Copy& c) const;
  void check_scalars_in_nram(const Copy& c) const;

  void check_nram(const char* word, const char* role, const void* address, std::int64_t bytes,
                  Space space = Space::kNram) const;
  void check_alignment(const char* word, const char* role, const void* address, std::int64_t bytes,
                       std::int64_t lanes = 0) const;
  /// The guide has the builtin for this machine. Else that is told: public boards list kernels with such ones on cards.
  void check_machine(const char* word) const;
  void meet_others(const char* word);
  void check_operand(const char* word, const char* role, const void* address, std::int64_t bytes, bool write) const;
  void check_written(const char* word, const char* role, const void* address, std::int64_t bytes);
  void check_in_flight(const char* word, const char* role, const char* begin, std::int64_t bytes, bool write) const;
  void mark_written(const void* address, std::int64_t bytes);

  int check_gdram(const char* word, const char* role, const char* address, std::int64_t bytes, Touch touch);
  /// Whether a copy stores what is there already; looked at once it matters.
  struct Equal {
    const Copy& copy;
    std::optional<bool> known = {};
  };
  void claim(const char* word, int window, std::int64_t offset, std::int64_t bytes, Touch touch,
             Equal* equal = nullptr);
  /// The conflict with another task's write at `at`.
  struct Contest {
    std::int64_t at, offset, bytes;
  };
  void contest(const char* word, Window& window, const Contest& contest, Touch touch, Equal* equal);
  bool is_equal(Equal* equal) const;
  /// A write behind another task's read.
  void warn_read_before(const char* word, int window, std::int64_t offset, std::int64_t bytes) const;
  void note_read(const Copy& c);
  void move_queued(Engine engine);
  void claim_shared(const Copy& c);
  bool stores_what_is_there(const Copy& c) const;
  bool stores_within_sram(const Copy& c) const;
  void claim_shared_range(const char* word, const char* begin, std::int64_t bytes, Touch touch);
  void clash_in_sram(const char* word, std::int64_t at, const char* did, const Window::Written& other) const;
  void scalar_access_to_sram(const ScalarAccess& access);
  void check_scalar_alignment(const ScalarAccess& access);
  void check_scalar_load_on_chip(const ScalarAccess& access, Nram& memory);
  /// ", task 2, __memcpy at a.mlu:7"
  static std::string by(const Window::Written* earlier);
  void take_equal(Window& window, std::int64_t offset, std::int64_t bytes);
  void fault_of_scalars(const ScalarAccess& access, const std::string& text) const;
  int block_of(const ScalarAccess& access) const;
  void pass_scalars(unsigned slot, const char* begin, std::int64_t bytes);
  void check_scalar_load(const ScalarAccess& access, int window);
  void check_scalar_store(const ScalarAccess& access, int window);
  /// Moves the pending stores of scalar code into the shadow memory.
  void settle_scalars();
  void judge_contested();
  /// Others may have run: nothing that was known of device memory is any more.
  void forget_spans();
  std::unique_lock<std::mutex> check_atomic(const char* word, const void* gdram, std::int64_t bytes);

  void fault_of_guard(std::int64_t offset);
  void check_capacity() const;
  bool stored_in(const NramRegion& region) const;
  void check_shape(const Copy& c) const;
  void note_stride_of_elements(const Copy& c) const;
  void check_from(const Copy& c, bool sync);
  void check_to(const Copy& c, bool sync);
  void check_other_engines(const Copy& c) const;
  void hide_target(const Copy& c);
  void copy_by_vector_unit(const Copy& c);
  void move_to_cluster(const Copy& c);
  void transfer(const Copy& c);
  void warn_never_written(const Copy& c) const;
  /// Where a load from device memory has to stop; null where it may not read on behind its block.
  const char* end_of_source(const Copy& c) const;
  bool reads_on(const Copy& c, const char* begin, std::int64_t bytes) const;
  void move_up_to(const char* end, char* dst, const char* src, std::int64_t bytes);
  void note_weights(const Copy& c);
  void fill(const Copy& c);
  void move_piece(char* dst, const char* src, std::int64_t bytes);
  void account(const Copy& c, bool async);
  /// Nanoseconds of a copy: to start, for being in pieces, for its bytes.
  struct Taken {
    double start, in_pieces, bytes;
  };
  /// `window`: of its side in GDRAM; -1 for none.
  Taken duration(const Copy& c, int window) const;
  Taken move_duration(const Copy& c) const;

  /// Where in a lane of WRAM a copy went, and how.
  struct Fill {
    std::int64_t begin, end;
    bool in_64ths;
  };

  mutable Nram nram_;
  std::unique_ptr<Nram> wram_;
  Nram* sram_ = nullptr;
  Window* shared_ = nullptr;  // who wrote and read SRAM, by the number of the core
  Checks checks_;
  const LaunchState* launch_ = nullptr;
  Timeline* timeline_ = nullptr;
  TaskBuiltins task_ = {};
  std::vector<Copy> in_flight_;
  Running running_;
  std::uintptr_t kept_stack_ = 0, kept_stack_bytes_ = 0;
  CallSite acting_;          // in place of the word at hand
  bool ending_ = false;      // no word is at hand
  std::vector<Fill> fills_;  // of WRAM, by this task
  std::int64_t words_ = 0;   // this task used
  bool half_overflow_ = false;
  std::uint64_t random_state_ = 0;
  ScalarWatch scalars_;
  std::optional<Engine> in_order_of_;  // the engine of a builtin that is no copy
  bool atomics_queued_ = false;
};

}  // namespace mluops::emu
