#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>

#include "base/loop/loop.h"
#include "base/result.h"
#include "daemon/api/job_service.h"
#include "daemon/api/user_turns.h"
#include "daemon/grpc/gate.h"
#include "supervisor/control/run_status.h"
#include "supervisor/external/closer.h"
#include "supervisor/external/peer_listener.h"

namespace plimsoll::daemon {

// What people can see and change of the daemon beside their jobs.
class Controls {
 public:
  virtual ~Controls() = default;
  // What this peer may see.
  [[nodiscard]] virtual supervisor::RunStatus status(const supervisor::Peer& peer) const = 0;
  // A size or a share, as --line takes it; the answer is the line that then holds.
  virtual Result<Bytes> set_line(std::string_view size) = 0;
  virtual Result<void> set_jobs_max(unsigned jobs) = 0;
};

// What the socket stands on; all of it must outlive it.
struct JobSocketDeps {
  loop::Loop& loop;
  JobService& jobs;
  Controls& controls;
  Gate& gate;  // which keeps count of the loop's time
};

// The daemon for people at a shell: takes their jobs and commands in the words of
// supervisor/control/job_protocol.h, without gRPC. Who connects is whom the kernel says; line and
// number of jobs are for root and the daemon's own user.
//
// Of the loop's thread. Whatever a client sends, or does not, costs a bounded buffer: requests are
// answered one at a time, nothing more is read of who has not taken his answer, and who does not
// take a job's output holds up that job alone. Users are served in turn, a step of one connection
// at a time: who has many connections is no faster, and nobody else slower by more than that step.
// Long steps count with the user's calls at the gate, of which he has a tenth of the loop's time
// while others call.
class JobSocket : public supervisor::ConnectionTaker {
 public:
  explicit JobSocket(const JobSocketDeps& deps);
  JobSocket(const JobSocket&) = delete;
  JobSocket& operator=(const JobSocket&) = delete;
  ~JobSocket() override;

  // Connections come from here on. Once.
  Result<void> listen(const supervisor::PeerListenerConfig& config);
  void take(UniqueFd connection, const supervisor::Peer& peer) override;
  void turn_away(int connection) override;

  // More connections of one user, or of all but root, are refused: each is a descriptor.
  static constexpr std::size_t kOfUserMax = 256;
  static constexpr std::size_t kClientsMax = 1024;
  // Bytes of submissions of one user that have not arrived whole.
  static constexpr std::size_t kArrivingMax = 16 << 20;
  // Who waits for no job and has said nothing whole for so long is let go.
  static constexpr Duration kIdleMax = std::chrono::seconds(30);

  [[nodiscard]] std::size_t connections() const { return clients_.size(); }
  // Whether there is something for a client that it has not taken yet.
  [[nodiscard]] bool has_to_tell() const;

 private:
  class Client;
  void on_ready(Client& client, std::uint32_t events);
  void serve_next();
  void drop(Client& client);
  void drop_idle();
  [[nodiscard]] std::size_t arriving_of(std::uint32_t uid) const;

  JobSocketDeps deps_;
  supervisor::Closer closer_;
  std::list<std::unique_ptr<Client>> clients_;
  UserTurns<Client*> turns_;  // those that something can be done for
  // At once while anybody waits. A source of the loop's own: in the turns between, others of its
  // sources come, among them those whose readiness is to be noted.
  loop::Timer turn_timer_;
  loop::Timer idle_timer_;
  std::unique_ptr<supervisor::PeerListener> listener_;
};

}  // namespace plimsoll::daemon
