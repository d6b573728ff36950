#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plimsoll::jobfile {

// Where in the user's input something stands.
struct Place {
  std::string_view file;  // as people call it: a path, or "standard input"
  std::size_t line = 1;   // from 1; with NUL-separated input the number of the record
};

// "jobs.txt:12"
inline std::string where(const Place& place) {
  return std::string(place.file) + ':' + std::to_string(place.line);
}

inline tl::unexpected<Error> fail_at(const Place& place, const std::string& what) {
  return fail(where(place) + ": " + what);
}

}  // namespace plimsoll::jobfile
