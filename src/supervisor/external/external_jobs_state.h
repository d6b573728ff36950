#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pausable_clock.h"
#include "supervisor/external/external_jobs.h"

// The inside of ExternalJobs, shared by its source files alone.
namespace plimsoll::supervisor {

struct ExternalJobs::ExternalJob {
  enum class State : std::uint8_t { waiting, running, cancelled };

  ClientId client{};
  policy::Tenant user = policy::kHost;
  ExternalSpec spec;
  State state = State::waiting;
  std::optional<PausableClock> clock{};  // of the present attempt
  std::unique_ptr<ExternalProcessSet> process_set{};
  ExternalSample seen{};           // as last told or measured
  ExternalSample sampled{};        // as last measured
  std::optional<Bytes> written{};  // to file systems, as seen; absent: nobody looks
  Bytes written_before{};          // of that: what its present place does not tell
  Bytes peak{};
  std::optional<Bytes> admitted_with{};  // what the present attempt was admitted with
  std::vector<report::AttemptReport> attempts{};
  std::string why{};  // of the last event about it, which the next decision carries out
  std::optional<policy::Outcome> dying{};  // cancelled for this
  Instant cancelled_at{};
};

}  // namespace plimsoll::supervisor
