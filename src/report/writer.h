#pragma once

#include <sys/types.h>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::report {

// What becomes of the temporary file of an output that is destroyed before finish().
enum class Unfinished : std::uint8_t {
  remove,
  keep,  // what was written until then is worth having, if anything was
};

// An output file that shows up under its name only when it is complete: it is written to
// "NAME.PID.tmp" in the same directory and renamed by finish(). If Plimsoll is killed before that,
// the temporary file stays and whatever had the name before is untouched. That holds against the
// death of the program; with Durability::synced finish() forces first the file and then its name to
// the disk, so that it holds against a loss of power as well.
//
// A new file is its owner's alone (0600), as reports have arguments of commands in them. A file of
// the caller's own that exists keeps its permissions; one of another user is replaced by a new
// file, as he may have opened it to all. Where the name is a symbolic link, what it points to is
// replaced. A name that is no regular file (/dev/stdout, a pipe, /dev/null) is written to directly,
// and never replaced.
//
// Every error names the file. Calls block as long as write(2) does; on a pipe until there is room.
class OutputFile {
 public:
  // Opening a named pipe blocks until it has a reader.
  static Result<OutputFile> create(const std::string& path, Unfinished unfinished,
                                   Durability durability = Durability::written,
                                   const Disk& disk = Disk::kernel());

  // Writes directly to `fd`, which is called `name` in errors; for standard output.
  static OutputFile onto(UniqueFd fd, std::string name);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Writes all of `text`. After an error (a full disk, say) nothing of it is in the temporary file,
  // so that a file of lines stays one, and the next append() may succeed again; where the output is
  // no regular file a part of it may have got out.
  Result<void> append(std::string_view text);

  // Gives the file its name. Only once, and nothing is appended afterwards. After an error the
  // destructor does what it does with an unfinished file.
  Result<void> finish();

  // Whether it is no regular file, and who reads it may be waited for.
  [[nodiscard]] bool is_direct() const { return temporary_.empty(); }

  // After an error, the rest of a sentence on it: "; what was written is in NAME" if the destructor
  // will keep the temporary file, else nothing.
  [[nodiscard]] std::string kept_text() const;

 private:
  [[nodiscard]] bool is_kept() const;

  OutputFile(const Disk& disk, UniqueFd fd, std::string path)
      : disk_(&disk), fd_(std::move(fd)), path_(std::move(path)) {}

  const Disk* disk_;
  UniqueFd fd_;
  std::string path_;
  std::string temporary_;  // empty: writes directly, or is finished
  Unfinished unfinished_ = Unfinished::keep;
  Durability durability_ = Durability::written;
  off_t size_ = 0;  // of what append() has written whole
};

// Writes a whole file in this way.
Result<void> write_file(const std::string& path, std::string_view text,
                        Durability durability = Durability::written,
                        const Disk& disk = Disk::kernel());

}  // namespace plimsoll::report
