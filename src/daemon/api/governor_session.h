#pragma once

#include <functional>

#include "plimsoll/v1/governor.pb.h"
#include "supervisor/external/external_jobs.h"

namespace plimsoll::daemon {

// One stream of plimsoll.v1.Governor: messages in, messages out, and the client's jobs in between.
// It knows nothing of gRPC.
//
// One thread, that of `external jobs`. Destroying it is the client's going away: its jobs have left
// then, and nothing is sent any more.
class GovernorSession {
 public:
  // `external jobs` must outlive this. `send` must not call back.
  GovernorSession(supervisor::ExternalJobs& external_jobs, const supervisor::Peer& peer,
                  std::function<void(const v1::GovernResponse&)> send);
  GovernorSession(const GovernorSession&) = delete;
  GovernorSession& operator=(const GovernorSession&) = delete;
  ~GovernorSession();

  // What can't be followed is answered with Refused.
  void receive(const v1::GovernRequest& request);

 private:
  [[nodiscard]] supervisor::ExternalListener listener();
  void refuse(const std::string& id, const Error& error);

  Result<void> enter(const supervisor::ExternalSpec& spec);

  supervisor::ExternalJobs& external_jobs_;
  supervisor::Peer peer_;
  std::function<void(const v1::GovernResponse&)> send_;
  supervisor::ClientId client_;
};

}  // namespace plimsoll::daemon
