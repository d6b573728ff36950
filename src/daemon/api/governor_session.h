#pragma once

#include "plimsoll/v1/governor.pb.h"
#include "supervisor/external/external_jobs.h"

namespace plimsoll::daemon {

// The way back to the client of a stream; from the loop's thread. Must not call back.
class StreamClient {
 public:
  virtual ~StreamClient() = default;
  virtual void send(const v1::GovernResponse& response) = 0;
  // Ends the stream: the user has too many, or the daemon ends.
  virtual void too_many(const Error& error) = 0;
  virtual void ends() = 0;
};

// One stream of plimsoll.v1.Governor: messages in, messages out, and the client's jobs in between.
// It knows nothing of gRPC.
//
// One thread, that of `external jobs`. Destroying it is the client's going away: its jobs have left
// then, and nothing is sent any more.
class GovernorSession : private supervisor::ExternalListener {
 public:
  // Both must outlive this.
  GovernorSession(supervisor::ExternalJobs& external_jobs, const supervisor::Peer& peer,
                  StreamClient& stream);
  ~GovernorSession() override;

  // What can't be followed is answered with Refused.
  void receive(const v1::GovernRequest& request);

 private:
  void on_admit(const std::string& name, unsigned attempt, const std::string& reason) override;
  void on_hold(const std::string& name, policy::HoldCause cause,
               const std::string& reason) override;
  void on_pause(const std::string& name, const std::string& reason) override;
  void on_resume(const std::string& name, const std::string& reason) override;
  void on_cancel(const std::string& name, policy::Outcome cause, const std::string& reason,
                 supervisor::Again again) override;
  void on_left(const std::string& name, supervisor::Again again,
               const std::string& reason) override;
  void refuse(const std::string& id, const Error& error);

  Result<void> enter(const supervisor::ExternalSpec& spec);

  supervisor::ExternalJobs& external_jobs_;
  supervisor::Peer peer_;
  StreamClient& stream_;
  supervisor::ClientId client_;
};

}  // namespace plimsoll::daemon
