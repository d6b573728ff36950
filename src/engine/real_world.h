#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/attempt.h"
#include "engine/machine.h"
#include "engine/pool_sampler.h"
#include "engine/system_record.h"
#include "policy/world.h"

namespace plimsoll::engine {

// One attempt of a job of this run.
struct AttemptKey {
  JobId job{};
  unsigned attempt = 1;
  auto operator<=>(const AttemptKey&) const = default;
};

// What is to be started, or why it can't be.
struct Prepared {
  AttemptRequest request;
  UniqueFd out, err;                   // open until the request is on its way
  std::optional<std::string> refusal;  // then the attempt ends at once, `failed_to_start`
};

struct RealWorldHooks {
  std::function<Prepared(const policy::Start&)> prepare;
  // Before the observer is told.
  std::function<void(AttemptKey, const policy::AttemptEnd&)> over;
  // The group is removed as well; after `over`.
  std::function<void(AttemptKey, const AttemptResult&)> gone;
  std::function<void(AttemptKey, const reap::Stuck&)> stuck;
};

// The real machine as the conductor has it: attempts in groups of their own, looked at and acted
// upon.
class RealWorld : public policy::World {
 public:
  // All of them must outlive this. `observer` is called from the loop only.
  RealWorld(Machine& machine, SystemRecord& system, policy::WorldObserver& observer,
            RealWorldHooks hooks);
  ~RealWorld() override;

  [[nodiscard]] Instant now() const override;
  void start(const policy::Start& start) override;
  void freeze(JobId job) override;
  void thaw(JobId job) override;
  void reclaim(std::optional<JobId> job, Bytes amount) override;
  void kill(JobId job, policy::Outcome cause, std::string reason) override;
  void wake_at(std::optional<Instant> when) override;

  // The whole pool was frozen by somebody else, or thawed: between the two, this world's time
  // stands still.
  void suspend_all();
  void resume_all();

  // Attempts whose groups are not removed yet.
  [[nodiscard]] std::size_t attempts() const { return attempts_.size(); }
  [[nodiscard]] Bytes used_peak() const { return pool_.peak(); }

  // Frees what has ended. Not from within a callback of an attempt.
  void collect() { finished_.clear(); }

  // So often the pool and the machine are looked at while anything runs.
  static constexpr Duration kLookInterval = std::chrono::milliseconds(100);

 private:
  [[nodiscard]] Attempt* running(JobId job);
  void look();
  void on_looked(JobId job, const Attempt& attempt, const measure::Sample& sample);
  void on_over(AttemptKey key, const policy::AttemptEnd& end);
  void on_gone(AttemptKey key, const AttemptResult& result);

  Machine& machine_;
  SystemRecord& system_;
  policy::WorldObserver& observer_;
  RealWorldHooks hooks_;
  PoolSampler pool_;
  std::map<AttemptKey, std::unique_ptr<Attempt>> attempts_;
  std::unordered_map<JobId, Attempt*> running_;     // of attempts_: not over yet
  std::vector<std::unique_ptr<Attempt>> finished_;  // destroyed outside their own callbacks
  std::optional<Instant> stopped_at_;               // by the loop's clock, as these two
  Duration stood_still_{};
  std::optional<Instant> wake_;  // by this world's clock
  loop::Timer wake_timer_;
  loop::Timer look_timer_;
};

}  // namespace plimsoll::engine
