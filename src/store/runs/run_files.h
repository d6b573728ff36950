#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "store/runs/run_meta.h"

// The directory of a recorded run, as its recorder writes it (docs/formats/runs.md).
namespace plimsoll::report {

// A file that grows by whole lines.
class LineFile {
 public:
  // Makes the file, for its owner alone.
  static Result<LineFile> create(const Disk& disk, int dir, const std::string& name);

  // After an error nothing of `lines` is in the file; what a disk has taken of them and does not
  // give back is cut off before anything follows.
  Result<void> append(std::string_view lines);

 private:
  LineFile(const Disk& disk, UniqueFd fd, std::string name)
      : disk_(&disk), fd_(std::move(fd)), name_(std::move(name)) {}

  const Disk* disk_;
  UniqueFd fd_;
  std::string name_;
  off_t size_ = 0;        // of whole lines
  bool is_torn_ = false;  // there is more
};

// A run that is being recorded. As long as this lives the directory is locked (flock(2)), by which
// others see that the run goes on: the lock ends with the process, however that ends.
class RunFiles {
 public:
  // Makes RUNS_DIR/RUN, for the caller alone, with meta.json in it. After an error it is gone.
  static Result<RunFiles> create(const std::string& runs_dir, const RunMeta& meta,
                                 const Disk& disk = Disk::kernel());

  // Writes meta.json anew: another line.
  Result<void> set_line(Bytes line);
  Result<void> append_events(std::string_view lines);
  Result<void> append_jobs(std::string_view lines);
  // The last; `left_out` is what the record lacks.
  Result<void> finish(std::string_view summary, const LeftOut& left_out);

  // Of all lines so far.
  [[nodiscard]] Bytes size() const { return size_; }

 private:
  RunFiles(const Disk& disk, UniqueFd dir, std::string path, RunMeta meta, LineFile events,
           LineFile jobs)
      : disk_(&disk),
        dir_(std::move(dir)),
        path_(std::move(path)),
        meta_(std::move(meta)),
        events_(std::move(events)),
        jobs_(std::move(jobs)) {}
  static Result<RunFiles> fill(UniqueFd dir, const std::string& path, const RunMeta& meta,
                               const Disk& disk);
  Result<void> append(LineFile& file, std::string_view lines);

  const Disk* disk_;
  UniqueFd dir_;  // locked
  std::string path_;
  RunMeta meta_;
  LineFile events_;
  LineFile jobs_;
  Bytes size_{};
};

}  // namespace plimsoll::report
