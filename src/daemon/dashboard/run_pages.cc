#include "daemon/dashboard/run_pages.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/may_wait.h"
#include "base/quantity.h"
#include "page/page.h"
#include "page/record.h"
#include "report/json.h"
#include "store/runs/event_log.h"
#include "store/runs/lists.h"
#include "store/runs/run_dir.h"

namespace plimsoll::dashboard {
namespace {

Bytes size_of(const std::string& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file, missing);
  return missing ? Bytes{} : Bytes{size};
}

}  // namespace

Result<std::string> runs_json(const std::string& runs_dir) {
  may_wait("dashboard::runs_json");
  auto runs = report::list_runs(runs_dir);
  if (!runs) return pass(std::move(runs));
  std::reverse(runs->begin(), runs->end());
  if (runs->size() > kRunsListed) runs->erase(runs->begin() + kRunsListed, runs->end());
  return report::to_json(*runs, report::JsonForm::line);
}

Result<std::string> run_page(const std::string& runs_dir, std::string_view id) {
  may_wait("dashboard::run_page");
  auto runs = report::list_runs(runs_dir);
  if (!runs) return pass(std::move(runs));
  const auto run = std::find_if(runs->begin(), runs->end(),
                                [id](const report::RunEntry& entry) { return entry.id == id; });
  if (run == runs->end()) return fail(std::errc::no_such_process, "no such run is recorded");
  const std::string events_file = run->path + "/events.jsonl";
  const Bytes size = size_of(events_file) + size_of(run->path + "/jobs.jsonl");
  if (size > kRecordBytesMax) {
    return fail("the record has " + format_bytes(size) + "; `plimsoll report " + run->id +
                " --html FILE` makes a page of more than " + format_bytes(kRecordBytesMax));
  }
  auto events = report::read_events(events_file);
  if (!events && !events.error().gone()) return pass(std::move(events));
  auto record = page::read_record(
      std::move(*run), events ? std::move(*events) : std::vector<report::RecordedEvent>());
  if (!record) return pass(std::move(record));
  page::Contents contents;
  contents.runs.push_back({.record = std::move(*record)});
  return page::page_of(contents);
}

}  // namespace plimsoll::dashboard
