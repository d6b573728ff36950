#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "jobfile/job_file.h"

// Any text as a JSON lines file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto jobs = plimsoll::jobfile::parse_jsonl_jobs(text, "jobs.jsonl", {});
  PLIMSOLL_CHECK(jobs || jobs.error().message().starts_with("jobs.jsonl:"));
  if (!jobs) return 0;
  for (const auto& job : *jobs) {
    PLIMSOLL_CHECK(!job.name.empty());
    for (const auto need : job.needs) PLIMSOLL_CHECK(need != job.id);
  }
  return 0;
}
