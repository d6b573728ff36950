#include "govern/steps.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "govern/job_control.h"
#include "govern/step.h"
#include "kernel/procfs/table.h"
#include "supervisor/reporting.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::govern {
namespace {

// The first words of the names of places.
constexpr std::string_view kPlace = "step";
constexpr std::string_view kLaunchedPlace = "command";  // CommandService's

// Whether the process lives, or nobody has waited for it.
bool is_still_there(const procfs::Id& process) {
  const auto now = procfs::stat_of(process.pid);
  return now && now->id == process;
}

UniqueFd open_pidfd(int pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

}  // namespace

Steps::Steps(supervisor::Supervisor& supervisor, supervisor::HostScheduler& scheduler,
             const Drivers& drivers, StepsObserver& observer)
    : supervisor_(supervisor),
      scheduler_(scheduler),
      tree_(drivers, *this),
      observer_(observer),
      host_(supervisor.describe()),
      small_(supervisor.loop(), *this),
      launched_(
          supervisor, scheduler,
          {.tree = tree_,
           .counts = counts_,
           .numbers = numbers_,
           .observer = observer,
           .may_be_small = [this](const auto& step) { return small_peak(step).has_value(); }}),
      mover_(supervisor.loop()) {}

Steps::~Steps() = default;

Result<std::shared_ptr<supervisor::Place>> Steps::make_drivers(const std::string& name) {
  auto place = supervisor_.make_place_beside_pool(name, mover_);
  if (!place) return pass(std::move(place));
  return std::shared_ptr<supervisor::Place>(std::move(*place));
}

void Steps::begin(ExecListener* listener, std::shared_ptr<supervisor::Place> drivers) {
  listener_ = listener;
  drivers_ = std::move(drivers);
  launched_.admit_from(drivers_);
  has_root_ = is_ending_ = false;
}

const policy::JobSpec* Steps::spec_of(JobId step) const {
  const auto found = steps_.find(step);
  return found == steps_.end() ? launched_.spec_of(step) : &found->second->spec;
}

std::optional<ProcessLookup::Process> Steps::find(int pid) {
  const auto stat = procfs::stat_of(pid);
  if (!stat) return std::nullopt;
  return Process{stat->id, stat->parent};
}

std::optional<JobId> Steps::step_of(int pid) {
  const std::string name = supervisor_.place_in_pool(pid);
  std::string_view rest = name;
  const std::string_view kind = take_until(rest, '-');
  if (kind != kPlace && kind != kLaunchedPlace) return std::nullopt;
  const auto number = to_u64(rest);
  return number ? std::optional(JobId{*number}) : std::nullopt;
}

void Steps::answer(Pending pending) {
  if (pending) listener_->answer(*pending);
}

void Steps::answer(Step& step) { answer(std::exchange(step.pending, std::nullopt)); }

void Steps::on_blind(const Error& why) {
  is_blind_ = true;
  observer_.on_blind(why);
}

// Below the guardian there may be orphans that never were the command's, and whoever has left it.
bool Steps::lives_here(int pid) const {
  return drivers_->has(pid) || !supervisor_.place_in_pool(pid).empty();
}

// Of whoever listens in vain only those are heeded that are seen: the others are among them.
void Steps::on_exec(Pending pending, const Exec& exec) {
  if (is_ending_ || (pending && is_blind_)) return answer(pending);
  if (!pending && !(is_still_there(exec.process) && lives_here(exec.process.pid))) return;
  if (!has_root_ && (!exec.is_done || observer_.is_command(exec.process.pid))) {
    has_root_ = true;
    tree_.set_root(exec);
  }
  const Meaning meaning = tree_.exec(exec);
  if (meaning.released) {
    --counts_.begun;
    if (small_.take(*meaning.released)) {
      small_execs_.erase(*meaning.released);
      --counts_.small;
    }
    // Its processes leave its place first, this one among them.
    if (steps_.contains(*meaning.released) || launched_.has(*meaning.released)) {
      return release(*meaning.released,
                     [this, pending, exec, meaning] { follow(pending, exec, meaning); });
    }
  }
  follow(pending, exec, meaning);
}

void Steps::follow(Pending pending, const Exec& exec, const Meaning& meaning) {
  const bool goes_on = meaning.what == Meaning::What::goes_on;
  const bool is_first = meaning.what == Meaning::What::begins ||
                        (goes_on && (exec.is_done || launched_.has(*meaning.step)));
  if (drivers_first_ && is_first) become_victim(exec.process.pid);
  if (meaning.what == Meaning::What::begins) return begin_step(pending, exec);
  if (meaning.what == Meaning::What::goes_on) {
    const auto step = steps_.find(*meaning.step);
    launched_.goes_on(*meaning.step, exec);
    if (step != steps_.end()) step->second->place->has_seen(exec.process);
    if (step != steps_.end() && may_hold_tokens(exec)) step->second->may_hold_tokens = true;
    // Whoever does the work of the step says what it is.
    const auto says = [&exec](const Exec& first) {
      return first.process == exec.process && !is_shell_text(first);
    };
    if (step != steps_.end() && says(step->second->exec)) {
      step->second->spec.command = spec_for(*meaning.step, exec).command;
    }
    const auto small = small_execs_.find(*meaning.step);
    if (small != small_execs_.end() && says(small->second)) small->second = exec;
  }
  if (meaning.what == Meaning::What::nothing) drivers_->has_seen(exec.process);
  answer(pending);
}

void Steps::begin_step(Pending pending, const Exec& exec) {
  auto pidfd = open_pidfd(exec.process.pid);
  if (!pidfd || !is_still_there(exec.process)) return answer(pending);  // it is gone
  const JobId id = numbers_.next();
  ++counts_.begun;
  tree_.begun(id, exec);
  auto step = step_of_exec(id, exec, std::move(pidfd));
  const auto spare = spares_.find(exec.process.pid);
  const bool has_place = spare != spares_.end() && spare->second.process == exec.process;
  const auto peak = has_place ? std::nullopt : small_peak(step->spec);
  if (peak && !small_.is_checked()) {
    ++counts_.small;
    small_execs_.emplace(id, exec);
    small_.add({.id = id,
                .pid = exec.process.pid,
                .pidfd = std::move(step->pidfd),
                .peak = *peak,
                .since = loop::now()});
    return answer(pending);
  }
  step->pending = pending;
  step->queued = supervisor::wall_now();
  std::shared_ptr<supervisor::Place> its;
  if (spare != spares_.end()) {
    its = std::move(spare->second.place);
    spares_.erase(spare);
    if (!has_place) std::exchange(its, nullptr)->remove();
  }
  place(std::move(step), std::move(its));
}

// `its`: that it is in already, by an earlier exec; null: a new one.
void Steps::place(std::unique_ptr<Step> step, std::shared_ptr<supervisor::Place> its) {
  const JobId id = step->id;
  const bool is_there = its != nullptr;
  if (!is_there) {
    auto made = supervisor_.make_place_in_pool(std::string(kPlace) + "-" + step->spec.name, mover_);
    if (!made) {
      tell_of_places(made.error());
      tree_.ended(id);
      return answer(*step);
    }
    its = std::move(*made);
  }
  step->place = std::move(its);
  Step& placed = *steps_.emplace(id, std::move(step)).first->second;
  ++on_the_way_;
  if (is_there) return moved(id, {});
  placed.place->take_in(newcomer(placed),
                        [this, id](const Result<void>& result) { moved(id, result); });
}

// A process that stands in an exec has no children yet that would have to come with it; one that
// was let go without a place may have, and had some that are no part of the step if it was a
// driver.
supervisor::Newcomer Steps::newcomer(const Step& step) const {
  const int pid = step.exec.process.pid;
  UniqueFd fd(::fcntl(step.pidfd.get(), F_DUPFD_CLOEXEC, 0));
  if (step.pending) return {.pid = pid, .pidfd = std::move(fd)};
  std::set<procfs::Id> apart = tree_.others(step.id);
  if (drivers_first_ && step.exec.is_done) {
    for (const int each : procfs::family_of(pid, apart)) become_victim(each);
  }
  return {.pid = pid,
          .pidfd = std::move(fd),
          .below = supervisor::Below::come,
          .apart = std::move(apart)};
}

void Steps::moved(JobId id, const Result<void>& result) {
  --on_the_way_;
  Step& step = *steps_.at(id);
  if (result && !is_ending_) return step.is_driver ? turn_back(step) : enter(step);
  const bool is_gone = !result && result.error().gone();
  if (is_gone && step.exec.is_done && !step.is_driver) {
    --counts_.begun;
    observer_.on_missed(tree_.inside(id));
  }
  if (!result && !is_gone) tell_of_places(result.error());
  if (result) step.place->kill();
  answer(step);
  step.place->remove();
  drop(id);
}

void Steps::tell_of_places(const Error& why) {
  tell_once(told_of_places_,
            "some steps run without a group of their own, and are not held: " + why.message());
}

// If the scheduler starts it at once, it is never stopped.
void Steps::enter(Step& step) {
  const JobId id = step.id;
  step.state = Step::State::waiting;
  step.waiting_since = supervisor_.now();
  step.waits_in_exec = step.place->stops_are_seen() && is_job_of_shell(step.exec.process.pid);
  if (step.waits_in_exec) step.place->exempt();
  step.spec.pausable = !step.waits_in_exec;
  scheduler_.enter(step.spec, *this);
  const auto found = steps_.find(id);
  if (found == steps_.end()) return;
  if (found->second->state == Step::State::waiting) return hold(*found->second);
  answer(*found->second);
}

void Steps::hold(Step& step) {
  const JobId id = step.id;
  auto watch = supervisor_.loop().watch(step.pidfd.get(), EPOLLIN, [this, id](std::uint32_t) {
    const auto found = steps_.find(id);
    if (found != steps_.end()) main_ended(*found->second);
  });
  if (watch) step.death = std::move(*watch);
  if (!step.waits_in_exec) return stop(step);
  if (step.pending) count_held(step);
}

void Steps::count_held(Step& step) {
  if (!std::exchange(step.was_held, true)) ++counts_.held;
}

// Its exec goes on stopped, so that it stops before the new program's first instruction. An exec
// that fails after all would leave the old program stopped: a child of vfork(2), and with it its
// parent.
void Steps::stop(Step& step) {
  const JobId id = step.id;
  const bool stands_in_exec = step.pending.has_value();
  if (stands_in_exec) step.before = mark_of(step.exec.process.pid);
  // A signal ends the wait for the answer where the kernel lets it.
  if (stands_in_exec && listener_->signals_interrupt()) answer(step);
  step.is_held = step.place->hold();
  step.held_since = loop::now();
  answer(step);
  if (!step.is_held) return;
  count_held(step);
  if (!stands_in_exec) return;
  step.birth = supervisor_.loop().timer([this, id] { look_at_birth(id); });
  step.birth.set(loop::now() + kBirthLook);
}

void Steps::look_at_birth(JobId id) {
  const auto found = steps_.find(id);
  if (found == steps_.end()) return;
  Step& step = *found->second;
  if (step.state != Step::State::waiting || !step.is_held) return;
  if (!step.place->keep_held()) {
    const Instant now = loop::now();
    if (now - step.held_since < kBirthPatience) step.birth.set(now + kBirthLook);
    return;
  }
  const auto now = mark_of(step.exec.process.pid);
  if (!now || !step.before || *now != *step.before) return;
  if (spares_.size() < kSparesMax) {
    spares_[step.exec.process.pid] = {step.exec.process, step.place};
  }
  if (std::exchange(step.was_held, false)) --counts_.held;
  --counts_.begun;
  withdraw(step, "its program could not be executed");
}

std::optional<std::size_t> Steps::token_holders() {
  const bool sees_all = !is_blind_ && !told_of_places_ && !launched_.may_hold_tokens();
  auto holders = sees_all ? tree_.drivers_below() : std::nullopt;
  if (holders) *holders += small_.size();
  for (const auto& [id, step] : steps_) {
    if (step->may_hold_tokens) return std::nullopt;
    if (holders && !step->is_over) ++*holders;
  }
  return holders;
}

void Steps::let_go(Step& step) {
  if (std::exchange(step.is_held, false)) step.place->let_go();
  answer(step);
  step.birth = {};
  step.death = {};
}

void Steps::tell_once(bool& told, const std::string& text) {
  if (!std::exchange(told, true)) observer_.on_notice(text);
}

void Steps::drop(JobId id) {
  tree_.ended(id);
  steps_.erase(id);
}

supervisor::Prepared Steps::prepare(const policy::Start& start) {
  Step& step = *steps_.at(start.job);
  step.state = Step::State::running;
  step.death = {};
  step.birth = {};
  step.waited += supervisor_.now() - step.waiting_since;
  step.is_held = false;  // when its attempt has begun
  if (step.waits_in_exec) answer(step);
  supervisor::Prepared prepared;
  supervisor::AttemptRequest& request = prepared.request;
  request.group = step.place->name();
  supervisor::AdoptedProcess process{.pid = step.exec.process.pid, .pidfd = std::move(step.pidfd)};
  request.standing.emplace(
      supervisor::StandingPlace{.place = step.place, .process = std::move(process)});
  return prepared;
}

void Steps::on_job_over(const policy::JobOver& over) {
  Step& step = *steps_.at(over.job);
  if (!over.end) return drop(over.job);
  step.is_over = true;
}

void Steps::on_gone(const supervisor::AttemptGone& gone) {
  Step& step = *steps_.at(gone.key.job);
  if (step.is_driver) return drop(gone.key.job);
  const supervisor::JobEnd end{.job = step.spec,
                               .queued = step.queued,
                               .held = step.waited,
                               .paused = gone.result.paused,
                               .attempts = {supervisor::short_report_of(gone.result)},
                               .last = &gone.result,
                               .outcome = gone.result.end.outcome,
                               .reason = gone.result.reason,
                               .machine = gone.machine};
  observer_.on_step_ended(step.spec, supervisor::report_of(end, host_));
  drop(gone.key.job);
}

void Steps::on_stuck(supervisor::AttemptKey key, const reap::Stuck& stuck) {
  observer_.on_notice("step " + steps_.at(key.job)->spec.name + ": " +
                      supervisor::stuck_text(stuck));
}

}  // namespace plimsoll::govern
