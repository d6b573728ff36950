#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cgroup/freeze.h"
#include "engine/attempt.h"
#include "engine/identity.h"
#include "engine/machine.h"
#include "engine/system_record.h"
#include "output/collector.h"
#include "policy/queue.h"
#include "record/report.h"

namespace plimsoll::engine {

struct BatchConfig {
  std::vector<policy::JobSpec> jobs;
  output::Config output;
  bool tag = false;  // put each job's arguments before its lines
  policy::QueueConfig queue;
  Duration kill_after = std::chrono::seconds(5);  // as AttemptRequest's
  std::string run_id;
};

// How far a run is.
struct Progress {
  std::size_t jobs = 0, running = 0, succeeded = 0, failed = 0, skipped = 0;
};

// What a run tells while it goes on; from the loop's thread. An empty function is not called.
struct BatchObserver {
  std::function<void(const Progress&)> progress;
  // A job has ended for good; `received` is how many bytes it has written.
  std::function<void(const policy::JobSpec&, const record::JobReport&, Bytes received)> ended;
  // Something that people should know: a retry, a stuck process, a full disk.
  std::function<void(const std::string&)> notice;
};

// Runs many jobs to their ends: carries out what the queue decides, and tells it what happens.
//
// Invariant between events: every job that the queue says is running has an attempt in live_; an
// attempt stays there until its group is removed and all its output received, when its job may be
// running again already.
class Batch {
 public:
  // `machine` must outlive this.
  Batch(Machine& machine, BatchConfig config, BatchObserver observer);
  ~Batch();

  // Returns when every job has ended and every group is removed. An error means that the guardian
  // was lost and everything was reaped.
  Result<record::RunSummary> run();

  // No more jobs are started; called again, those that run are killed (Ctrl-C).
  void interrupt();

 private:
  struct Live;
  struct Book;
  using LiveKey = std::pair<JobId, unsigned>;

  [[nodiscard]] const policy::JobSpec& spec_of(JobId job) const;
  void turn();
  void carry_out(const policy::Decision& decision);
  void give_up_on(JobId job);
  void discard_output_of(JobId job);
  void start(const policy::Start& start);
  [[nodiscard]] Attempt::Callbacks callbacks_of(LiveKey key);
  void on_over(LiveKey key, const policy::AttemptEnd& end);
  void on_gone(LiveKey key, const AttemptResult& result);
  void on_received(LiveKey key, const output::Received& received);
  void settle(LiveKey key);
  void account(const AttemptResult& result);
  void end_job(JobId job, policy::Outcome outcome, const std::string& reason, const Live* last);
  void on_output_lost(const output::Lost& lost);
  Result<void> start_collector();
  Result<output::Opened> open_output(const policy::JobSpec& job, unsigned attempt);
  void on_signal(const guardian::Signalled& signal);
  void pause_all();
  void resume_all();
  void follow_timeouts();
  void tell_progress();
  void notice(const std::string& text);
  record::RunSummary summarise();

  Machine& machine_;
  BatchConfig config_;
  std::unordered_map<JobId, std::size_t> places_;  // of jobs in config_.jobs
  BatchObserver observer_;
  record::HostInfo host_;
  policy::Queue queue_;
  Instant begun_{};
  UniqueFd null_input_;
  SystemRecord system_;
  loop::Timer wake_;
  std::unique_ptr<output::Collector> collector_;  // before the captures, which it must outlive
  std::map<LiveKey, std::unique_ptr<Live>> live_;
  std::vector<std::unique_ptr<Live>> finished_;  // destroyed outside their own callbacks
  std::unordered_map<JobId, Book> books_;
  Identities identities_;
  std::optional<cgroup::FreezeGuard> frozen_;  // while the terminal has stopped us
  Progress progress_;
  record::RunSummary summary_;
  bool drained_ = false;
};

}  // namespace plimsoll::engine
