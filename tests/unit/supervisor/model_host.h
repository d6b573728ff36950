#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/job/attempt.h"
#include "supervisor/ipc_watch.h"
#include "supervisor/oom_watch.h"
#include "supervisor/processes/place.h"
#include "supervisor/processes/process_set.h"
#include "supervisor/run_host.h"
#include "unit/base/loop/fake_clock.h"

// A small machine for tests of what runs on it: simulated time, a guardian, and places for
// processes that do as their program says or as the test does.
namespace plimsoll::supervisor::model {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

// What the main process of a set does by itself. Without one, the test tells its story.
struct Program {
  Duration runs = 10ms;
  int exit_code = 0;
  std::string prints{};  // at its end
};

class Host;

// A process that does not die.
inline cgroup::StuckProcess stone() {
  return {.pid = 4711, .comm = "stone", .state = 'D', .wchan = {}};
}

// A place for processes. What is done to it is in the host's journal.
class Set : public ProcessSet {
 public:
  Set(Host& host, std::string name, ProcessSetObserver& observer);
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
  ~Set() override;

  Result<guardian::ChildId> spawn(guardian::SpawnRequest request) override;
  void adopt(int) override { note("adopt " + name_); }
  OomKills watch_oom() override { return kills; }
  OwnOoms own_ooms() override { return ooms; }
  void freeze() override { note("freeze"); }
  void thaw() override { note("thaw"); }
  void signal_all(int number) override { note("signal " + policy::signal_name(number)); }
  const counters::Sample& sample(Instant now, WallTime wall, counters::Level level,
                                 counters::SampleState state) override;
  Instant next_due() const override;
  bool is_at_rest() const override { return rests; }
  counters::JobUsage finish(Instant now, WallTime wall) override;
  void reap(reap::LeftBehind left_behind) override;
  void give_up_removal() override { note("give up"); }
  std::shared_ptr<const cgroup::Group> group() const override { return nullptr; }

  // What the guardian tells of its main process.
  void born(UniqueFd pidfd = {});
  void not_born(guardian::SpawnStep step, std::errc code);
  void exits(int code, bool leaves_others = false);
  void is_killed(int signal = SIGKILL);
  // Of adopted processes.
  void vacated(std::optional<guardian::WaitStatus> main = {}) { observer_.on_vacated(main); }
  // What reaping tells.
  void empty();
  void stuck();
  void gone(const reap::Reaped& reaped = {});
  // The kernel is about to kill in it.
  void oom() { observer_.on_oom(); }

  OomKills kills = OomKills::whole;
  OwnOoms ooms;
  counters::Sample seen;          // by the next looks
  std::optional<Error> no_spawn;  // why it can't be
  bool is_vacant = false;         // reaping finds nobody there
  bool rests = false;             // nothing has run lately
  Duration gap = 1s;              // from a look to the next, for the record

 private:
  void note(const std::string& what);
  void ends(guardian::WaitStatus status, bool leaves_others);
  void run_program();
  void reap_program();

  Host& host_;
  std::string name_;
  ProcessSetObserver& observer_;
  guardian::ChildId child_{};
  bool lives_ = false;  // the main process, or it is being born
  bool is_emptied_ = false;
  UniqueFd out_;  // of the program
  std::unique_ptr<loop::Clock::Timer> timer_, reap_timer_;
};

// What an attempt leaves of IPC, as the host has it.
class Ipc : public IpcWatch {
 public:
  explicit Ipc(Host& host) : host_(host) {}
  Ipc(const Ipc&) = delete;
  Ipc& operator=(const Ipc&) = delete;
  ~Ipc() override;
  std::optional<std::vector<report::IpcLeft>> look(IpcObserver& observer) override;

 private:
  Host& host_;
};

class Host : public RunHost {
 public:
  explicit Host(const cgroup::Directory* pool_memory = nullptr) : oom_(loop_, pool_memory) {}

  Instant now() const override { return clock.now(); }
  Instant job_clock() const override { return clock.now() - stalled; }
  Instant on_loop_clock(Instant when) const override { return when + stalled; }
  std::unique_ptr<Timer> timer(std::function<void()> callback) override {
    return clock.timer(std::move(callback));
  }
  void count_dropped_samples(std::uint64_t samples) override { dropped_samples += samples; }

  Result<std::unique_ptr<ProcessSet>> make_process_set(const std::string& name, const Limits&,
                                                       uid_t,
                                                       ProcessSetObserver& observer) override {
    if (no_set) return tl::unexpected(*no_set);
    auto made = std::make_unique<Set>(*this, name, observer);
    if (on_new_set) on_new_set(*made);
    return made;
  }
  void over(guardian::ChildId, ChildObserver& observer) override {
    journal.emplace_back("over");
    asked = &observer;
  }
  void forget(guardian::ChildId) override { journal.emplace_back("forget"); }
  std::unique_ptr<IpcWatch> watch_ipc(uid_t) override { return std::make_unique<Ipc>(*this); }
  OomWatch& oom() override { return oom_; }
  Bytes memory() const override { return 8_GiB; }

  // What is ready on the real loop, or else the next thing in simulated time.
  Result<void> run_once(Duration) override {
    for (int turn = 0; turn < 8; ++turn) {
      if (auto ran = loop_.run_once(Duration{}); !ran) return ran;
    }
    if (!clock.fire_next(Instant::max())) return loop_.run_once(1ms);
    return {};
  }
  loop::Loop& loop() override { return loop_; }
  loop::Worker& worker() override { return worker_; }
  loop::Worker& slow_worker() override { return worker_; }
  report::HostInfo describe() const override {
    report::HostInfo host;
    host.hostname = "model";
    host.memory = memory();
    return host;
  }
  const cgroup::Group& pool() const override { return pool_; }
  Families* families() override { return nullptr; }
  void freeze_all() override { journal.emplace_back("freeze all"); }
  void thaw_all() override { journal.emplace_back("thaw all"); }
  void tell_signals(SignalObserver* observer) override { signals = observer; }
  void stop_guardian() override { journal.emplace_back("stop"); }
  void be_watched() override {}
  guardian::Heartbeat& heartbeat() override { return heartbeat_; }

  Set& set() { return *sets.back(); }  // the latest
  // Takes what was done so far.
  std::vector<std::string> done() { return std::exchange(journal, {}); }

  loop::FakeClock clock;
  Duration stalled{};  // the guardian has held the pool for
  std::uint64_t dropped_samples = 0;
  std::vector<std::string> journal;
  std::vector<Set*> sets;                 // that exist
  std::optional<Error> no_set;            // why none can be made
  std::function<void(Set&)> on_new_set;   // before it is used
  ChildObserver* asked = nullptr;         // by over()
  std::vector<report::IpcLeft> ipc_left;  // by whoever ends
  bool ipc_is_late = false;               // settled by a look at all processes
  IpcObserver* ipc_asked = nullptr;       // who waits for that
  SignalObserver* signals = nullptr;      // told what reaches Plimsoll
  std::optional<Program> program;         // of all sets that are made from now on
  std::function<Program(const guardian::SpawnRequest&)> program_of;  // the same, of each
  bool holds_removals = false;  // groups of programs stay until gone() is called

 private:
  loop::Loop loop_ = std::move(*loop::Loop::create());
  loop::Worker worker_{loop_};
  cgroup::Group pool_{"pool", {}};
  OomWatch oom_;
  guardian::Heartbeat heartbeat_ = std::move(*guardian::Heartbeat::make());
};

// A place whose process set is a model's.
class StandingSet : public Place {
 public:
  StandingSet(Host& host, std::string name) : host_(host), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  void take_in(Newcomer, std::function<void(const Result<void>&)> done) override { done({}); }
  void move_all(const std::shared_ptr<const Place>&, std::function<void()> done) override {
    done();
  }
  bool has(int) const override { return true; }
  bool is_populated() const override { return true; }
  bool hold() override { return true; }
  bool keep_held() override { return true; }
  void let_go() override { host_.journal.emplace_back("let go"); }
  void kill() override { host_.journal.emplace_back("kill"); }
  bool stops_are_seen() const override { return false; }
  std::unique_ptr<ProcessSet> process_set(ProcessSetObserver& observer) override {
    auto made = std::make_unique<Set>(host_, name_, observer);
    if (host_.on_new_set) host_.on_new_set(*made);
    return made;
  }
  void remove() override {}

 private:
  Host& host_;
  std::string name_;
};

inline Set::Set(Host& host, std::string name, ProcessSetObserver& observer)
    : host_(host), name_(std::move(name)), observer_(observer) {
  host_.sets.push_back(this);
}

inline Set::~Set() {
  std::erase(host_.sets, this);
  note("closed");
}

inline void Set::note(const std::string& what) { host_.journal.push_back(what); }

inline Result<guardian::ChildId> Set::spawn(guardian::SpawnRequest request) {
  if (no_spawn) return tl::unexpected(*no_spawn);
  note("spawn " + name_);
  child_ = guardian::ChildId{host_.sets.size()};
  lives_ = true;
  if (host_.program_of) host_.program = host_.program_of(request);
  if (!host_.program) return child_;
  if (request.stdio[1]) out_ = UniqueFd(::fcntl(*request.stdio[1], F_DUPFD_CLOEXEC, 3));
  timer_ = host_.timer([this, program = *host_.program] {
    born();
    timer_ = host_.timer([this, program] {
      [[maybe_unused]] const auto wrote =
          ::write(out_.get(), program.prints.data(), program.prints.size());
      out_ = {};
      exits(program.exit_code);
    });
    timer_->set(host_.now() + program.runs);
  });
  timer_->set(host_.now() + 1ms);
  return child_;
}

inline const counters::Sample& Set::sample(Instant, WallTime wall, counters::Level,
                                           counters::SampleState state) {
  seen.wall = wall;
  seen.state = state;
  return seen;
}

inline Instant Set::next_due() const { return host_.now() + gap; }

inline counters::JobUsage Set::finish(Instant, WallTime) {
  return {.totals = seen, .stat_at_peak = {}, .samples = {}, .unavailable = {}};
}

inline void Set::reap(reap::LeftBehind left_behind) {
  note(left_behind == reap::LeftBehind::list ? "reap" : "reap by force");
  if (is_vacant) empty();
  if (!host_.program) return;
  reap_timer_ = host_.timer([this] {
    if (lives_) is_killed();
    if (!is_emptied_) return empty();
    if (!host_.holds_removals) gone();
  });
  reap_timer_->set(host_.now() + 1ms);
}

inline void Set::born(UniqueFd pidfd) {
  if (!pidfd) pidfd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  observer_.on_started(
      {.id = child_, .pid = 4711, .birth = guardian::Birth::in_group, .pidfd = std::move(pidfd)});
}

inline void Set::not_born(guardian::SpawnStep step, std::errc code) {
  lives_ = false;
  observer_.on_start_failed({.id = child_, .step = step, .code = code});
}

inline void Set::ends(guardian::WaitStatus status, bool leaves_others) {
  lives_ = false;
  timer_.reset();
  out_ = {};
  observer_.on_exited(
      {.id = child_, .status = status, .usage = {}, .leaves_others = leaves_others});
}

inline void Set::exits(int code, bool leaves_others) {
  ends({guardian::WaitStatus::Kind::exited, code}, leaves_others);
}

inline void Set::is_killed(int signal) {
  ends({guardian::WaitStatus::Kind::signalled, signal}, false);
}

inline void Set::empty() {
  is_emptied_ = true;
  if (reap_timer_ != nullptr) reap_timer_->set(host_.now() + 1ms);
  observer_.on_empty();
}

inline void Set::stuck() {
  observer_.on_stuck({.since = 1s, .processes = {stone()}, .trouble = {}});
}

inline void Set::gone(const reap::Reaped& reaped) { observer_.on_gone(reaped); }

inline Ipc::~Ipc() { host_.ipc_asked = nullptr; }

inline std::optional<std::vector<report::IpcLeft>> Ipc::look(IpcObserver& observer) {
  if (!host_.ipc_is_late) return host_.ipc_left;
  host_.ipc_asked = &observer;
  return std::nullopt;
}

}  // namespace plimsoll::supervisor::model
