#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "policy/job/job.h"

namespace plimsoll::jobfile {

// A job that is number `number` (from 1) of its run, named by that number, as `defaults` otherwise.
[[nodiscard]] policy::JobSpec numbered(const policy::JobSpec& defaults, std::uint64_t number);

// Whether the kernel can be given the command: each word within kWordBytesMax.
[[nodiscard]] Result<void> check_lengths(const policy::Command& command);

// Whether a run may have so many jobs.
[[nodiscard]] Result<void> check_job_count(std::uint64_t count);

}  // namespace plimsoll::jobfile
