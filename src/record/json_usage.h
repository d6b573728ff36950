#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/units.h"
#include "measure/usage.h"

// The parts of a report that were measured, as JSON. For json.cc alone.
namespace plimsoll::record {

using Json = nlohmann::ordered_json;

// Sets `key` of `object` if there is a value: bytes and counts as they are, times in nanoseconds.
void put(Json& object, const char* key, std::optional<std::uint64_t> count);
void put(Json& object, const char* key, std::optional<Bytes> bytes);
void put(Json& object, const char* key, std::optional<Duration> duration);
void put(Json& object, const char* key, std::optional<WallTime> wall);

// Sets `key` of `object` to `part`, an object or a list, unless that is empty.
void put_part(Json& object, const char* key, Json part);

// `cpu`, `memory`, `io`, `pids`, `network` and `samples` of an attempt.
void put_usage(Json& report, const measure::JobUsage& usage);

Json machine_json(const measure::MachineUsage& machine);

// `run_started` is what `t_ns` counts from.
Json system_sample_json(const measure::SystemSample& sample, Instant run_started);

}  // namespace plimsoll::record
