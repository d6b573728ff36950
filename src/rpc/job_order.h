#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/guest.h"
#include "policy/event.h"
#include "policy/job.h"
#include "record/report.h"

// Jobs of plimsoll.v1.Jobs as values. No gRPC, no protobuf.
namespace plimsoll::rpc {

// What a client wants to be run; `spec` without its id.
struct JobOrder {
  policy::JobSpec spec;
  std::vector<std::string> environment;  // "NAME=value", the whole
  std::size_t bytes = 0;                 // of the client's message
};

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

// Who follows a job. Called from within calls of the desk, which must not be called back. Nothing
// is told after `ended`.
struct JobWatcher {
  std::function<void(const StateTold&)> state;
  std::function<void(OutputStream, std::string_view data)> output;
  std::function<void(const record::JobReport&)> ended;
  // Nothing more will be told, though the job goes on: the API ends.
  std::function<void()> lost;
  // Whether it can't take more output now; the job's pipe is then left full. Asked again from time
  // to time.
  std::function<bool()> is_full;
};

}  // namespace plimsoll::rpc
