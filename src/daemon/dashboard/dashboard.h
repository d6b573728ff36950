#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "base/result.h"
#include "daemon/dashboard/site.h"
#include "daemon/http/server.h"

namespace plimsoll::dashboard {

struct DashboardConfig {
  std::string host{};  // a name or a number
  std::uint16_t port = 0;
  std::vector<std::string> names{};  // by which it may be asked for besides
  std::string state_dir{};           // where the address is kept
  std::string runs_dir{};            // where runs are recorded
};

// The daemon in a browser. Its address has a secret in it, and is kept in the file `dashboard` of
// the state directory, for the daemon's own user alone. At a port that only root may listen at, it
// stays the same; else it is another one at each start, which open pages reckon by a key that they
// were given, and that the file `dashboard.key` keeps.
class Dashboard {
 public:
  // Listens when it returns, and has written the address. `source` and `loop` must outlive it.
  static Result<std::unique_ptr<Dashboard>> serve(loop::Loop& loop, const DashboardConfig& config,
                                                  DashboardSource& source);

  [[nodiscard]] const std::string& address() const { return address_; }  // a secret
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  Dashboard() = default;

  std::string address_;
  std::string file_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace plimsoll::dashboard
