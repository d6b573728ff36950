#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "supervisor/output/results.h"
#include "supervisor/output/spool.h"

namespace plimsoll::output {

// Where the next byte of a text stands in its line.
enum class InLine : std::uint8_t { start, middle };

// Copies `data` to the end of `out`, with `tag` and a tab in front of each line that begins in it.
// Ends before a line once `out` has `limit` bytes. Returns how much of `data` was taken: at least
// one line, or all. `at` says where `data` begins, and afterwards where what was taken ends.
std::size_t append_tagged(std::string& out, const std::optional<std::string>& tag,
                          std::string_view data, std::size_t limit, InLine& at);

// How text is printed.
struct Form {
  // What is put where text ends that is not the end of a line.
  enum class Newline : std::uint8_t {
    none,            // bytes go out as they came
    after_the_last,  // of a stream
    always,          // also where a line is broken at kLineBytesMax
  };
  std::optional<std::string> tag;  // in front of each line
  Newline newline = Newline::none;
};

// A line longer than this counts as whole at this length, so that a program that never ends a line
// is printed nevertheless. Longer than what people read or tools write in one line.
inline constexpr std::uint64_t kLineBytesMax = 1 << 20;

// How much of a stream that is printed while it runs may wait for a slow reader; then the job waits
// for the reader as it would on a pipe of its own.
inline constexpr std::uint64_t kBacklogMax = 16 << 20;
static_assert(kLineBytesMax < kBacklogMax, "a stream that waits must have something to print");

// What one attempt writes to one of its outputs: read from a pipe, kept in the spool (and in a
// results file), printed from there.
//
// Invariant: printed() <= whole() <= received. What stands before whole() may be printed.
class Stream {
 public:
  // A copy of everything goes there too, until the end.
  void copy_to(ResultFile results);

  // What came of reading the pipe once.
  enum class Read : std::uint8_t { nothing, something, end };

  // Nothing is collected: there is no pipe, and the stream has ended.
  Stream() = default;
  // `count` is to be counted up and must outlive this.
  Stream(UniqueFd pipe, std::atomic<std::uint64_t>& count)
      : pipe_(std::move(pipe)), count_(&count) {}

  // Reads the pipe once and keeps what came. After an error (a full disk) what could not be kept is
  // held(), and the pipe must not be read before keep_held() has succeeded.
  Result<Read> read(Spool& spool, std::span<char> buffer);
  Result<void> keep_held(Spool& spool);
  [[nodiscard]] bool held() const { return held_ != nullptr; }
  // What is held will not be kept.
  void lose_held() { held_.reset(); }

  // Nothing more is read: closes the files and makes everything whole. Nothing may be held. Of an
  // error (the copy can't be forced to the disk) is to be told; the stream has ended all the same.
  Result<void> end(const Form& form);
  [[nodiscard]] bool ended() const { return !pipe_; }

  // Throws away what is not printed yet; if that is the rest of a line, a newline is still owed.
  void drop(Spool& spool);

  // Appends to `text` what is printed next: at least a byte, at most kBlockBytes and as many as fit
  // with their tags, lines whole, into twice that. Where the spool can't be read, all that is not
  // printed yet is lost.
  Result<void> compose(std::string& text, Spool& spool, const Form& form);

  [[nodiscard]] bool printable() const { return printed_ < whole_ || owes_newline_; }
  [[nodiscard]] InLine in_line() const { return in_line_; }
  [[nodiscard]] std::uint64_t received() const { return extents_.size(); }
  [[nodiscard]] std::uint64_t backlog() const { return extents_.size() - printed_; }
  [[nodiscard]] int pipe() const { return pipe_.get(); }

 private:
  // What was read and could not be written.
  struct Held {
    std::string data;
    std::size_t to_spool = 0;    // this much of its end is still to go there
    std::size_t to_results = 0;  //
  };
  struct Rest {
    std::string_view to_spool, to_results;
  };
  Result<void> keep(Spool& spool, Rest& rest);
  void mark_whole(std::string_view newest);

  UniqueFd pipe_;
  std::atomic<std::uint64_t>* count_ = nullptr;
  Extents extents_;
  std::uint64_t printed_ = 0;
  std::uint64_t whole_ = 0;
  std::unique_ptr<ResultFile> results_;
  std::unique_ptr<Held> held_;
  InLine in_line_ = InLine::start;  // of printed_
  bool owes_newline_ = false;
};

}  // namespace plimsoll::output
