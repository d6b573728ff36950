#include "cli/batch_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "jobs/joblog.h"
#include "jobs/resume.h"
#include "record/json.h"

namespace plimsoll::cli {
namespace {

constexpr mode_t kOwnerOnly = 0600;  // commands are in it

Result<std::vector<jobs::JoblogEntry>> read_joblog(const std::string& path) {
  auto text = read_text_at(AT_FDCWD, path);
  if (!text && text.error().gone()) return std::vector<jobs::JoblogEntry>{};
  if (!text) return pass(std::move(text), "--joblog");
  return jobs::parse_joblog(*text, path);
}

jobs::Resume resume_rule(Again again) {
  if (again == Again::failed_as_well) return jobs::Resume::unfinished_and_failed;
  return again == Again::failed_alone ? jobs::Resume::failed : jobs::Resume::unfinished;
}

// The log is written in place, line by line, so that a run that dies leaves a log to resume from.
Result<record::OutputFile> open_joblog(const std::string& path, Again again) {
  const int mode = again == Again::all ? O_TRUNC : O_APPEND;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | mode, kOwnerOnly));
  if (!fd) return fail_errno("--joblog: open " + path);
  struct stat status{};
  const bool is_new = ::fstat(fd.get(), &status) == 0 && status.st_size == 0;
  if (!is_new && S_ISREG(status.st_mode)) {
    // A line that was cut off when its writer died is no line: the next begins in its place.
    auto text = read_text(fd.get());
    if (!text) return pass(std::move(text), "--joblog");
    const std::size_t whole = text->rfind('\n') + 1;
    if (::ftruncate(fd.get(), static_cast<off_t>(whole)) != 0) {
      return fail_errno("--joblog: cut " + path);
    }
  }
  auto file = record::OutputFile::onto(std::move(fd), path);
  if (is_new) {
    if (auto wrote = file.append(jobs::joblog_header()); !wrote) {
      return pass(std::move(wrote), "--joblog");
    }
  }
  return file;
}

jobs::JoblogEntry entry_of(const policy::JobSpec& job, const record::JobReport& report,
                           Bytes received) {
  jobs::JoblogEntry entry;
  entry.sequence = static_cast<std::uint64_t>(job.id);
  entry.started = report.times.started.value_or(report.times.queued);
  entry.runtime = report.times.wall.value_or(Duration{});
  entry.received = received.count;
  const jobs::ExitColumns columns =
      jobs::exit_columns({report.outcome, report.exit_code, report.signal, entry.runtime});
  entry.exit_value = columns.exit_value;
  entry.signal = columns.signal;
  entry.command = policy::command_line(job.command);
  return entry;
}

}  // namespace

Result<std::vector<policy::JobSpec>> jobs_to_run(const BatchOptions& options,
                                                 std::vector<policy::JobSpec> jobs) {
  if (options.again == Again::all) return jobs;
  auto log = read_joblog(*options.joblog);
  if (!log) return pass(std::move(log));
  return jobs::jobs_left(std::move(jobs), *log, resume_rule(options.again));
}

Result<BatchFiles> BatchFiles::open(const BatchOptions& options) {
  BatchFiles files;
  if (options.joblog) {
    auto joblog = open_joblog(*options.joblog, options.again);
    if (!joblog) return pass(std::move(joblog));
    files.joblog_.emplace(std::move(*joblog));
  }
  if (options.report == "-") {
    files.report_.emplace(
        record::OutputFile::onto(UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)), "stdout"));
  } else if (options.report) {
    auto report = record::OutputFile::create(*options.report, record::Unfinished::keep);
    if (!report) return pass(std::move(report), "--report");
    files.report_.emplace(std::move(*report));
  }
  return files;
}

std::optional<std::string> BatchFiles::append(std::optional<record::OutputFile>& file,
                                              const std::string& text) {
  if (!file) return std::nullopt;
  const auto wrote = file->append(text);
  if (wrote) {
    told_ = false;
    return std::nullopt;
  }
  if (std::exchange(told_, true)) return std::nullopt;
  return wrote.error().message() + "; the jobs go on, and the next line is tried again";
}

std::optional<std::string> BatchFiles::job_ended(const policy::JobSpec& job,
                                                 const record::JobReport& report, Bytes received) {
  std::optional<std::string> told;
  if (report.outcome != policy::Outcome::skipped) {
    told = append(joblog_, jobs::joblog_line(entry_of(job, report, received)));
  }
  const auto also =
      report_ ? append(report_, record::to_json(report, record::JsonForm::line)) : std::nullopt;
  return told ? told : also;
}

std::optional<std::string> BatchFiles::run_ended(const record::RunSummary& summary) {
  if (!report_) return std::nullopt;
  auto told = append(report_, record::to_json(summary, record::JsonForm::line));
  if (told) return told;
  const auto finished = report_->finish();
  return finished ? std::nullopt : std::optional(finished.error().message());
}

}  // namespace plimsoll::cli
