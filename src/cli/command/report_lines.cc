#include "cli/command/report_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "report/json.h"

namespace plimsoll::cli {

Result<std::optional<report::OutputFile>> open_report_file(const std::optional<std::string>& path,
                                                           report::Unfinished unfinished,
                                                           Durability durability,
                                                           const Disk& disk) {
  using Report = std::optional<report::OutputFile>;
  if (!path) return Report();
  if (*path == "-") {
    return Report(report::OutputFile::onto(UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)),
                                           "standard output"));
  }
  auto file = report::OutputFile::create(*path, unfinished, durability, disk);
  if (!file) return pass(std::move(file), "--report");
  return Report(std::move(*file));
}

std::optional<std::string> ReportLines::add(const report::JobReport& job) {
  const auto wrote = file_.append(report::to_json(job, report::JsonForm::line));
  if (wrote) {
    told_ = false;
    return std::nullopt;
  }
  ++missing_;
  if (std::exchange(told_, true)) return std::nullopt;
  return wrote.error().message() +
         "; the jobs continue, and Plimsoll tries again with the next line";
}

std::optional<std::string> ReportLines::finish(const report::RunSummary& summary) {
  // The last word: whatever was told before.
  const std::string lacks =
      missing_ == 0 ? "" : counted(missing_, "job is", "jobs are") + " missing from the report";
  const auto wrote = file_.append(report::to_json(summary, report::JsonForm::line));
  if (!wrote) {
    return wrote.error().message() + "; the report has no summary" +
           (lacks.empty() ? "" : ", and " + lacks) + file_.kept_text();
  }
  const auto finished = file_.finish();
  if (finished && lacks.empty()) return std::nullopt;
  if (finished) return lacks;
  return finished.error().message() + (lacks.empty() ? "" : "; " + lacks) + file_.kept_text();
}

}  // namespace plimsoll::cli
