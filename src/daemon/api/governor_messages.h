#pragma once

#include <optional>

#include "base/result.h"
#include "plimsoll/v1/governor.pb.h"
#include "policy/job/job.h"
#include "supervisor/external/external_job.h"

// Messages of plimsoll.v1.Governor as values of the engine, and back. Pure.
namespace plimsoll::daemon {

// Errors (invalid_argument) say what was found and what was expected.
Result<supervisor::ExternalSpec> spec_of(const v1::Enter& message);
Result<supervisor::ExternalLocation> place_of(const v1::Place& message);
Result<supervisor::ExternalSample> sample_of(const v1::Observe& message);
Result<supervisor::ExternalEnd> end_of(const v1::Leave& message);

[[nodiscard]] v1::CancelCause cause_of(policy::Outcome outcome);

// The number of google.rpc.Code for what the engine refuses.
[[nodiscard]] int code_of(const Error& error);

}  // namespace plimsoll::daemon
