#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "supervisor/doctor/doctor.h"

namespace plimsoll::supervisor {

// What this process may do: `capability.sys_resource`, `capability.bpf`, `capability.kill`,
// `capability.setuid`, `pidfd`, `limit.nofile`, `limit.nproc`, `oom_score_adj`, `hidepid`.
std::vector<report::Check> probe_process();

// The effective capabilities as bits numbered as in capabilities(7), of a text of /proc/PID/status;
// nothing if it has no such line.
std::optional<std::uint64_t> parse_effective_capabilities(std::string_view status);
// Root may lack some too, in a container or a unit that was given few.
enum class Caller : std::uint8_t { user, root };
std::vector<report::Check> judge_capabilities(std::uint64_t effective, Caller caller);

// Whom /proc hides from others' users (hidepid= of proc(5)).
enum class Hiding : std::uint8_t { nobody, contents, processes };

// Of a text of /proc/PID/mountinfo: the last mount at /proc, which is the one in use.
Hiding parse_hidepid(std::string_view mountinfo);

enum class LimitKind : std::uint8_t { nofile, nproc };

// Of the hard limit; nothing is no limit.
report::Check judge_limit(LimitKind kind, std::optional<std::uint64_t> hard);

}  // namespace plimsoll::supervisor
