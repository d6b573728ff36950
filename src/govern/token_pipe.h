#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::govern {

// How clients get at the tokens.
enum class TokenStyle : std::uint8_t {
  pipe,  // by two descriptors that they inherit: every make, cargo, gcc
  fifo,  // by a path: make from 4.4 on, ninja from 1.13 on, cargo, gcc from 13 on
};

// The pipe of a jobserver, which is empty at first. Nothing here waits.
class TokenPipe {
 public:
  // The descriptors of TokenStyle::pipe are for whoever is forked from now on, and stand above
  // those that shells give to their scripts. A fifo is made in `directory`, which is the user's
  // own, and removed by the destructor; those of runs that were killed are removed here. Its path
  // must have nothing that make would split MAKEFLAGS at or replace.
  static Result<TokenPipe> create(TokenStyle style, const std::string& directory);
  TokenPipe(TokenPipe&&) noexcept = default;
  TokenPipe& operator=(TokenPipe&&) = delete;
  TokenPipe(const TokenPipe&) = delete;
  TokenPipe& operator=(const TokenPipe&) = delete;
  ~TokenPipe();

  // What --jobserver-auth= says: "fifo:PATH", or "R,W".
  [[nodiscard]] std::string auth() const;
  // For people: "the fifo PATH", or "the descriptors 100 and 101".
  [[nodiscard]] std::string in_words() const;

  [[nodiscard]] std::size_t free() const;  // tokens that nobody has taken
  // So many were put or taken: clients take them as well.
  std::size_t put(std::size_t tokens);
  std::size_t take(std::size_t tokens);
  // Readable while a token is free.
  [[nodiscard]] int fd() const { return own_.get(); }

  // The lowest number of a descriptor that is handed on: scripts use single digits, bash those up
  // to 63 for pipes of its own, from above downward.
  static constexpr int kFirstDescriptor = 100;

 private:
  TokenPipe() = default;
  Result<void> make_pipe();
  Result<void> make_fifo(const std::string& directory);

  UniqueFd own_;  // both ends, not blocking, not inherited
  UniqueFd read_end_, write_end_;
  std::string path_;
};

}  // namespace plimsoll::govern
