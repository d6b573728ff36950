#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "jobfile/format.h"
#include "jobfile/joblog.h"
#include "jobfile/text_file.h"

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
  JoblogParser log("log", [&](const JoblogEntry& entry) { written += joblog_line(entry); });
  const auto read = log.add(text);
  PLIMSOLL_CHECK(read || read.error().message().starts_with("log:"));
  std::string again = joblog_header();
  JoblogParser second("log", [&](const JoblogEntry& entry) { again += joblog_line(entry); });
  PLIMSOLL_CHECK(second.add(written) && again == written);
  return 0;
}
