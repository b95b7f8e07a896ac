#include "backends/mlu_emu/device/crew.h"

#include <algorithm>
#include <map>
#include <utility>

#include "backends/mlu_emu/device/fault.h"

namespace mluops::emu {

// ---- a worker ------------------------------------------------------------------------------------------------------

Worker::Worker(const Arch& arch, Nram* sram, Window* shared)
    : core(arch.nram_bytes, arch.wram_bytes, sram, shared), thread_([this] { serve(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    quit_ = true;
  }
  to_worker_.notify_one();
  thread_.join();
}

void Worker::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    to_worker_.wait(lock, [&] { return working_ || quit_; });
    if (!working_) return;
    lock.unlock();
    step_();
    lock.lock();
    working_ = false;
    to_conductor_.notify_one();
  }
}

void Worker::run_until_back(std::unique_lock<std::mutex>& lock) {
  working_ = true;
  paused_ = false;
  to_worker_.notify_one();
  to_conductor_.wait(lock, [&] { return !working_; });
}

void Worker::start(std::function<void()> step) {
  std::unique_lock<std::mutex> lock(mutex_);
  step_ = std::move(step);
  run_until_back(lock);
}

void Worker::resume() {
  std::unique_lock<std::mutex> lock(mutex_);
  run_until_back(lock);
}

void Worker::pause() {
  std::unique_lock<std::mutex> lock(mutex_);
  paused_ = true;
  working_ = false;
  to_conductor_.notify_one();
  to_worker_.wait(lock, [&] { return working_; });
}

// ---- a job: the tasks that start together --------------------------------------------------------------------------

namespace {

const char* name_of(Barrier barrier) {
  switch (barrier) {
    case Barrier::kCluster:
      return "__sync_cluster";
    case Barrier::kClusterCores:
      return "__sync_all_ipu_within_cluster";
    case Barrier::kAllCores:
      return "__sync_all_ipu";
    case Barrier::kAll:
      return "__sync_all";
    case Barrier::kMemoryCores:
      return "__sync_all_mpu";
  }
  return "a barrier";
}

bool of_cluster(Barrier barrier) {
  return barrier == Barrier::kCluster || barrier == Barrier::kClusterCores;
}
bool with_memory_core(Barrier barrier) {
  return barrier == Barrier::kCluster || barrier == Barrier::kAll || barrier == Barrier::kMemoryCores;
}

enum class State { kFresh, kReady, kWaiting, kCounting, kDone };

/// The cluster, -1 for all of them, and the number of a barrier.
using NumberedKey = std::pair<std::int64_t, int>;

struct Member {
  TaskBuiltins task;
  std::size_t cluster;
  State state = State::kFresh;
  Barrier barrier = Barrier::kCluster;
  Worker* worker = nullptr;
  NumberedKey waits_for = {};  // in kCounting: how many have to have come by
  std::int64_t wanted = 0;
  std::map<NumberedKey, std::int64_t> waited = {};  // how many it has waited for so far

  std::string name() const {
    return (task.memory_core ? "the memory core of cluster " + std::to_string(cluster)
                             : "task " + std::to_string(task.taskId));
  }
};

/// Unwinds a task whose launch was stopped by another one.
class Abandoned : public Fault {
 public:
  Abandoned() : Fault("abandoned") {}
};

}  // namespace

class Job : public Rendezvous {
 public:
  Job(Crew& crew, const LaunchState& shared, const KernelBody& body, std::vector<Timeline>& timelines,
      std::int64_t first_task)
      : crew_(crew), state_(shared), body_(body), timelines_(timelines) {
    state_.rendezvous = this;
    const LaunchSpec& spec = shared.spec;
    const std::int64_t tasks = Crew::job_tasks(spec, crew.arch_);
    for (int c = 0; c < std::max(1, spec.clusters); ++c) {
      const Crew::Cluster& cluster = crew.cluster(static_cast<std::size_t>(c));
      cluster.sram->poison_if_used();
      cluster.shared->forget();
    }
    for (std::int64_t i = 0; i < tasks; ++i) {
      const auto cluster = static_cast<std::size_t>(spec.clusters == 0 ? 0 : i / crew.arch_.cores_per_cluster);
      TaskBuiltins task = task_builtins_of(spec, crew.arch_, first_task + i);
      if (spec.clusters != 0 && i % crew.arch_.cores_per_cluster == 0) members_.push_back(memory_core(task, cluster));
      members_.push_back({task, cluster});
    }
  }

  std::string run() {
    while (Member* m = next()) {
      running_ = m;
      m->state == State::kFresh ? start(*m) : m->worker->resume();
      running_ = nullptr;
      if (stopped()) break;
      release();
    }
    if (!stopped() && waiting() > 0) fault_ = dead_lock();
    abandon();
    if (failure_) std::rethrow_exception(failure_);
    return fault_;
  }

  void arrive(Barrier barrier) override {
    Member& m = *running_;
    if (m.task.memory_core && !with_memory_core(barrier)) return;
    m.barrier = barrier;
    m.state = State::kWaiting;
    m.worker->pause();
    if (stopped_) throw Abandoned();
  }

  void come_by(Numbered barrier) override { ++came_by_[key_of(barrier)]; }

  void wait_for(Numbered barrier, int count) override {
    Member& m = *running_;
    m.waits_for = key_of(barrier);
    m.wanted = m.waited[m.waits_for] += count;
    m.state = State::kCounting;
    m.worker->pause();
    if (stopped_) throw Abandoned();
  }

  Nram* sram_of(int cluster) override {
    const bool known = cluster >= 0 && cluster < std::max(1, state_.spec.clusters);
    return known ? crew_.cluster(static_cast<std::size_t>(cluster)).sram.get() : nullptr;
  }

  bool memory_core_runs() const override {
    for (const Member& m : members_) {
      if (m.task.memory_core && m.cluster == running_->cluster) return m.state != State::kDone;
    }
    return false;
  }

 private:
  static Member memory_core(TaskBuiltins task, std::size_t cluster) {
    task.memory_core = true;
    task.coreId = kMemoryCoreId;
    return {task, cluster};
  }
  NumberedKey key_of(Numbered barrier) const {
    return {barrier.of_cluster ? static_cast<std::int64_t>(running_->cluster) : -1, barrier.id};
  }

  /// Tasks freed from a barrier go first, then new ones, both in their order.
  Member* next() {
    for (const State wanted : {State::kReady, State::kFresh}) {
      for (Member& m : members_) {
        if (m.state == wanted) return &m;
      }
    }
    return nullptr;
  }

  bool stopped() const { return stopped_ || !fault_.empty() || failure_; }

  void start(Member& m) {
    m.worker = &crew_.idle_worker(m.cluster);
    m.worker->start([this, &m] { tasks_from(m); });
  }

  /// On the worker's thread: a task and, without handing the baton back, those that would get this thread next.
  void tasks_from(Member& first) {
    for (Member* m = &first; m != nullptr; m = behind(*m)) {
      running_ = m;
      task(*m);
      m->state = State::kDone;
    }
  }
  Member* behind(const Member& done) {
    if (stopped()) return nullptr;
    release();
    Member* m = next();
    if (m == nullptr || m->state != State::kFresh || m->cluster != done.cluster) return nullptr;
    if (&crew_.idle_worker(m->cluster) != done.worker) return nullptr;
    m->worker = done.worker;
    return m;
  }

  void task(Member& m) {
    Core& core = m.worker->core;
    try {
      core.begin_task(state_, m.task, timeline(m));
      run_body(core);
      core.end_task();
    } catch (const Abandoned&) {
    } catch (const Fault& fault) {
      if (fault_.empty()) fault_ = fault.what();
    } catch (...) {
      failure_ = std::current_exception();
    }
    core.leave();
  }

  void run_body(Core& core) const {
    try {
      body_(core.nram().base());
    } catch (const EndOfTask&) {
    }
  }

  /// The entries of the memory cores, one per cluster, follow the others.
  Timeline& timeline(const Member& m) const {
    const auto cores = static_cast<std::size_t>(state_.active_cores), task = static_cast<std::size_t>(m.task.taskId);
    if (!m.task.memory_core) return timelines_[task % cores];
    const auto per_cluster = static_cast<std::size_t>(crew_.arch_.cores_per_cluster);
    return timelines_[cores + task / per_cluster % (timelines_.size() - cores)];
  }

  bool shares(const Member& waiting, const Member& other) const {
    if (waiting.barrier == Barrier::kMemoryCores) return other.task.memory_core;
    if (of_cluster(waiting.barrier) && other.cluster != waiting.cluster) return false;
    return with_memory_core(waiting.barrier) || !other.task.memory_core;
  }
  /// A memory core that has returned is not waited for.
  bool there(const Member& waiting, const Member& other) const {
    if (other.state == State::kWaiting && other.barrier == waiting.barrier) return true;
    return other.task.memory_core && other.state == State::kDone;
  }

  /// Frees those that wait for a number of others to come by. What any of them wrote is ordered then.
  void release_counting() {
    for (Member& m : members_) {
      if (m.state != State::kCounting || came_by_[m.waits_for] < m.wanted) continue;
      for (Window& window : state_.gdram.windows()) window.meet_all();
      for (const Crew::Cluster& c : crew_.clusters_) c.shared->meet_all();
      m.state = State::kReady;
    }
  }

  /// Frees the tasks at barriers where nobody is missing.
  void release() {
    release_counting();
    for (Member& m : members_) {
      if (m.state != State::kWaiting) continue;
      const auto present = [&](const Member& other) { return !shares(m, other) || there(m, other); };
      if (!std::all_of(members_.begin(), members_.end(), present)) continue;
      const Member meeting = m;
      order_writes(meeting);
      std::vector<Timeline*> cores;
      for (Member& other : members_) {
        if (!shares(meeting, other) || other.state != State::kWaiting) continue;
        cores.push_back(&timeline(other));
        other.state = State::kReady;
      }
      Timeline::meet(cores, state_.settings.rates.barrier_ns);
    }
  }

  /// A write before a barrier is no race after it. Between the clusters of one job of several, races may stay
  /// unseen then.
  void order_writes(const Member& meeting) {
    const bool cluster_only = of_cluster(meeting.barrier);
    for (std::size_t c = 0; c < crew_.clusters_.size(); ++c) {
      if (!cluster_only || c == meeting.cluster) order_shared(*crew_.clusters_[c].shared, meeting);
    }
    for (Window& window : state_.gdram.windows()) {
      if (!cluster_only) {
        window.meet_all();
        continue;
      }
      const Actor a(meeting.task);
      const int first = a.task - a.task % a.cores_of_cluster;
      window.meet(first, first + a.cores_of_cluster - 1, a.cluster, with_memory_core(meeting.barrier));
    }
  }

  static void order_shared(Window& shared, const Member& meeting) {
    if (with_memory_core(meeting.barrier)) return shared.meet_all();
    shared.meet(0, meeting.task.coreDim - 1, 0);
  }

  std::int64_t waiting() const { return std::count_if(members_.begin(), members_.end(), is_held); }
  static bool is_held(const Member& m) { return m.state == State::kWaiting || m.state == State::kCounting; }

  std::string dead_lock() {
    const Member& first = *std::find_if(members_.begin(), members_.end(), is_held);
    if (first.state == State::kCounting) {
      return state_.spec.kernel + ": deadlock: " + first.name() + " waits at barrier " +
             std::to_string(first.waits_for.second) + " for " + std::to_string(first.wanted) + " cores to come by, " +
             std::to_string(came_by_[first.waits_for]) + " have";
    }
    std::string waits, missing;
    for (const Member& m : members_) {
      if (!shares(first, m)) continue;
      std::string& list = there(first, m) ? waits : missing;
      if (there(first, m) && m.state == State::kDone) continue;
      list += (list.empty() ? "" : ", ") + m.name();
      if (&list == &missing)
        list += m.state == State::kDone ? " (ended)" : std::string(" (at ") + name_of(m.barrier) + ")";
    }
    return state_.spec.kernel + ": " + name_of(first.barrier) + ": deadlock: " + waits + " waited, missing: " + missing;
  }

  void abandon() {
    stopped_ = true;
    for (Member& m : members_) {
      if (!is_held(m) && m.state != State::kReady) continue;
      running_ = &m;
      m.worker->resume();
    }
  }

  Crew& crew_;
  LaunchState state_;
  const KernelBody& body_;
  std::vector<Timeline>& timelines_;
  std::vector<Member> members_;
  Member* running_ = nullptr;
  std::map<NumberedKey, std::int64_t> came_by_;
  std::string fault_;
  std::exception_ptr failure_;
  bool stopped_ = false;
};

// ---- the crew ------------------------------------------------------------------------------------------------------

Crew::Cluster& Crew::cluster(std::size_t index) {
  while (clusters_.size() <= index) {
    clusters_.emplace_back();
    Cluster& added = clusters_.back();
    added.sram = std::make_unique<Nram>(arch_.sram_bytes);
    added.shared =
        std::make_unique<Window>(Tensor{"SRAM", added.sram->base(), arch_.sram_bytes, Access::kReadWrite, false}, true);
  }
  return clusters_[index];
}

Worker& Crew::idle_worker(std::size_t index) {
  Cluster& c = cluster(index);
  for (const auto& worker : c.workers) {
    if (!worker->paused()) return *worker;
  }
  c.workers.push_back(std::make_unique<Worker>(arch_, c.sram.get(), c.shared.get()));
  return *c.workers.back();
}

std::string Crew::run(const LaunchState& state, const KernelBody& body, std::vector<Timeline>& timelines,
                      const std::vector<std::int64_t>& job_order) {
  const std::int64_t tasks = job_tasks(state.spec, arch_);
  for (const std::int64_t job : job_order) {
    const std::string fault = Job(*this, state, body, timelines, job * tasks).run();
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace mluops::emu
