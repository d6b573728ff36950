#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "govern/token_pipe.h"
#include "govern/tokens.h"

namespace plimsoll::govern {

// Whoever knows what runs.
class TokenBasis {
 public:
  TokenBasis() = default;
  TokenBasis(const TokenBasis&) = delete;
  TokenBasis& operator=(const TokenBasis&) = delete;
  virtual ~TokenBasis() = default;
  [[nodiscard]] virtual Slots slots() const = 0;
  // As of Tokens::look(). Asked only while tokens are out: it may cost a look at processes.
  [[nodiscard]] virtual std::optional<std::size_t> token_holders() = 0;
};

// A jobserver for what a command starts: keeps as many tokens in its pipe as may be taken now.
class Jobserver {
 public:
  // `loop` and `basis` must outlive this.
  Jobserver(loop::Loop& loop, TokenPipe pipe, TokenBasis& basis);

  // The command is about to start, and nobody has a token.
  void begin();
  // It has ended, and all that it started.
  void end();

  [[nodiscard]] std::uint64_t recovered() const { return tokens_.recovered(); }

  // So often it is looked whether others are due.
  static constexpr Duration kLook = std::chrono::milliseconds(200);
  // Tokens that are to be taken are so as they come, up to so many times until the next look: a
  // client may put and take them without a pause.
  static constexpr int kComingMax = 64;

 private:
  void look();
  void look_at_coming();
  void follow(const TokenChange& change);

  loop::Loop& loop_;
  TokenPipe pipe_;
  TokenBasis& basis_;
  Tokens tokens_;
  loop::Timer timer_;
  loop::Watch coming_;  // tokens that are to be taken
  int came_ = 0;        // since the last look by the timer
};

}  // namespace plimsoll::govern
