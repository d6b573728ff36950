#include "supervisor/light/command_service.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "supervisor/capacity.h"

namespace plimsoll::supervisor {
namespace {

// Beside those of jobs, which are reckoned with two groups each and mostly have one.
std::size_t commands_by_descriptors() {
  const auto limit = descriptor_limit();
  if (!limit) return CommandService::kCommandsMax;
  return std::clamp<std::size_t>(jobs_by_descriptors(*limit) / 4, 1, CommandService::kCommandsMax);
}

}  // namespace

// One that never began, and its place, until that is removed. Held till nobody lives in it, so
// that nothing runs on between the decision and the kill.
class CommandService::Discarded : private ProcessSetObserver {
 public:
  Discarded(CommandService& service, JobId command, Placed placed)
      : service_(service),
        command_(command),
        name_(service.commands_.spec_of(command)->name),
        place_(std::move(placed.place)),
        process_set_(place_->process_set(observer())) {}

  void start() { process_set_->reap(reap::LeftBehind::skip); }

 private:
  ProcessSetObserver& observer() { return *this; }
  void on_started(guardian::Started /*started*/) override {}
  void on_start_failed(const guardian::StartFailed& /*failure*/) override {}
  void on_exited(const guardian::Exited& /*exited*/) override {}
  void on_oom() override {}
  void on_empty() override { place_->let_go(); }
  void on_stuck(const reap::Stuck& stuck) override { service_.owner_.command_stuck(name_, stuck); }
  void on_gone(const reap::Reaped& /*reaped*/) override { service_.removed(command_); }

  CommandService& service_;
  JobId command_;
  std::string name_;
  std::shared_ptr<Place> place_;
  std::unique_ptr<ProcessSet> process_set_;
};

CommandService::CommandService(Supervisor& supervisor, HostScheduler& host_scheduler,
                               CommandsOwner& owner)
    : supervisor_(supervisor),
      host_scheduler_(host_scheduler),
      owner_(owner),
      end_timer_(supervisor.loop().timer([this] { end_all_due(); })),
      commands_(*this, commands_by_descriptors()),
      mover_(supervisor.loop()),
      server_(supervisor.loop(), commands_) {}

CommandService::~CommandService() = default;

void CommandService::place(JobId command, int pid) {
  owner_.command_begins(*commands_.spec_of(command), pid);
  Placed& placed_one = placed_[command];
  placed_one.pid = pid;
  placed_one.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!placed_one.pidfd) return placed(command, fail_errno("open the command's process"));
  const auto number = std::to_string(static_cast<std::uint64_t>(command));
  auto place = supervisor_.make_place_in_pool("command-" + number, mover_);
  if (!place) return placed(command, pass(std::move(place)));
  placed_one.place = std::move(*place);
  UniqueFd pidfd(::fcntl(placed_one.pidfd.get(), F_DUPFD_CLOEXEC, 0));
  placed_one.place->take_in({pid, std::move(pidfd), Below::stay},
                            [this, command](const Result<void>& how) { placed(command, how); });
}

void CommandService::placed(JobId command, const Result<void>& how) {
  if (!how) {
    if (const auto& place = placed_.at(command).place) place->remove();
    placed_.erase(command);
    owner_.command_withdrawn(command);
  }
  commands_.placed(command, how);
}

void CommandService::enter(const policy::JobSpec& command) {
  const JobId id = command.id;
  host_scheduler_.enter(command, *this);
  if (placed_.contains(id)) owner_.command_waits(id);
}

// Without a freezer it only has its launcher's word.
void CommandService::freeze(JobId command) {
  [[maybe_unused]] const bool held = placed_.at(command).place->hold();
}

// Its process by its pidfd as well, as it may have left the group.
void CommandService::discard(JobId command) {
  auto found = placed_.extract(command);
  ::syscall(SYS_pidfd_send_signal, found.mapped().pidfd.get(), SIGKILL, nullptr, 0U);
  auto discarded = std::make_unique<Discarded>(*this, command, std::move(found.mapped()));
  discarded_.emplace(command, std::move(discarded)).first->second->start();
  owner_.command_withdrawn(command);
}

void CommandService::removed(JobId command) { discarded_.erase(command); }

Prepared CommandService::prepare(const policy::Start& start) {
  auto placed = placed_.extract(start.job);
  Placed& its = placed.mapped();
  Prepared prepared;
  prepared.request.group = its.place->name();
  prepared.request.standing.emplace(
      StandingPlace{.place = its.place,
                    .process = AdoptedProcess{.pid = its.pid, .pidfd = std::move(its.pidfd)}});
  owner_.command_starts(start.job, std::move(its.place));
  commands_.started(start.job);
  return prepared;
}

void CommandService::withdraw(JobId command, const std::string& reason) {
  // One that starts by now ends with its process.
  [[maybe_unused]] const auto done = host_scheduler_.scheduler().withdraw(command, reason);
}

void CommandService::kill(JobId command, const std::string& reason) {
  // One that has ended by now has been told.
  [[maybe_unused]] const auto done = host_scheduler_.scheduler().kill(command, reason);
}

void CommandService::on_gone(const AttemptGone& gone) {
  owner_.command_ended(*commands_.spec_of(gone.key.job), gone);
  commands_.gone(gone.key.job);
}

void CommandService::on_stuck(AttemptKey key, const reap::Stuck& stuck) {
  if (const policy::JobSpec* command = commands_.spec_of(key.job)) {
    owner_.command_stuck(command->name, stuck);
  }
}

void CommandService::end_those_of(JobId job) {
  if (commands_.size() == 0) return;
  ended_jobs_.push_back(job);
  end_timer_.set(loop::now());
}

void CommandService::end_all_due() {
  for (const JobId job : std::exchange(ended_jobs_, {})) commands_.end_those_of(job);
}

}  // namespace plimsoll::supervisor
