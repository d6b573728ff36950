#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "daemon/api/governor_session.h"
#include "plimsoll/v1/governor.pb.h"
#include "supervisor/external/external_jobs.h"
#include "supervisor/quota.h"

namespace plimsoll::daemon {

// Names a stream among all that there ever were.
enum class StreamId : std::uint64_t {};

// The streams of plimsoll.v1.Governor that are open, whatever carries them. Of the loop's thread.
class GovernorStreams {
 public:
  // `external jobs` must outlive this.
  explicit GovernorStreams(supervisor::ExternalJobs& external_jobs)
      : external_jobs_(external_jobs) {}
  GovernorStreams(const GovernorStreams&) = delete;
  GovernorStreams& operator=(const GovernorStreams&) = delete;
  // Ends all streams, and so their clients' jobs.
  ~GovernorStreams();

  // More at once, of one user or of all together, are refused; root's are not among these.
  static constexpr std::size_t kOfUserMax = 200;
  static constexpr std::size_t kStreamsMax = 1000;

  void open(StreamId id, const supervisor::Peer& peer, std::shared_ptr<StreamClient> client);
  // Of a stream that is not open any more: does nothing, as close().
  void receive(StreamId id, const v1::GovernRequest& request);
  void close(StreamId id);

  [[nodiscard]] std::size_t size() const { return streams_.size(); }

 private:
  struct Stream {
    std::shared_ptr<StreamClient> client;  // outlives the session
    std::unique_ptr<GovernorSession> session;
    policy::Tenant user = policy::kHost;
  };
  supervisor::ExternalJobs& external_jobs_;
  supervisor::Quota quota_{"streams", {.of_user = kOfUserMax, .in_all = kStreamsMax}};
  std::map<StreamId, Stream> streams_;
};

}  // namespace plimsoll::daemon
