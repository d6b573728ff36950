#pragma once

#include <string>
#include <string_view>

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

// The files that one attempt's output is kept in beside being printed.
struct ResultFiles {
  std::string directory;  // their own
  UniqueFd out, err;      // "stdout" and "stderr" in it
};

// --results DIR: DIR/<name of the job>/{stdout,stderr,seq}.
class Results {
 public:
  // Makes the directory where it is missing, and its parents. An error also where it is there but
  // can't be written in.
  static Result<Results> in(const std::string& directory);

  // Makes the job's directory and new, empty files in it, in place of those of an earlier attempt
  // or run; `seq` holds the job's number. Follows no symbolic link below DIR.
  [[nodiscard]] Result<ResultFiles> create(JobId job, std::string_view id) const;

 private:
  Results(std::string path, UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  std::string path_;
  UniqueFd directory_;
};

}  // namespace plimsoll::output
