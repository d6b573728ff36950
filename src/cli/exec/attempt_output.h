#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::cli {

// What one attempt of a command writes to standard output and standard error, kept until it is
// known whether the attempt counts. Where one of them is a terminal, the command writes there
// itself.
class AttemptOutput {
 public:
  // More is not kept: then the attempt counts, whatever becomes of it.
  static constexpr std::size_t kKeptMax = 1 << 20;

  static Result<AttemptOutput> open();

  // What the command's process has in place of descriptors 1 and 2; -1: its own. Closed here by
  // started().
  [[nodiscard]] std::array<int, 2> ends() const { return {outer_[0].get(), outer_[1].get()}; }
  void started() { outer_ = {}; }
  // To be waited for; -1: nothing comes from there.
  [[nodiscard]] std::array<int, 2> sources() const { return {inner_[0].get(), inner_[1].get()}; }
  // Takes some of what has come; whether there may be more.
  bool receive();
  // Takes what has come until now, after the end of whoever wrote.
  void receive_rest();
  // Whether something of it has gone where it belongs.
  [[nodiscard]] bool has_passed_on() const { return passes_on_ && has_any_; }
  // What is kept and what follows goes where it belongs, in the order in which it came. Waits for
  // who reads it.
  void pass_on();

 private:
  struct Piece {
    std::size_t stream = 0;
    std::string bytes;
  };
  bool receive_from(std::size_t stream);
  void take(Piece piece);

  std::array<UniqueFd, 2> inner_, outer_;
  std::vector<Piece> kept_;
  std::size_t kept_bytes_ = 0;
  bool passes_on_ = false;
  bool has_any_ = false;
};

}  // namespace plimsoll::cli
