#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "record/run_meta.h"

// The directory of a recorded run, as its recorder writes it (docs/formats/runs.md).
namespace plimsoll::record {

// A file that grows by whole lines.
class LineFile {
 public:
  // Makes the file, for its owner alone.
  static Result<LineFile> create(int dir, const std::string& name);

  // After an error nothing of `lines` is in the file, as far as the disk allows.
  Result<void> append(std::string_view lines);

 private:
  LineFile(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  UniqueFd fd_;
  std::string name_;
  off_t size_ = 0;
};

// A run that is being recorded. As long as this lives the directory is locked (flock(2)), by which
// others see that the run goes on: the lock ends with the process, however that ends.
class RunFiles {
 public:
  // Makes RUNS_DIR/RUN, for the caller alone, with meta.json in it.
  static Result<RunFiles> create(const std::string& runs_dir, const RunMeta& meta);

  Result<void> append_events(std::string_view lines);
  Result<void> append_jobs(std::string_view lines);
  // The last.
  Result<void> finish(std::string_view summary);

  // Of all lines so far.
  [[nodiscard]] Bytes size() const { return size_; }

 private:
  RunFiles(UniqueFd dir, std::string path, RunMeta meta, LineFile events, LineFile jobs)
      : dir_(std::move(dir)),
        path_(std::move(path)),
        meta_(std::move(meta)),
        events_(std::move(events)),
        jobs_(std::move(jobs)) {}
  Result<void> append(LineFile& file, std::string_view lines);

  UniqueFd dir_;  // locked
  std::string path_;
  RunMeta meta_;
  LineFile events_;
  LineFile jobs_;
  Bytes size_{};
};

}  // namespace plimsoll::record
