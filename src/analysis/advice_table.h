#pragma once

#include <string>

#include "analysis/advice_formats.h"

namespace plimsoll::analysis {

// Advice for people: a row for each class, and what the columns rest on.
[[nodiscard]] std::string advice_table(const Advice& advice, const AdviceSource& source);

}  // namespace plimsoll::analysis
