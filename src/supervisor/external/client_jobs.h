#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "supervisor/external/external_job.h"
#include "supervisor/external/peer.h"

namespace plimsoll::supervisor {

// A client of external jobs; never used again.
enum class ClientId : std::uint64_t {};

// What clients may ask for, each for jobs that it runs itself.
class ClientJobs {
 public:
  ClientJobs() = default;
  ClientJobs(const ClientJobs&) = delete;
  ClientJobs& operator=(const ClientJobs&) = delete;
  virtual ~ClientJobs() = default;

  // `listener` must live until close().
  virtual ClientId open(const Peer& peer, ExternalListener& listener) = 0;
  // The client is gone. It is told nothing any more.
  virtual void close(ClientId client) = 0;

  virtual Result<void> enter(ClientId client, const ExternalSpec& spec) = 0;
  // Where its job is to be found from now on: by another attempt, at another place.
  virtual Result<void> watch(ClientId client, const std::string& name,
                             const ExternalLocation& place) = 0;
  virtual Result<void> leave(ClientId client, const std::string& name, const ExternalEnd& end) = 0;
};

}  // namespace plimsoll::supervisor
