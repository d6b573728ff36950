#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/link/run_link.h"
#include "supervisor/control/control_protocol.h"

namespace plimsoll::cli::top {

// What a run has answered to a request.
struct Heard {
  supervisor::ControlRequest request;
  supervisor::ControlAnswer answer;
};

// A connection to a run on which requests are made. Nothing here waits: whoever owns it calls
// turn() when the descriptor is ready for events().
class Feed {
 public:
  explicit Feed(RunLink link) : link_(std::move(link)) {}

  // Sent by the next turns, after what was asked before.
  void ask(supervisor::ControlRequest request);
  // Sends and receives as much as can be; the answers that are whole by now, in the order of the
  // requests. An error: nothing more is to be heard, as the run has ended or as what it says cannot
  // be understood.
  Result<std::vector<Heard>> turn();

  // Of epoll(7).
  [[nodiscard]] std::uint32_t events() const;
  [[nodiscard]] int fd() const { return link_.fd.get(); }
  [[nodiscard]] const std::string& run() const { return link_.run; }
  // So many requests have no answer yet.
  [[nodiscard]] std::size_t open_requests() const { return asked_.size(); }

 private:
  Result<void> send();
  Result<void> receive();

  RunLink link_;
  std::deque<supervisor::ControlRequest> asked_;
  std::string unsent_;
  std::string received_;
  std::size_t searched_ = 0;  // so many bytes of that have no newline
};

}  // namespace plimsoll::cli::top
