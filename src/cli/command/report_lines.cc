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
    UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!out) return fail_errno("--report: use standard output");
    return Report(report::OutputFile::onto(std::move(out), "standard output"));
  }
  auto file = report::OutputFile::create(*path, unfinished, durability, disk);
  if (!file) return pass(std::move(file), "--report");
  return Report(std::move(*file));
}

void ReportLines::begin(const loop::Loop& loop) {
  if (!file_.is_direct()) return;
  written_ = std::make_unique<Written>();
  worker_ = std::make_unique<loop::Worker>(loop);
}

std::optional<std::string> ReportLines::add(const report::JobReport& job) {
  std::string line = report::to_json(job, report::JsonForm::line);
  if (worker_ == nullptr) return take(file_.append(line));
  {
    const std::lock_guard held(written_->lock);
    written_->waiting += line.size();
  }
  const auto write = [this, line = std::move(line)] {
    auto wrote = file_.append(line);
    const std::lock_guard held(written_->lock);
    written_->waiting -= line.size();
    written_->results.push_back(std::move(wrote));
    written_->changed.notify_all();
  };
  worker_->submit(write, [] {});
  return take_written();
}

std::optional<std::string> ReportLines::take_written() {
  std::vector<Result<void>> results;
  {
    std::unique_lock held(written_->lock);
    written_->changed.wait(held, [this] { return written_->waiting <= kReportWaitsMax; });
    results.swap(written_->results);
  }
  std::optional<std::string> told;
  for (const Result<void>& wrote : results) {
    if (auto text = take(wrote)) told = std::move(text);
  }
  return told;
}

std::optional<std::string> ReportLines::take(const Result<void>& wrote) {
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
  if (worker_ != nullptr) {
    worker_->drain();
    [[maybe_unused]] const auto told = take_written();
  }
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
