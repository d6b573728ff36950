#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"
#include "policy/job/event.h"
#include "policy/job/job.h"
#include "supervisor/control/job_protocol.h"
#include "supervisor/external/external_job.h"

// Jobs of plimsoll.v1.Jobs as values. No gRPC, no protobuf.
namespace plimsoll::daemon {

// What a client wants to be run; `spec` without its id.
struct JobRequest {
  policy::JobSpec spec;
  Words environment;              // "NAME=value", the whole
  std::size_t bytes = 0;          // kept_bytes(), as the job service has counted
  std::optional<mode_t> umask{};  // absent: the daemon's
  // Where its output goes; absent: to those who follow it.
  std::optional<supervisor::OutputFiles> files{};
};

// What it takes where it is kept, about: each word of its command and each variable of its
// environment has some bytes beside its own.
[[nodiscard]] inline std::size_t kept_bytes(const JobRequest& order) {
  const auto* text = std::get_if<std::string>(&order.spec.command);
  const std::size_t command =
      text != nullptr ? text->size() : std::get<Words>(order.spec.command).block().size();
  return sizeof order + order.spec.name.size() + order.spec.job_class.size() + command +
         order.environment.block().size();
}

enum class ApiJobState : std::uint8_t { waiting, running, paused };
enum class OutputStream : std::uint8_t { out, err };

struct StateTold {
  JobId job{};
  ApiJobState state{};
  unsigned attempt = 0;  // 0: none has begun
  std::string reason;
};

struct JobListed {
  JobId job{};
  std::string name;
  std::uint32_t uid = 0;
  ApiJobState state{};
  std::string command;  // as one line
  std::string reason;   // why it waits or is paused; empty: it runs, or that is not known
  Instant came{};
};

// What was decided about a job.
struct JobStory {
  struct Decision {
    Duration at{};  // since the job came
    policy::EventKind kind{};
    std::string reason;
    policy::Numbers numbers;
  };
  std::vector<Decision> decisions;
  bool cut = false;  // there were more between the first and the last of them
};

}  // namespace plimsoll::daemon
