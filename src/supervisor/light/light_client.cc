#include "supervisor/light/light_client.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/cases.h"
#include "base/file.h"
#include "base/text.h"

namespace plimsoll::supervisor {
namespace {

// Frames of one client that are read before others have their turn.
constexpr int kFramesInTurn = 4;

// Before anything else is asked of a descriptor: what the kernel tells of others may take as long
// as their owner has made it, as of an epoll(7) of thousands.
bool is_pidfd(const UniqueFd& fd) {
  return ::syscall(SYS_pidfd_send_signal, fd.get(), 0, nullptr, 0) == 0 || errno != EBADF;
}

// Of a process that has not ended; by the table of this process's descriptors (proc(5), fdinfo).
Result<int> pid_of(const std::vector<UniqueFd>& sent) {
  constexpr std::string_view kPid = "Pid:";
  if (sent.empty()) return fail("found no pidfd with the frame, expected that of the command");
  auto text = read_text_at(AT_FDCWD, "/proc/self/fdinfo/" + std::to_string(sent.front().get()));
  if (!text) return pass(std::move(text));
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (!line.starts_with(kPid)) continue;
    const auto pid = to_u64(trim(line.substr(kPid.size())));
    // -1: it has ended; 0: it is of another pid namespace.
    if (!pid || *pid == 0)
      return fail("found a process that has ended or cannot be seen from here");
    return static_cast<int>(*pid);
  }
  return fail("found a descriptor that is not a pidfd");
}

}  // namespace

LightServer::Client::Client(ClientJobs& jobs, Closer& closer, UniqueFd fd, const Peer& peer,
                            Instant now)
    : jobs_(jobs),
      closer_(closer),
      fd_(std::move(fd)),
      user_(tenant_of(peer)),
      since_(now),
      name_("exec-" + std::to_string(peer.pid)) {
  ExternalListener& told = *this;
  id_ = jobs_.open(peer, told);
}

LightServer::Client::~Client() {
  watch_ = {};
  jobs_.close(id_);
  closer_.close(user_, std::move(fd_));
}

void LightServer::Client::serve(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive();
}

void LightServer::Client::receive() {
  for (int i = 0; i < kFramesInTurn && !is_over_; ++i) {
    auto packet = receive_packet(fd_.get(), kLightFrameMax);
    if (!packet && (packet.error().code == std::errc::resource_unavailable_try_again ||
                    packet.error().code == std::errc::interrupted)) {
      return;
    }
    if (!packet) return refuse(packet.error());
    if (!*packet) {
      is_over_ = true;
      return;
    }
    obey(**packet);
  }
}

void LightServer::Client::obey(Packet& packet) {
  if (!std::all_of(packet.fds.begin(), packet.fds.end(), is_pidfd)) {
    closer_.close(user_, std::move(packet.fds));
    return refuse({.what = "found a descriptor that is not a pidfd"});
  }
  if (packet.is_cut) {
    return refuse(
        {.what = "found a frame of more than " + std::to_string(kLightFrameMax) + " bytes"});
  }
  const auto request = parse_light_request(packet.bytes);
  if (!request) return refuse(request.error());
  std::visit(Cases{[&](const LightEnter& asked) { enter(asked, packet.fds); },
                   [&](const LightAgain&) { start_again(packet.fds); },
                   [&](const LightOver& over) { leave(over); }},
             *request);
}

void LightServer::Client::enter(const LightEnter& asked, const std::vector<UniqueFd>& sent) {
  if (std::exchange(has_entered_, true)) {
    return refuse({.what = "a connection is for one command"});
  }
  const auto pid = pid_of(sent);
  if (!pid) return refuse(pid.error());
  ExternalSpec spec{.name = name_,
                    .job_class = asked.job_class,
                    .memory_hint = asked.memory_hint,
                    .restartable = asked.restartable,
                    .place = ProcessPlace{*pid},
                    .hand = ControlledBy::governor};
  spec.command = asked.words;
  spec.cwd = asked.cwd;
  if (const auto entered = jobs_.enter(id_, spec); !entered) refuse(entered.error());
}

void LightServer::Client::start_again(const std::vector<UniqueFd>& sent) {
  if (!has_entered_) return refuse({.what = "found no command before its second attempt"});
  const auto pid = pid_of(sent);
  if (!pid) return refuse(pid.error());
  const auto seen = jobs_.watch(id_, name_, ProcessPlace{*pid});
  if (!seen) refuse(seen.error());
}

void LightServer::Client::leave(const LightOver& over) {
  ExternalEnd end{.outcome = policy::Outcome::exited};
  if (over.by_signal) {
    end.outcome = policy::Outcome::signalled;
    end.signal = over.code;
  } else {
    end.exit_code = over.code;
  }
  end.peak = over.peak;
  end.cpu = over.cpu;
  is_leaving_ = true;
  const auto left = jobs_.leave(id_, name_, end);
  is_leaving_ = false;
  if (!left) refuse(left.error());
}

void LightServer::Client::refuse(const Error& error) {
  tell(LightRefused{.reason = error.message(), .busy = error.code == std::errc::not_enough_memory});
  is_over_ = true;
}

// What is told replaces what is untold: of holds only the last holds, and an end says it all.
void LightServer::Client::tell(const LightNews& news) {
  untold_ = to_frame(news);
  flush();
}

void LightServer::Client::flush() {
  if (!untold_) return;
  const auto sent = send_packet(fd_.get(), *untold_, -1);
  if (!sent && sent.error().code == std::errc::resource_unavailable_try_again) {
    return watch_.wait_for(EPOLLIN | EPOLLOUT);
  }
  untold_.reset();
  watch_.wait_for(EPOLLIN);
}

void LightServer::Client::on_admit(const std::string& /*name*/, unsigned attempt,
                                   const std::string& /*reason*/) {
  promised_.reset();
  tell(LightAdmitted{attempt});
}

void LightServer::Client::on_hold(const std::string& /*name*/, policy::HoldCause cause,
                                  const std::string& reason) {
  tell(LightHeld{.cause = std::string(policy::name_of(cause)), .reason = reason});
}

void LightServer::Client::on_cancel(const std::string& /*name*/, policy::Outcome cause,
                                    const std::string& reason, Again again) {
  LightCancelled cancelled{.cause = std::string(policy::name_of(cause)),
                           .reason = reason,
                           .again = again == Again::later};
  if (cancelled.again) promised_ = cancelled;
  tell(cancelled);
}

// Who leaves by itself knows that, unless another attempt was promised; that is told of when it is
// admitted.
void LightServer::Client::on_left(const std::string& /*name*/, Again again,
                                  const std::string& reason) {
  if (again == Again::later) return promised_.reset();
  if (promised_ && is_leaving_) {
    promised_->again = false;
    promised_->reason = reason;
    tell(*promised_);
  } else if (!is_leaving_) {
    tell(LightRefused{.reason = reason});
  }
  is_over_ = true;
}

}  // namespace plimsoll::supervisor
