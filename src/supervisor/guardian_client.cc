#include "supervisor/guardian_client.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <variant>

#include "supervisor/processes/child_observer.h"
#include "supervisor/run_host.h"

namespace plimsoll::supervisor {

Result<void> GuardianClient::attach(loop::Loop& loop) {
  auto watch = loop.watch(link_.channel.fd(), EPOLLIN, [this](std::uint32_t) { take_messages(); });
  if (!watch) return pass(std::move(watch));
  watch_ = std::move(*watch);
  pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid(), 0U)));
  if (!pidfd_) return {};  // the channel tells of its death nearly always
  auto death = loop.watch(pidfd_.get(), EPOLLIN, [this](std::uint32_t) { guardian_ended(); });
  if (!death) return pass(std::move(death));
  death_watch_ = std::move(*death);
  return {};
}

Result<guardian::ChildId> GuardianClient::spawn(guardian::SpawnRequest request,
                                                ChildObserver& observer) {
  request.id = guardian::ChildId{++last_child_};
  const auto is_named = [](const guardian::ResourceLimit& limit) {
    return limit.resource == RLIMIT_NOFILE;
  };
  if (std::none_of(request.rlimits.begin(), request.rlimits.end(), is_named)) {
    request.rlimits.push_back({RLIMIT_NOFILE, link_.descriptors});
  }
  if (auto sent = guardian::send(link_.channel, request); !sent) return pass(std::move(sent));
  children_.emplace(request.id, &observer);
  return request.id;
}

void GuardianClient::over(guardian::ChildId child, ChildObserver& observer) {
  over_.emplace(child, &observer);
  tell(guardian::Over{child});
}

void GuardianClient::forget(guardian::ChildId child) {
  children_.erase(child);
  over_.erase(child);
}

// Each end may start a job, which ends soon: there may always be one more.
void GuardianClient::take_messages() {
  for (std::size_t taken = 0; taken < kMessagesMax && take_message();) ++taken;
}

// False: there is none.
bool GuardianClient::take_message() {
  auto packet = link_.channel.receive();
  if (!packet) {
    if (packet.error().code != std::errc::resource_unavailable_try_again) is_gone_ = true;
    return false;
  }
  auto message = guardian::decode_from_guardian(std::move(*packet));
  if (message) handle(std::move(*message));
  return true;
}

// What it has sent before is there by now.
void GuardianClient::guardian_ended() {
  while (take_message()) {
  }
  is_gone_ = true;
  death_watch_ = {};
}

void GuardianClient::handle(guardian::FromGuardian message) {
  if (auto* signal = std::get_if<guardian::Signalled>(&message)) {
    if (guardian::asks_to_end(signal->number) && !asked_to_end_) asked_to_end_ = signal->number;
    if (signals_ != nullptr) signals_->on_signal(*signal);
  } else if (std::holds_alternative<guardian::Resumed>(message)) {
    if (signals_ != nullptr) signals_->on_resumed();
  } else if (auto* started = std::get_if<guardian::Started>(&message)) {
    const auto child = children_.find(started->id);
    if (child != children_.end()) child->second->on_started(std::move(*started));
  } else if (auto* failed = std::get_if<guardian::StartFailed>(&message)) {
    if (auto child = children_.extract(failed->id)) child.mapped()->on_start_failed(*failed);
  } else if (auto* exited = std::get_if<guardian::Exited>(&message)) {
    if (auto child = children_.extract(exited->id)) child.mapped()->on_exited(*exited);
  } else if (auto* escaped = std::get_if<guardian::Escaped>(&message)) {
    if (auto asked = over_.extract(escaped->id)) asked.mapped()->on_escaped(*escaped);
  }
}

}  // namespace plimsoll::supervisor
