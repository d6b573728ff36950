#include "jobfile/text_file.h"

#include "base/text.h"
#include "jobfile/place.h"
#include "jobfile/spec.h"

namespace plimsoll::jobfile {
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

std::optional<std::string> warning_of_text(std::string_view text, std::string_view file) {
  std::size_t first = 0, count = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    if (!command_of(take_line(text), Separator::newline).ends_with('\\')) continue;
    if (count++ == 0) first = number;
  }
  if (count == 0) return std::nullopt;
  std::string warning =
      where({file, first}) +
      ": the line ends in a backslash, but lines are not joined: each line is a command of its own";
  if (count > 1) warning += " (" + std::to_string(count) + " lines end so)";
  return warning;
}

}  // namespace plimsoll::jobfile
