#pragma once

#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace plimsoll::output {

// The longest name that a job's directory gets: a file system's own limit is 255, and people put
// endings of their own behind.
inline constexpr std::size_t kResultNameMax = 200;

// The name of a job's directory: `id` with '/', '%', control characters and a '.' in front as %XX,
// "%empty" for the empty one. One too long is cut and ends in "%~" and a hash of the whole. No two
// ids of which none is too long have the same name, and none is "." or "..".
std::string result_name(std::string_view id);

// What one output of an attempt is kept in beside being printed.
class ResultFile {
 public:
  // Writes from the front of `rest` and takes off it what was written; after an error the remainder
  // is still there, to be tried again.
  Result<void> append(std::string_view& rest);

  // Nothing follows: with Durability::synced all of it is forced to the disk.
  Result<void> finish();

 private:
  friend class Results;
  ResultFile(const Disk& disk, Durability durability, UniqueFd fd, std::string path)
      : disk_(&disk), durability_(durability), fd_(std::move(fd)), path_(std::move(path)) {}

  const Disk* disk_;
  Durability durability_;
  UniqueFd fd_;
  std::string path_;
};

// Of one attempt.
struct ResultFiles {
  ResultFile out, err;
};

// --results DIR: DIR/<name of the job>/{stdout,stderr,seq}.
class Results {
 public:
  // Makes the directory where it is missing, and its parents. An error also where it is there but
  // can't be written in.
  static Result<Results> in(const std::string& directory,
                            Durability durability = Durability::written,
                            const Disk& disk = Disk::kernel());

  // Makes the job's directory and new, empty files in it, in place of those of an earlier attempt
  // or run; `seq` holds the job's number. Follows no symbolic link below DIR. With
  // Durability::synced their names are on the disk then.
  [[nodiscard]] Result<ResultFiles> create(JobId job, std::string_view id) const;

 private:
  Results(const Disk& disk, Durability durability, std::string path, UniqueFd directory)
      : disk_(&disk),
        durability_(durability),
        path_(std::move(path)),
        directory_(std::move(directory)) {}
  [[nodiscard]] Result<ResultFile> create_file(int own, const std::string& path,
                                               const char* name) const;
  [[nodiscard]] Result<void> sync(int fd, const std::string& path) const;

  const Disk* disk_;
  Durability durability_;
  std::string path_;
  UniqueFd directory_;
};

}  // namespace plimsoll::output
