#include "args/complaint.h"

#include <cstdio>

#include "jobfile/closest.h"

namespace plimsoll::args {

void complain(std::string_view text) {
  const std::string line = "plimsoll: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto meant = jobfile::closest(word, names);
  return meant ? "; did you mean " + std::string(*meant) + "?" : std::string();
}

}  // namespace plimsoll::args
