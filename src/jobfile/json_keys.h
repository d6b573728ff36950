#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "jobfile/draft.h"

namespace plimsoll::jobfile {

// Sets what the keys of one job's object say; what it does not say stays as it is. For this room
// only. The first wrong key in alphabetical order is the error, which names the key, what was found
// and what was expected; for an unknown key that is what it may stand for elsewhere, or the most
// similar known one.
[[nodiscard]] Result<void> apply_keys(const nlohmann::json& object, Draft& draft);

}  // namespace plimsoll::jobfile
