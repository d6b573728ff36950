#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plimsoll::daemon {

// What a client of a socket has not taken of what it was told, in order. It is bounded where who
// tells asks is_full() first; of what is only news the last is kept then.
class Untaken {
 public:
  // Is full from so many bytes on: then a job's pipe fills, as what it writes is not read.
  static constexpr std::size_t kFull = 64 << 10;

  void add(std::string_view bytes);
  // What the next such word makes worthless: told once there is room, or before anything else.
  void add_news(std::string line);

  [[nodiscard]] bool is_full() const { return size() >= kFull; }
  [[nodiscard]] bool is_empty() const { return size() == 0 && news_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size() - sent_; }

  // Sends what the client takes now. An error: it is gone.
  Result<void> send(int socket);

 private:
  void tell_news();

  std::string bytes_;
  std::size_t sent_ = 0;  // of these
  std::string news_;
};

}  // namespace plimsoll::daemon
