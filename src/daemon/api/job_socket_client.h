#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/api/job_socket.h"
#include "daemon/api/untaken.h"
#include "supervisor/control/job_protocol.h"

namespace plimsoll::daemon {

// One connection of a JobSocket: what has come and is not answered, what it has not taken, and the
// job that it waits for, which is its own.
class JobSocket::Client {
  class Follower;

 public:
  Client(JobSocketDeps& deps, supervisor::Closer& closer, UniqueFd fd, supervisor::Peer peer);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  void watch(loop::Watch watch) { watch_ = std::move(watch); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint32_t uid() const { return peer_.uid; }
  [[nodiscard]] std::size_t arriving() const { return head_ ? head_->bytes : 0; }
  [[nodiscard]] bool is_idle(Instant now) const {
    return !watcher_ && ready_ == 0 && now - active_ >= JobSocket::kIdleMax;
  }
  // What of other submissions of its user is on its way, before a turn.
  void set_arriving_elsewhere(std::size_t bytes) { arriving_elsewhere_ = bytes; }

  // Something can be done for it, which step() will do; until then its socket is not looked at.
  // False: that was so already.
  bool become_ready(std::uint32_t events);
  // One step of what its socket allows. False: the connection is over.
  bool step();
  // The client is gone: so is its job.
  void give_up();

 private:
  bool receive();
  bool flush();
  bool answer_next();
  void answer(const supervisor::JobRequest& request);
  void submit(supervisor::SubmitJob asked);
  void refuse(const Error& error);
  void send(std::string_view bytes);
  void rearm();
  [[nodiscard]] supervisor::ControlAnswer carry_out(const supervisor::ControlRequest& request);
  [[nodiscard]] supervisor::ControlAnswer on_job(
      const std::string& name, Result<void> (JobService::*act)(const supervisor::Peer&, JobId));
  [[nodiscard]] bool is_operator() const;

  JobSocketDeps& deps_;
  supervisor::Closer& closer_;
  UniqueFd fd_;
  supervisor::Peer peer_;
  Instant active_;
  std::string in_;
  Untaken out_;
  std::size_t arriving_elsewhere_ = 0;
  std::optional<supervisor::SubmitHead> head_;  // whose bytes are awaited
  JobId job_{};                                 // with watcher_
  std::optional<WatcherId> watcher_;
  bool is_closing_ = false;  // when out_ is sent
  std::uint32_t ready_ = 0;  // events of the socket, while it waits for its turn
  loop::Watch watch_;
};

}  // namespace plimsoll::daemon
