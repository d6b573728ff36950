#pragma once

#include <optional>

#include "base/result.h"
#include "engine/guest.h"
#include "plimsoll/v1/governor.pb.h"
#include "policy/job.h"

// Messages of plimsoll.v1.Governor as values of the engine, and back. Pure.
namespace plimsoll::rpc {

// Errors (invalid_argument) say what was found and what was expected.
Result<engine::GuestSpec> spec_of(const v1::Enter& message);
Result<engine::GuestPlace> place_of(const v1::Place& message);
Result<engine::GuestSample> sample_of(const v1::Observe& message);
Result<engine::GuestEnd> end_of(const v1::Leave& message);

[[nodiscard]] v1::CancelCause cause_of(policy::Outcome outcome);

// The number of google.rpc.Code for what the engine refuses.
[[nodiscard]] int code_of(const Error& error);

}  // namespace plimsoll::rpc
