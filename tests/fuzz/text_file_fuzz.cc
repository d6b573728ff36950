#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "jobs/format.h"
#include "jobs/joblog.h"
#include "jobs/text_file.h"

// Any text as a job file and as a job log.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::jobs;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)detect_format(text);
  for (const Separator separator : {Separator::newline, Separator::nul}) {
    const auto jobs = parse_text_jobs(text, "jobs.txt", separator, {});
    PLIMSOLL_CHECK(jobs || jobs.error().message().starts_with("jobs.txt:"));
    if (!jobs) continue;
    for (const auto& job : *jobs) PLIMSOLL_CHECK(!std::get<std::string>(job.command).empty());
  }
  const auto log = parse_joblog(text, "log");
  PLIMSOLL_CHECK(log || log.error().message().starts_with("log:"));
  if (!log) return 0;
  std::string written = joblog_header();
  for (const auto& entry : *log) written += joblog_line(entry);
  PLIMSOLL_CHECK(*parse_joblog(written, "log") == *log);
  return 0;
}
