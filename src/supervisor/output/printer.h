#pragma once

#include <string>

#include "base/result.h"
#include "supervisor/output/attempt.h"
#include "supervisor/output/nonblocking_fd.h"

namespace plimsoll::output {

// The program's stdout and stderr, and the piece of text that is being written to one of them. One
// piece is in hand at a time, so that lines stay whole where both lead to the same place.
class Printer {
 public:
  Printer(NonblockingFd out, NonblockingFd err) : outs_{Out{std::move(out)}, Out{std::move(err)}} {}

  enum class Flushed : std::uint8_t {
    all,
    waits,  // for the outlet of side() to be writable
    lost,   // the piece: that outlet has failed for good, told now for the first time
  };
  // Writes what is in hand as far as it goes. An error (out_of_room()) means that it stays in hand
  // and can be tried again.
  Result<Flushed> flush();

  // The piece to be written next, to be filled; only when nothing is in hand.
  std::string& piece(Side side);

  // Takes the piece away: somebody else writes it.
  [[nodiscard]] std::string take();

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] int fd() const { return out().nonblocking_fd.fd(); }
  [[nodiscard]] const Error& why_lost() const { return out().why_lost; }

 private:
  struct Out {
    NonblockingFd nonblocking_fd;
    bool lost = false;
    Error why_lost{};
  };
  [[nodiscard]] const Out& out() const { return outs_[static_cast<std::size_t>(side_)]; }

  std::array<Out, 2> outs_;
  Side side_ = Side::out;
  std::string piece_;
  std::size_t written_ = 0;  // of piece_
};

}  // namespace plimsoll::output
