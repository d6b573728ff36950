#include "jobfile/spec.h"

#include "jobfile/limits.h"

namespace plimsoll::jobfile {
namespace {

Result<void> check_length(std::string_view kind, std::string_view word) {
  if (word.size() <= kWordBytesMax) return {};
  return fail("found a " + std::string(kind) + " of " + std::to_string(word.size()) +
              " bytes, expected at most " + std::to_string(kWordBytesMax) +
              ", the kernel's limit for one argument (MAX_ARG_STRLEN)");
}

}  // namespace

policy::JobSpec numbered(const policy::JobSpec& defaults, std::uint64_t number) {
  policy::JobSpec spec = defaults;
  spec.id = JobId{number};
  spec.name = std::to_string(number);
  return spec;
}

Result<void> check_lengths(const policy::Command& command) {
  if (const auto* shell = std::get_if<std::string>(&command)) {
    return check_length("shell command", *shell);
  }
  for (const std::string_view word : std::get<Words>(command)) {
    if (auto fits = check_length("word", word); !fits) return fits;
  }
  return {};
}

Result<void> check_job_count(std::uint64_t count) {
  if (count <= kJobsMax) return {};
  return fail("found " + std::to_string(count) + " jobs, expected at most " +
              std::to_string(kJobsMax));
}

}  // namespace plimsoll::jobfile
