#include "supervisor/control/control.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/cases.h"
#include "base/check.h"
#include "supervisor/control/control_protocol.h"
#include "supervisor/sharing/runtime_dir.h"

namespace plimsoll::supervisor {
namespace {

constexpr int kBacklog = 16;
constexpr mode_t kOwnerReadsAndWrites = 0600;
// Where no descriptor is left for a client, the loop must not spin on those who knock.
constexpr Duration kNoDescriptorPause = std::chrono::seconds(1);

ControlAnswer answer_of(const Result<void>& done) {
  return {.error = done ? std::nullopt : std::optional(done.error().message())};
}

ControlAnswer on_job(ControlTarget& target, const std::string& name,
                     Result<void> (ControlTarget::*act)(JobId)) {
  const auto job = target.find(name);
  return job ? answer_of((target.*act)(*job)) : ControlAnswer{.error = job.error().message()};
}

ControlAnswer carry_out(ControlTarget& target, const ControlRequest& request) {
  return std::visit(
      Cases{
          [&](const AskStatus&) { return ControlAnswer{.status = target.status()}; },
          [&](const PauseJob& asked) { return on_job(target, asked.job, &ControlTarget::pause); },
          [&](const ResumeJob& asked) { return on_job(target, asked.job, &ControlTarget::resume); },
          [&](const KillJob& asked) { return on_job(target, asked.job, &ControlTarget::kill); },
          [&](const SetLine& asked) {
            const auto line = target.set_line(asked.size);
            return line ? ControlAnswer{.line = *line}
                        : ControlAnswer{.error = line.error().message()};
          },
          [&](const SetJobsMax& asked) { return answer_of(target.set_jobs_max(asked.jobs)); }},
      request);
}

bool is_heard(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

}  // namespace

// One connection: what it has said and is not answered, and what it has not taken.
class Control::Client {
 public:
  Client(UniqueFd fd, Instant now) : fd_(std::move(fd)), active_(now) {}

  void watch(loop::Watch watch) { watch_ = std::move(watch); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] Instant active() const { return active_; }

  // One step: sends, else answers one request, else reads once, so that nobody holds up the loop.
  // False: the connection is over. `active` moves with whole requests only.
  bool step(ControlTarget& target, Instant now) {
    if (!out_.empty()) return send_rest();
    const std::size_t end = in_.find('\n');
    if (end == std::string::npos) return receive();
    active_ = now;
    const std::string line = in_.substr(0, end);
    in_.erase(0, end + 1);
    if (line.empty()) return true;
    const auto request = parse_request(line);
    out_ = to_line(request ? carry_out(target, *request)
                           : ControlAnswer{.error = request.error().message()});
    return send_rest();
  }

  void wait() {
    const bool has_work = !out_.empty() || in_.find('\n') != std::string::npos;
    watch_.wait_for(has_work ? EPOLLOUT : EPOLLIN);
  }

 private:
  bool send_rest() {
    const std::size_t left = out_.size() - sent_;
    const ssize_t sent = ::send(fd_.get(), out_.data() + sent_, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ < out_.size()) return true;
    out_.clear();
    sent_ = 0;
    return !overlong_;
  }

  bool receive() {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    in_.append(buffer.data(), static_cast<std::size_t>(got));
    if (in_.size() <= kRequestBytesMax || in_.find('\n') != std::string::npos) return true;
    // Where the next request begins can't be known any more.
    overlong_ = true;
    in_.clear();
    out_ = to_line(ControlAnswer{.error = "a request has at most " +
                                          std::to_string(kRequestBytesMax) + " bytes"});
    return send_rest();
  }

  UniqueFd fd_;
  Instant active_;
  std::string in_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
  bool overlong_ = false;
  loop::Watch watch_;
};

Control::Control(loop::Loop& loop, ControlConfig config, ControlTarget& target)
    : loop_(loop), config_(std::move(config)), target_(target) {
  idle_timer_ = loop_.timer([this] { drop_idle(); });
}

Control::~Control() {
  if (socket_) ::unlinkat(directory_.get(), socket_name(config_.run_id).c_str(), 0);
}

Result<std::unique_ptr<Control>> Control::start(loop::Loop& loop, ControlConfig config,
                                                ControlTarget& target) {
  PLIMSOLL_CHECK(config.run_id.find('/') == std::string::npos);
  std::unique_ptr<Control> control(new Control(loop, std::move(config), target));
  if (auto listening = control->listen(); !listening) return pass(std::move(listening));
  return control;
}

// Under another name until it listens, so that whoever sweeps never takes it for a dead run's.
Result<void> Control::listen() {
  auto directory = make_runtime_dir(config_.directory);
  if (!directory) return pass(std::move(directory));
  directory_ = std::move(*directory);
  remove_stale_sockets(directory_.get());

  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("make a socket");
  const std::string name = socket_name(config_.run_id);
  const std::string hidden = "." + name;
  const std::string path = "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + hidden;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail("the run's id is too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  ::unlinkat(directory_.get(), hidden.c_str(), 0);
  const bool made =
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::fchmodat(directory_.get(), hidden.c_str(), kOwnerReadsAndWrites, 0) == 0 &&
      ::listen(fd.get(), kBacklog) == 0 &&
      ::renameat(directory_.get(), hidden.c_str(), directory_.get(), name.c_str()) == 0;
  if (!made) {
    auto failed = fail_errno("make " + config_.directory + "/" + name);
    ::unlinkat(directory_.get(), hidden.c_str(), 0);
    return failed;
  }
  socket_ = std::move(fd);
  auto watch = loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { on_connection(); });
  if (!watch) return pass(std::move(watch));
  watch_ = std::move(*watch);
  return {};
}

void Control::on_connection() {
  UniqueFd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd) {
    if (is_heard(fd.get())) admit(std::move(fd));
  } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    watch_.wait_for(0);
    idle_timer_.set(loop::now() + kNoDescriptorPause);
  }
}

void Control::admit(UniqueFd fd) {
  if (clients_.size() >= kControlClientsMax) clients_.pop_front();
  auto client = std::make_unique<Client>(std::move(fd), loop::now());
  auto watch = loop_.watch(client->fd(), EPOLLIN,
                           [this, known = client.get()](std::uint32_t) { on_ready(*known); });
  if (!watch) return;
  client->watch(std::move(*watch));
  clients_.push_back(std::move(client));
  if (clients_.size() == 1) drop_idle();
}

void Control::on_ready(Client& client) {
  const auto place = std::find_if(clients_.begin(), clients_.end(),
                                  [&](const auto& known) { return known.get() == &client; });
  const Instant active = client.active();
  if (!client.step(target_, loop::now())) {
    clients_.erase(place);
    return;
  }
  client.wait();
  if (client.active() != active) clients_.splice(clients_.end(), clients_, place);
}

void Control::drop_idle() {
  watch_.wait_for(EPOLLIN);
  const Instant now = loop::now();
  while (!clients_.empty() && now - clients_.front()->active() >= config_.idle_max) {
    clients_.pop_front();
  }
  if (!clients_.empty()) idle_timer_.set(clients_.front()->active() + config_.idle_max);
}

}  // namespace plimsoll::supervisor
