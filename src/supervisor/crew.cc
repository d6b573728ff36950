#include "supervisor/crew.h"

#include <algorithm>

#include "base/check.h"
#include "base/quantity.h"
#include "policy/governor/within_reach.h"
#include "supervisor/reporting.h"

namespace plimsoll::supervisor {

// Sends what is decided about a job to where it runs.
class Crew::Crossroads : public policy::World {
 public:
  explicit Crossroads(Crew& crew) : crew_(crew) {}

  [[nodiscard]] Instant now() const override { return crew_.world_.now(); }
  void start(const policy::Start& start) override {
    if (crew_.is_guest(start.job)) {
      ++crew_.guests_running_;
      crew_.watch_guests();
    }
    side_of(start.job).start(start);
  }
  void freeze(JobId job) override { side_of(job).freeze(job); }
  void thaw(JobId job) override { side_of(job).thaw(job); }
  void reclaim(std::optional<JobId> job, Bytes amount) override {
    if (job) return side_of(*job).reclaim(job, amount);
    crew_.world_.reclaim(job, amount);
  }
  void kill(JobId job, policy::Outcome cause, std::string reason) override {
    side_of(job).kill(job, cause, std::move(reason));
  }
  void wake_at(std::optional<Instant> when) override { crew_.world_.wake_at(when); }

 private:
  policy::World& side_of(JobId job) {
    if (crew_.is_guest(job)) return *crew_.guest_world_;
    return crew_.world_;
  }

  Crew& crew_;
};

Crew::Crew(Machine& machine, policy::Estimator& estimator, policy::ConductorConfig config,
           CrewObserver observer)
    : machine_(machine),
      reserve_(config.governor.reserve),
      line_(config.governor.line),
      cores_(config.governor.cores),
      observer_(std::move(observer)),
      system_(machine),
      conductor_(std::move(config), estimator,
                 {.event = [this](const policy::Event& event) { on_event(event); },
                  .over = [this](const policy::JobOver& over) { on_conducted(over); },
                  .learnt =
                      [this](const policy::Experience& experience) {
                        if (observer_.learnt) observer_.learnt(experience);
                      }}),
      world_(machine, system_, conductor_,
             {.prepare = [this](const policy::Start& start) { return prepare(start); },
              .over = [this](AttemptKey key, const policy::AttemptEnd&) { on_over(key); },
              .gone = [this](AttemptKey key, const AttemptResult& result) { on_gone(key, result); },
              .stuck =
                  [this](AttemptKey key, const reap::Stuck& stuck) {
                    charge_of(key.job).owner->on_stuck(key, stuck);
                  },
              .bounds = [this] { return monitor::Bounds{conductor_.line(), reserve_}; },
              .weakened = [this](const monitor::Status& status) { notice(text_of(status)); }}),
      crossroads_(std::make_unique<Crossroads>(*this)) {
  system_.on_sample([this](const counters::SystemSample& sample) {
    for (auto& [key, span] : spans_) span.observe(sample);
  });
}

Crew::~Crew() = default;

void Crew::enter(const policy::JobSpec& job, JobOwner& owner, std::optional<Bytes> input) {
  const auto [place, is_new] = charges_.emplace(job.id, Charge{.owner = &owner});
  PLIMSOLL_CHECK(is_new);
  conductor_.enter(job, input);
}

// The present line may be but a share of it.
policy::JobSpec Crew::within_reach(const policy::JobSpec& job) const {
  return policy::within_reach(job, std::max(line_, conductor_.line()), cores_);
}

void Crew::enter_guest(const policy::JobSpec& job, JobOwner& owner) {
  PLIMSOLL_CHECK(guest_world_ != nullptr);
  const auto [place, is_new] = charges_.emplace(job.id, Charge{.owner = &owner, .is_guest = true});
  PLIMSOLL_CHECK(is_new);
  conductor_.enter(job);
}

void Crew::guest_seen(JobId job, const policy::JobSample& sample) {
  if (!is_guest(job)) return;
  guest_uses(job, sample.used);
  conductor_.on_job(job, sample);
}

void Crew::guest_over(JobId job, const policy::AttemptEnd& end) {
  if (!is_guest(job)) return;
  --guests_running_;
  watch_guests();
  guest_uses(job, {});
  conductor_.on_over(job, end);
}

bool Crew::is_guest(JobId job) const {
  const auto found = charges_.find(job);
  return found != charges_.end() && found->second.is_guest;
}

// Their memory is in no counter of the pool's.
void Crew::guest_uses(JobId job, Bytes used) {
  Charge& charge = charge_of(job);
  guests_used_ = guests_used_ - charge.used + used;
  charge.used = used;
  world_.guests_use(guests_used_);
}

void Crew::watch_guests() { world_.watch_for_guests(guests_running_); }

// Every one is in the report (WallReport); on a busy machine there are many that nobody notices.
constexpr Duration kStallTold = std::chrono::seconds(1);

void Crew::begin() {
  wall_ = std::make_unique<Wall>(machine_, conductor_.line(), [this](Duration stalled) {
    if (stalled < kStallTold) return;
    notice("Plimsoll could not run for " + format_duration(stalled) +
           "; its jobs were paused for that time");
  });
  conductor_.begin(*crossroads_);
}

Result<void> Crew::run_once(Duration timeout) {
  auto ran = machine_.run_once(timeout);
  world_.collect();
  return ran;
}

void Crew::suspend_all() {
  // First: from then on the guardian thaws nothing that it may hold.
  wall_->lift();
  machine_.freeze_all();
  world_.suspend_all();
}

void Crew::resume_all() {
  machine_.thaw_all();
  wall_->restore();
  world_.resume_all();
}

Prepared Crew::prepare(const policy::Start& start) {
  Charge& charge = charge_of(start.job);
  spans_.emplace(AttemptKey{start.job, start.attempt}, counters::MachineSpan(system_.now()));
  ++charge.groups;
  return charge.owner->prepare(start);
}

void Crew::on_event(const policy::Event& event) {
  if (event.kind == policy::EventKind::line && wall_) {
    for (const auto& [name, value] : event.numbers) {
      if (name == "line_bytes") wall_->set_line(to_bytes(value));
    }
  }
  if (observer_.event) observer_.event(event);
  if (!event.job) return;
  const auto found = charges_.find(*event.job);
  if (found != charges_.end()) found->second.owner->on_event(event);
}

void Crew::on_over(AttemptKey key) {
  spans_.at(key).observe(system_.now());
  charge_of(key.job).owner->on_over(key);
}

void Crew::on_conducted(const policy::JobOver& over) {
  Charge& charge = charge_of(over.job);
  charge.ended = !over.requeue;
  charge.owner->on_conducted(over);
  forget_if_done(over.job);
}

void Crew::on_gone(AttemptKey key, const AttemptResult& result) {
  Charge& charge = charge_of(key.job);
  if (const auto text = got_away_text(result.left_behind); !text.empty()) notice(text);
  if (result.group_left) notice(left_group_text(*result.group_left));
  --charge.groups;
  const auto span = spans_.extract(key);
  charge.owner->on_gone({.key = key, .result = result, .machine = span.mapped().usage()});
  forget_if_done(key.job);
}

void Crew::forget_if_done(JobId job) {
  const Charge& charge = charge_of(job);
  if (charge.ended && charge.groups == 0) charges_.erase(job);
}

void Crew::notice(const std::string& text) {
  if (observer_.notice) observer_.notice(text);
}

}  // namespace plimsoll::supervisor
