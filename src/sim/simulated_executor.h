#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "policy/governor/room_mark.h"
#include "policy/governor/sample_interval.h"
#include "policy/scheduler/executor.h"
#include "sim/chance.h"
#include "sim/curves.h"
#include "sim/machine_config.h"
#include "sim/machine_sampler.h"
#include "sim/motion.h"

namespace plimsoll::sim {

// What a simulation has come to so far.
struct Tally {
  std::size_t done = 0;         // jobs that exited by themselves
  std::uint64_t starts = 0;     // attempts
  std::uint64_t oom_kills = 0;  // by the kernel
  std::uint64_t evictions = 0;
  std::uint64_t pauses = 0;       // jobs that came to stand in the freezer
  double lost_cpu_seconds = 0;    // of attempts that did not exit by themselves
  double lost_curve_seconds = 0;  // what these had covered of their curves
  double cpu_seconds = 0;         // of all attempts
  double mib_seconds = 0;         // the integral of the pool's use
  double used_peak_mib = 0;
  Duration last_end{};  // when the last attempt was over, since the start of the simulation
};

// Why run() came back.
enum class Stopped : std::uint8_t {
  quiet,        // nothing runs, and nobody has asked to be woken
  idle,         // nothing has moved for kIdleMax, or kTurnsMax times at the same moment
  thrown_away,  // attempts that came to nothing cost more than kLostShareMax of the whole work
  too_long      // it takes more than kSimulatedMax; where no policy could do it in less, at once
};

// What a record or a file of curves says may be anything, and each second of it is looked at
// several times: a week takes some seconds. Longer than any run worth simulating. A guess.
inline constexpr int kSimulatedDaysMax = 7;
inline constexpr Duration kSimulatedMax = std::chrono::hours(24 * kSimulatedDaysMax);

// A policy that has thrown away so many times the whole work will not get there.
inline constexpr double kLostShareMax = 3;
// So many attempts of one job: it is killed each time before it has done any work to speak of.
inline constexpr std::uint64_t kAttemptsMax = 100'000;
// Longer than any wait of a policy that still means to start or thaw something.
inline constexpr Duration kIdleMax = std::chrono::hours(1);
// More than happens at one moment: a policy that asks to be woken at once, again and again.
inline constexpr std::uint64_t kTurnsMax = 1'000'000;

// A machine on simulated time, from the beginning of Instant: cores, memory up to a line and what
// happens there, a freezer, swap, and a sampler that is late. See src/sim/README.md for what it
// models and machine_config.h for its constants.
//
// Deterministic: the same jobs, machine and verbs give the same course. One thread. A job's `used`
// is all of its curve's memory; clean page cache is not modelled, so reclaim() without a job does
// nothing.
class SimulatedExecutor final : public policy::Executor {
 public:
  // `jobs[i].spec.id` is i + 1; they must outlive this.
  SimulatedExecutor(const MachineConfig& config, std::span<const SimJob> jobs);
  SimulatedExecutor(const SimulatedExecutor&) = delete;
  SimulatedExecutor& operator=(const SimulatedExecutor&) = delete;

  // Lets time pass and tells `observer` what happens, until nothing more will. To begin with, the
  // observer (or whoever made it) has started something or asked for a wake. Once.
  Stopped run(policy::ExecutorObserver& observer);

  // policy::Executor. Jobs of another list are a mistake; so is starting one that runs.
  [[nodiscard]] Instant now() const override { return Instant(now_); }
  void start(const policy::Start& start) override;
  void freeze(JobId job) override;
  void thaw(JobId job) override;
  void reclaim(std::optional<JobId> job, Bytes amount) override;
  void kill(JobId job, policy::Outcome cause, std::string reason) override;
  void look_soon() override;
  void wake_at(std::optional<Instant> when) override;

  // What is true at this moment, which no policy on a real machine would know: for tests and for
  // policies that know all.
  [[nodiscard]] const Motion& motion() const { return motion_; }
  [[nodiscard]] bool is_frozen(JobId job) const;
  [[nodiscard]] Bytes used() const;
  [[nodiscard]] Bytes swap_free() const;
  [[nodiscard]] std::size_t attempts_alive() const { return alive_; }
  // It has exited by itself.
  [[nodiscard]] bool is_done(JobId job) const;

  // Of all until now.
  [[nodiscard]] Tally tally() const;

 private:
  enum class State : std::uint8_t {
    absent,
    starting,
    running,
    frozen,
    returning,  // thawed, its memory comes back from swap
    dying,      // killed, its memory not yet back
    ending,     // it has exited, which nobody knows yet
  };

  struct Attempt {
    State state = State::absent;
    bool freeze_wanted = false;
    std::uint32_t epoch = 0;    // of the attempt: what was meant for an earlier one is void
    std::uint32_t freezes = 0;  // requests and their withdrawals: what came before is void
    std::uint32_t resumes = 0;  // likewise for its samples
    policy::Outcome cause{};    // of the kill
    Duration begun{};           // asked for
    Duration ran{};             // until resumed
    Duration resumed{};         // if it is not frozen
    double reclaim_mib = 0;     // to be pushed out still
    policy::SampleInterval samples{};
    policy::JobSample last{};  // look
    bool was_sampled = false;
    std::uint64_t attempts = 0;
    bool done = false;  // it is over for good
  };

  enum class What : std::uint8_t {
    begin,
    frozen,
    push_out,
    take_back,
    dead,
    ended,
    sample,
    machine_sample,
    throttle,
  };

  struct Event {
    Duration at{};
    std::uint64_t sequence = 0;  // the order of what is due at the same moment
    What what{};
    std::size_t job = 0;
    std::uint32_t epoch = 0;
    std::uint32_t turn = 0;  // `freezes` or `resumes` of the attempt, then
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };

  // What was seen, on its way to the observer.
  struct Delivery {
    Duration at{};
    std::optional<std::size_t> job{};  // absent: of the machine
    std::uint32_t epoch = 0;
    policy::JobSample job_sample{};
    policy::MachineSample machine_sample{};
  };

  void schedule(What what, Duration after);  // of the machine
  void schedule(What what, Duration after, std::size_t job);
  [[nodiscard]] static std::uint32_t turn_of(const Attempt& attempt, What what);
  [[nodiscard]] bool is_void(const Event& event) const;
  void mind_machine(What what);
  void carry_out(const Event& event, policy::ExecutorObserver& observer);
  void begin(std::size_t job);
  void freeze_now(std::size_t job);
  void go_on(std::size_t job);
  void push_out(std::size_t job);
  void take_back(std::size_t job);
  void over(std::size_t job, const policy::AttemptEnd& end, policy::ExecutorObserver& observer);

  [[nodiscard]] std::optional<Duration> next_moment();
  [[nodiscard]] double seconds_to(double mib) const;
  void pass_to(Duration moment, policy::ExecutorObserver& observer);
  void watch_line(policy::ExecutorObserver& observer);
  void end_reached();
  void hold_limit(policy::ExecutorObserver& observer);
  void kill_largest(policy::ExecutorObserver& observer);
  void set_throttle();
  void deliver(policy::ExecutorObserver& observer);
  [[nodiscard]] bool is_idle(Duration next);
  [[nodiscard]] bool has_thrown_away_too_much() const;

  [[nodiscard]] Duration ran(const Attempt& attempt) const;
  void sample(std::size_t job);
  void sample_machine();
  void look_at(std::size_t job);
  void sample_jobs();
  [[nodiscard]] policy::JobSample seen_of(std::size_t job);

  MachineConfig config_;
  std::span<const SimJob> jobs_;
  Motion motion_;
  std::vector<Attempt> attempts_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<Delivery> deliveries_;  // by `at`, which rises: all take equally long
  std::uint64_t sequence_ = 0;
  Duration now_{};
  std::optional<Duration> wake_;
  std::size_t alive_ = 0;
  std::optional<Duration> idle_since_;
  std::uint64_t turns_at_now_ = 0;
  double line_mib_, kill_mib_, swap_free_mib_;
  bool throttling_ = false;
  bool past_line_ = false;
  std::optional<Duration> last_alarm_;
  bool machine_sampled_ = false;  // its next sample is scheduled
  Chance chance_;
  MachineSampler machine_sampler_;
  policy::RoomMark room_mark_;
  std::size_t sampled_ = 0;  // jobs, with the last look at the machine
  double work_cpu_ = 0, work_seconds_ = 0;
  std::uint64_t attempts_most_ = 0;
  std::vector<std::size_t> ended_;
  Tally tally_;
};

}  // namespace plimsoll::sim
