#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policy/job/job.h"

namespace plimsoll::jobfile {

// A job of a JSON lines file while the file is read: `needs` are still names.
struct Draft {
  policy::JobSpec spec;
  std::vector<std::string> needs;
  std::size_t line = 1;
};

}  // namespace plimsoll::jobfile
