#include "jobfile/jsonl_file.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "jobfile/json_keys.h"
#include "jobfile/json_value.h"
#include "jobfile/needs.h"
#include "jobfile/place.h"
#include "jobfile/records.h"
#include "jobfile/spec.h"

namespace plimsoll::jobfile {
namespace {

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
