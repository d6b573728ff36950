#include "jobs/text_file.h"

#include "base/text.h"
#include "jobs/place.h"
#include "jobs/spec.h"

namespace plimsoll::jobs {
namespace {

// The command of a record; empty if it has none.
std::string_view command_of(std::string_view record, Separator separator) {
  if (separator == Separator::nul) return record;
  record = trim(record);
  return record.starts_with('#') ? std::string_view{} : record;
}

}  // namespace

Result<std::vector<policy::JobSpec>> parse_text_jobs(std::string_view text, std::string_view file,
                                                     Separator separator,
                                                     const policy::JobSpec& defaults) {
  const auto records = split_records(text, file, separator);
  if (!records) return tl::unexpected(records.error());
  std::vector<policy::JobSpec> jobs;
  for (const Record& record : *records) {
    const std::string_view command = command_of(record.text, separator);
    if (command.empty()) continue;
    policy::JobSpec job = numbered(defaults, jobs.size() + 1);
    job.command = std::string(command);
    auto usable = check_job_count(jobs.size() + 1);
    if (usable) usable = check_lengths(job.command);
    if (!usable) return pass(std::move(usable), where({file, record.number}));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace plimsoll::jobs
