#include "store/runs/run_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/history/state_dir.h"

namespace plimsoll::report {
namespace {

constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kPrivateDir = 0700;
constexpr const char* kEventsFile = "events.jsonl";
constexpr const char* kJobsFile = "jobs.jsonl";

// A reader finds the file before or after, never half of it.
Result<void> replace_file(const Disk& disk, int dir, const std::string& name,
                          std::string_view text) {
  const std::string draft = name + ".tmp";
  const UniqueFd fd(disk.open(dir, draft, O_WRONLY | O_CREAT | O_TRUNC, kPrivateFile));
  if (!fd) return fail_errno("create " + draft);
  auto done = write_front(disk, fd.get(), text);
  if (!done) {
    done = pass(std::move(done), draft);
  } else if (disk.rename(dir, draft, name) != 0) {
    done = fail_errno("rename " + draft);
  }
  if (!done) disk.unlink(dir, draft);
  return done;
}

}  // namespace

Result<LineFile> LineFile::create(const Disk& disk, int dir, const std::string& name) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND;
  UniqueFd fd(disk.open(dir, name, kFlags, kPrivateFile));
  if (!fd) return fail_errno("create " + name);
  return LineFile(disk, std::move(fd), name);
}

Result<void> LineFile::append(std::string_view lines) {
  if (is_torn_) {
    if (disk_->truncate(fd_.get(), size_) != 0) return fail_errno("cut " + name_);
    is_torn_ = false;
  }
  std::string_view rest = lines;
  auto wrote = write_front(*disk_, fd_.get(), rest);
  if (wrote) {
    size_ += static_cast<off_t>(lines.size());
    return {};
  }
  is_torn_ = disk_->truncate(fd_.get(), size_) != 0;
  return pass(std::move(wrote), name_);
}

Result<RunFiles> RunFiles::create(const std::string& runs_dir, const RunMeta& meta,
                                  const Disk& disk) {
  // Whoever may write to the directory above could put another one in its place.
  const std::string state_dir = runs_dir.substr(0, runs_dir.rfind('/'));
  for (const std::string& dir : {state_dir, runs_dir}) {
    if (auto made = history::make_private_dir(dir, disk); !made) return pass(std::move(made));
  }
  const std::string path = runs_dir + '/' + meta.run;
  if (disk.make_directory(AT_FDCWD, path, kPrivateDir) != 0) return fail_errno("make " + path);
  auto dir = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!dir) return pass(std::move(dir));
  auto files = fill(std::move(*dir), path, meta, disk);
  if (!files) {
    for (const char* name : {kEventsFile, kJobsFile}) disk.unlink(AT_FDCWD, path + '/' + name);
    disk.remove_directory(AT_FDCWD, path);
  }
  return files;
}

Result<RunFiles> RunFiles::fill(UniqueFd dir, const std::string& path, const RunMeta& meta,
                                const Disk& disk) {
  // Waits for one who has a look at it just now, which takes no time.
  if (::flock(dir.get(), LOCK_EX) != 0) return fail_errno("lock " + path);
  auto events = LineFile::create(disk, dir.get(), kEventsFile);
  if (!events) return pass(std::move(events), path);
  auto jobs = LineFile::create(disk, dir.get(), kJobsFile);
  if (!jobs) return pass(std::move(jobs), path);
  auto wrote = replace_file(disk, dir.get(), "meta.json", to_json(meta, RunMark::begun));
  if (!wrote) return pass(std::move(wrote), path);
  return RunFiles(disk, std::move(dir), path, meta, std::move(*events), std::move(*jobs));
}

Result<void> RunFiles::append(LineFile& file, std::string_view lines) {
  auto wrote = file.append(lines);
  if (!wrote) return pass(std::move(wrote), path_);
  size_ += Bytes{lines.size()};
  return {};
}

Result<void> RunFiles::append_events(std::string_view lines) { return append(events_, lines); }

Result<void> RunFiles::append_jobs(std::string_view lines) { return append(jobs_, lines); }

Result<void> RunFiles::set_line(Bytes line) {
  meta_.line = line;
  auto wrote = replace_file(*disk_, dir_.get(), "meta.json", to_json(meta_, RunMark::begun));
  if (!wrote) return pass(std::move(wrote), path_);
  return {};
}

Result<void> RunFiles::finish(std::string_view summary, const LeftOut& left_out) {
  meta_.left_out = left_out;
  auto wrote = replace_file(*disk_, dir_.get(), "summary.json", summary);
  if (wrote)
    wrote = replace_file(*disk_, dir_.get(), "meta.json", to_json(meta_, RunMark::finished));
  if (!wrote) return pass(std::move(wrote), path_);
  return {};
}

}  // namespace plimsoll::report
