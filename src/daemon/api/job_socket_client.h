#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/api/job_socket.h"
#include "supervisor/control/job_protocol.h"

namespace plimsoll::daemon {

// What a client of a socket has not taken of what it was told, in order. It is bounded where who
// tells asks is_full() first; of what is only news the last is kept then.
class Untaken {
 public:
  // Is full from so many bytes on: then a job's pipe fills, as what it writes is not read.
  static constexpr std::size_t kFull = 64 << 10;

  void add(std::string_view bytes);
  // What the next such word makes worthless: told once there is room, or before anything else.
  void add_news(std::string line);

  [[nodiscard]] bool is_full() const { return size() >= kFull; }
  [[nodiscard]] bool is_empty() const { return size() == 0 && news_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size() - sent_; }

  // Sends what the client takes now. An error: it is gone.
  Result<void> send(int socket);

 private:
  void tell_news();

  std::string bytes_;
  std::size_t sent_ = 0;  // of these
  std::string news_;
};

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
  [[nodiscard]] bool has_to_tell() const { return !out_.is_empty(); }
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
