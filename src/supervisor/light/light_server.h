#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include "base/loop/loop.h"
#include "base/result.h"
#include "supervisor/external/client_jobs.h"
#include "supervisor/external/closer.h"
#include "supervisor/external/peer_listener.h"
#include "supervisor/quota.h"

namespace plimsoll::supervisor {

// The socket at which `plimsoll exec` and other launchers have one command each governed
// (docs/formats/light.md): a connection is a job, and it ends with it. Who connects is whom the
// kernel says, and its process is named by a pidfd.
//
// Of the loop's thread. Whatever a client sends, or does not, costs one descriptor and a bounded
// buffer: what it can't be told yet is kept only as far as it still holds, and who breaks the
// protocol is let go, as is who says nothing. A job whose client is let go goes on by itself.
class LightServer : private ConnectionTaker {
 public:
  // Both must outlive this.
  LightServer(loop::Loop& loop, ClientJobs& jobs);
  LightServer(const LightServer&) = delete;
  LightServer& operator=(const LightServer&) = delete;
  // Lets all go.
  ~LightServer() override;

  // Connections come from here on. Once.
  Result<void> listen(const PeerListenerConfig& config);
  // Nobody else may come; who waits is sent away by whoever governs them.
  void drain() { listener_.reset(); }
  // What runs goes on without a governor, and what waits may start. Not within a call of
  // ClientJobs.
  void let_go();

  // More are told to come again later.
  static constexpr std::size_t kOfUserMax = 256;
  static constexpr std::size_t kClientsMax = 1024;
  // Who has not said what it wants for so long is let go.
  static constexpr Duration kIdleMax = std::chrono::seconds(30);

  [[nodiscard]] std::size_t connections() const { return clients_.size(); }

 private:
  class Client;

  void take(UniqueFd connection, const Peer& peer) override;
  void turn_away(int connection) override;
  void serve(Client& client, std::uint32_t events);
  void sweep();

  loop::Loop& loop_;
  ClientJobs& jobs_;
  Closer closer_;
  Quota quota_{"connections", {.of_user = kOfUserMax, .in_all = kClientsMax}};
  std::list<std::unique_ptr<Client>> clients_;
  loop::Timer sweep_timer_;
  std::unique_ptr<PeerListener> listener_;
};

}  // namespace plimsoll::supervisor
