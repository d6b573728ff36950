#pragma once

#include <nlohmann/json_fwd.hpp>

#include "supervisor/control/run_status.h"

// For this room only: nobody else sees the JSON library.
namespace plimsoll::supervisor {

// The object that docs/formats/control.md calls a status.
[[nodiscard]] nlohmann::ordered_json to_json(const RunStatus& status);

// The other way: takes what it knows and passes over the rest. A value of another type than
// expected is as if it were absent.
[[nodiscard]] RunStatus status_of(const nlohmann::ordered_json& json);

}  // namespace plimsoll::supervisor
