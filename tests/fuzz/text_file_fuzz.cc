#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "jobfile/format.h"
#include "jobfile/job_file.h"
#include "jobfile/joblog.h"

// Any text as a job file and as a job log.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::jobfile;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)detect_format(text);
  for (const Separator separator : {Separator::newline, Separator::nul}) {
    const auto jobs = parse_text_jobs(text, "jobs.txt", separator, {});
    PLIMSOLL_CHECK(jobs || jobs.error().message().starts_with("jobs.txt:"));
    if (!jobs) continue;
    for (const auto& job : *jobs) PLIMSOLL_CHECK(!std::get<std::string>(job.command).empty());
  }
  std::string written = joblog_header();
  const auto read = JoblogParser("log").add(text);
  PLIMSOLL_CHECK(read || read.error().message().starts_with("log:"));
  if (!read) return 0;
  for (const JoblogEntry& entry : *read) written += joblog_line(entry);
  std::string again = joblog_header();
  const auto second = JoblogParser("log").add(written);
  PLIMSOLL_CHECK(second.has_value());
  for (const JoblogEntry& entry : *second) again += joblog_line(entry);
  PLIMSOLL_CHECK(again == written);
  return 0;
}
