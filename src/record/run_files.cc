#include "record/run_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "history/state_dir.h"

namespace plimsoll::record {
namespace {

constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kPrivateDir = 0700;

Result<void> write_all(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail_errno("write " + name);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

// A reader finds the file before or after, never half of it.
Result<void> replace_file(int dir, const std::string& name, std::string_view text) {
  const std::string draft = name + ".tmp";
  const UniqueFd fd(
      ::openat(dir, draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivateFile));
  if (!fd) return fail_errno("create " + draft);
  if (auto wrote = write_all(fd.get(), text, draft); !wrote) {
    ::unlinkat(dir, draft.c_str(), 0);
    return wrote;
  }
  if (::renameat(dir, draft.c_str(), dir, name.c_str()) != 0) return fail_errno("rename " + draft);
  return {};
}

}  // namespace

Result<LineFile> LineFile::create(int dir, const std::string& name) {
  UniqueFd fd(::openat(dir, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPrivateFile));
  if (!fd) return fail_errno("create " + name);
  return LineFile(std::move(fd), name);
}

Result<void> LineFile::append(std::string_view lines) {
  auto wrote = write_all(fd_.get(), lines, name_);
  if (wrote) {
    size_ += static_cast<off_t>(lines.size());
  } else if (::ftruncate(fd_.get(), size_) == 0) {
    ::lseek(fd_.get(), size_, SEEK_SET);
  }
  return wrote;
}

Result<RunFiles> RunFiles::create(const std::string& runs_dir, const RunMeta& meta) {
  if (auto made = history::make_private_dir(runs_dir); !made) return pass(std::move(made));
  const std::string path = runs_dir + '/' + meta.run;
  if (::mkdir(path.c_str(), kPrivateDir) != 0) return fail_errno("make " + path);
  auto dir = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!dir) return pass(std::move(dir));
  // Waits for one who has a look at it just now, which takes no time.
  if (::flock(dir->get(), LOCK_EX) != 0) return fail_errno("lock " + path);
  auto events = LineFile::create(dir->get(), "events.jsonl");
  if (!events) return pass(std::move(events), path);
  auto jobs = LineFile::create(dir->get(), "jobs.jsonl");
  if (!jobs) return pass(std::move(jobs), path);
  auto wrote = replace_file(dir->get(), "meta.json", to_json(meta, RunMark::begun));
  if (!wrote) return pass(std::move(wrote), path);
  return RunFiles(std::move(*dir), path, meta, std::move(*events), std::move(*jobs));
}

Result<void> RunFiles::append(LineFile& file, std::string_view lines) {
  auto wrote = file.append(lines);
  if (!wrote) return pass(std::move(wrote), path_);
  size_ += Bytes{lines.size()};
  return {};
}

Result<void> RunFiles::append_events(std::string_view lines) { return append(events_, lines); }

Result<void> RunFiles::append_jobs(std::string_view lines) { return append(jobs_, lines); }

Result<void> RunFiles::finish(std::string_view summary) {
  auto wrote = replace_file(dir_.get(), "summary.json", summary);
  if (wrote) wrote = replace_file(dir_.get(), "meta.json", to_json(meta_, RunMark::finished));
  if (!wrote) return pass(std::move(wrote), path_);
  return {};
}

}  // namespace plimsoll::record
