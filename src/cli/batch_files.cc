#include "cli/batch_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "jobfile/joblog.h"
#include "jobfile/resume.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kPieceBytes = 256 << 10;

jobfile::Resume resume_rule(Again again) {
  if (again == Again::failed_as_well) return jobfile::Resume::unfinished_and_failed;
  return again == Again::failed_alone ? jobfile::Resume::failed : jobfile::Resume::unfinished;
}

// How many bytes of a log are whole lines. Its entries go to `remainder`.
Result<std::uint64_t> read_joblog(int fd, const std::string& path, jobfile::Remainder& remainder) {
  jobfile::JoblogParser parser(path);
  std::vector<char> piece(kPieceBytes);
  for (off_t offset = 0;;) {
    const ssize_t got = ::pread(fd, piece.data(), piece.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + path);
    if (got == 0) {
      if (auto ended = parser.end(); !ended) return pass(std::move(ended));
      return parser.whole();
    }
    auto added = parser.add({piece.data(), static_cast<std::size_t>(got)});
    if (!added) return pass(std::move(added));
    for (const jobfile::JoblogEntry& entry : *added) remainder.add(entry);
    offset += got;
  }
}

jobfile::JoblogEntry entry_of(const policy::JobSpec& job, const report::JobReport& report,
                              Bytes received) {
  jobfile::JoblogEntry entry;
  entry.sequence = static_cast<std::uint64_t>(job.id);
  entry.started = report.times.started.value_or(report.times.queued);
  entry.runtime = report.times.wall.value_or(Duration{});
  entry.received = received.count;
  const jobfile::ExitColumns columns =
      jobfile::exit_columns({report.outcome, report.exit_code, report.signal, entry.runtime});
  entry.exit_value = columns.exit_value;
  entry.signal = columns.signal;
  entry.command = policy::command_line(job.command);
  return entry;
}

// "168 of 191 jobs are in the job log run.log, 2 of them failed; running 23 jobs; 9 lines of it
// match no job".
std::string resume_text(const jobfile::JobsLeft& left, std::size_t all, const std::string& log) {
  std::string text = left.logged == all ? "all " : std::to_string(left.logged) + " of ";
  text += counted(all, "job is", "jobs are") + " in the job log " + log;
  if (left.failed > 0) text += ", " + std::to_string(left.failed) + " of them failed";
  text += left.jobs.empty() ? "; nothing is left to run"
                            : "; running " + counted(left.jobs.size(), "job", "jobs");
  if (left.strange > 0) {
    text += "; " + counted(left.strange, "line of the log matches", "lines of the log match") +
            " no job";
  }
  return text;
}

// Takes from `jobs` what the log in `fd` says need not run. Returns where the log is to go on.
Result<std::uint64_t> resume(const BatchOptions& options, int fd,
                             std::vector<policy::JobSpec>& jobs) {
  const std::size_t all = jobs.size();
  jobfile::Remainder remainder(std::move(jobs));
  const std::string& path = *options.joblog;
  auto whole = read_joblog(fd, path, remainder);
  if (!whole) return pass(std::move(whole));
  jobfile::JobsLeft left = std::move(remainder).left(resume_rule(options.again));
  if (!options.quiet) complain(resume_text(left, all, path));
  jobs = std::move(left.jobs);
  return whole;
}

// What a writer that died, or a machine, has left after the last whole line.
void tell_torn(const BatchOptions& options, std::uint64_t bytes) {
  if (options.quiet) return;
  complain(*options.joblog + ": the last line is incomplete: " +
           counted(bytes, "byte was", "bytes were") + " removed, and its job runs again");
}

}  // namespace

Result<std::vector<policy::JobSpec>> jobs_to_run(const BatchOptions& options,
                                                 std::vector<policy::JobSpec> jobs) {
  if (options.again == Again::all) return jobs;
  auto log = open_at(AT_FDCWD, *options.joblog, O_RDONLY);
  if (!log && !log.error().gone()) return pass(std::move(log), "--joblog");
  // One that is not there yet has nothing in it.
  if (!log) log = open_at(AT_FDCWD, "/dev/null", O_RDONLY);
  if (!log) return pass(std::move(log));
  auto resumed = resume(options, log->get(), jobs);
  if (!resumed) return pass(std::move(resumed), "--joblog");
  return jobs;
}

Result<BatchFiles> BatchFiles::open(const BatchOptions& options, std::vector<policy::JobSpec>& jobs,
                                    const Disk& disk) {
  BatchFiles files;
  files.durability_ = options.durability;
  if (options.joblog) {
    // Locked before it is read: no two runs start the same jobs.
    auto joblog = report::LineLog::open(*options.joblog, disk);
    if (!joblog) return pass(std::move(joblog), "--joblog");
    if (options.again != Again::all) {
      auto whole = resume(options, joblog->fd(), jobs);
      if (!whole) return pass(std::move(whole), "--joblog");
      files.joblog_whole_ = *whole;
    }
    files.joblog_.emplace(std::move(*joblog));
  }
  auto report =
      open_report_file(options.report, report::Unfinished::keep, options.durability, disk);
  if (!report) return pass(std::move(report));
  if (*report) files.report_.emplace(std::move(**report));
  return files;
}

Result<void> BatchFiles::begin(const BatchOptions& options) {
  if (!joblog_) return {};
  const auto size = joblog_->size();
  if (!size) return fail(size.error().code, "--joblog: " + size.error().what);
  const bool is_torn = *size > joblog_whole_;
  if (options.again != Again::all && is_torn) tell_torn(options, **size - joblog_whole_);
  Result<void> done{};
  if (*size) done = joblog_->cut(joblog_whole_);
  if (done && joblog_whole_ == 0) done = joblog_->append(jobfile::joblog_header());
  if (done && durability_ == Durability::synced) {
    done = joblog_->sync();
    if (done) done = joblog_->sync_name();
  }
  if (!done) return pass(std::move(done), "--joblog");
  return {};
}

std::optional<std::string> BatchFiles::log_line(std::string line) {
  if (!joblog_) return std::nullopt;
  const auto wrote = joblog_->append(std::move(line));
  if (wrote || std::exchange(told_of_joblog_, true)) return std::nullopt;
  const bool nobody_reads = wrote.error().code == std::errc::broken_pipe;
  return wrote.error().message() + "; the jobs continue, and their lines are written when " +
         (nobody_reads ? "a process reads the pipe again" : "there is space again");
}

std::optional<std::string> BatchFiles::job_ended(const policy::JobSpec& job,
                                                 const report::JobReport& report, Bytes received) {
  std::optional<std::string> told;
  if (report.outcome != policy::Outcome::skipped) {
    told = log_line(jobfile::joblog_line(entry_of(job, report, received)));
  }
  if (!report_) return told;
  auto also = report_->add(report);
  if (told && also) return *told + "; " + *also;
  return told ? told : also;
}

std::optional<std::string> BatchFiles::jobs_ended() {
  if (!joblog_) return std::nullopt;
  const bool is_late = joblog_->unwritten() > 0;
  auto wrote = joblog_->catch_up();
  if (wrote && is_late && durability_ == Durability::synced) wrote = joblog_->sync();
  const std::uint64_t lost = joblog_->unwritten();
  if (lost == 0) return wrote ? std::nullopt : std::optional(wrote.error().message());
  const std::string why = wrote ? "" : wrote.error().message() + "; ";
  return why + counted(lost, "job is", "jobs are") +
         " missing from the job log, and --resume would run them again";
}

std::optional<std::string> BatchFiles::run_ended(const report::RunSummary& summary) {
  return report_ ? report_->finish(summary) : std::nullopt;
}

}  // namespace plimsoll::cli
