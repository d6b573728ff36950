#include "jobfile/job_file.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "jobfile/draft.h"
#include "jobfile/json_keys.h"
#include "jobfile/json_value.h"
#include "jobfile/place.h"
#include "jobfile/records.h"
#include "jobfile/spec.h"

namespace plimsoll::jobfile {
namespace {

// The command of a record; empty if it has none.
std::string_view command_of(std::string_view record, Separator separator) {
  if (separator == Separator::nul) return record;
  record = trim(record);
  return record.starts_with('#') ? std::string_view{} : record;
}

Result<Draft> parse_job(const Record& record, std::uint64_t number,
                        const policy::JobSpec& defaults) {
  auto object = parse_object(record.text);
  if (!object) return pass(std::move(object));
  Draft draft{.spec = numbered(defaults, number), .needs = {}, .line = record.number};
  auto usable = apply_keys(*object, draft);
  if (usable) usable = check_job_count(number);
  if (usable) usable = check_lengths(draft.spec.command);
  if (!usable) return pass(std::move(usable));
  return draft;
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

Result<std::vector<policy::JobSpec>> parse_jsonl_jobs(std::string_view text, std::string_view file,
                                                      const policy::JobSpec& defaults) {
  const auto records = split_records(text, file, Separator::newline);
  if (!records) return tl::unexpected(records.error());
  std::vector<Draft> drafts;
  for (const Record& record : *records) {
    if (trim(record.text).empty()) continue;
    auto draft = parse_job(record, drafts.size() + 1, defaults);
    if (!draft) return pass(std::move(draft), where({file, record.number}));
    drafts.push_back(std::move(*draft));
  }
  auto resolved = resolve_needs(drafts, file);
  if (!resolved) return pass(std::move(resolved));
  std::vector<policy::JobSpec> jobs;
  jobs.reserve(drafts.size());
  for (Draft& draft : drafts) jobs.push_back(std::move(draft.spec));
  return jobs;
}

}  // namespace plimsoll::jobfile
