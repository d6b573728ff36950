#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/external/guests.h"

// The inside of Guests, shared by its source files alone.
namespace plimsoll::supervisor {

struct Guests::Guest {
  enum class State : std::uint8_t { waiting, running, cancelled };

  ClientId client{};
  policy::Tenant user = policy::kHost;
  GuestSpec spec;
  State state = State::waiting;
  std::optional<policy::Stopwatch> watch{};  // of the present attempt
  std::unique_ptr<Habitat> habitat{};
  GuestSample seen{};    // as last told or measured
  GuestSample looked{};  // as last measured
  Bytes peak{};
  std::optional<Bytes> promised{};  // what the present attempt was admitted with
  std::vector<report::AttemptReport> attempts{};
  std::string why{};  // of the last event about it, which the next decision carries out
  std::optional<policy::Outcome> condemned{};  // cancelled for this
  Instant cancelled_at{};
};

}  // namespace plimsoll::supervisor
