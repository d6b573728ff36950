#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/loop/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "supervisor/control/run_status.h"

namespace plimsoll::supervisor {

// What a run lets people do while it goes on. Called on the loop's thread, and must not block; an
// error is handed to whoever asked, in its own words.
class ControlTarget {
 public:
  ControlTarget() = default;
  ControlTarget(const ControlTarget&) = delete;
  ControlTarget& operator=(const ControlTarget&) = delete;
  virtual ~ControlTarget() = default;

  [[nodiscard]] virtual RunStatus status() const = 0;
  // Whom they mean: a name or a number, find_job().
  [[nodiscard]] virtual Result<JobId> find(std::string_view job) const = 0;
  virtual Result<void> pause(JobId job) = 0;
  virtual Result<void> resume(JobId job) = 0;
  virtual Result<void> kill(JobId job) = 0;
  // A size or a share, as --line takes it. Returns the line that now holds.
  virtual Result<Bytes> set_line(std::string_view size) = 0;
  virtual Result<void> set_jobs_max(unsigned jobs) = 0;
};

struct ControlConfig {
  std::string run_id;
  std::string directory;  // runtime_dir()
  // A client that neither asks nor takes its answer for so long is let go.
  Duration idle_max = std::chrono::seconds(30);
};

// More at once are not served: the one that was idle for the longest makes room. People and a few
// scripts ask; each costs a descriptor.
inline constexpr std::size_t kControlClientsMax = 16;

// The socket DIRECTORY/RUN.sock through which a run is asked and told things while it goes on
// (docs/formats/control.md). Only this user and root are heard (SO_PEERCRED).
//
// Whatever a client sends, or does not, costs the run nothing but a bounded buffer: requests are
// read as they come, answered one at a time, and nothing more is read of a client that has not
// taken its answer.
class Control {
 public:
  // Makes the directory if need be (0700), takes away sockets that dead runs have left, listens.
  // `loop` and `target` must outlive this. A run goes on without if this fails.
  static Result<std::unique_ptr<Control>> start(loop::Loop& loop, ControlConfig config,
                                                ControlTarget& target);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  // Removes the socket; what is not answered yet is not answered any more.
  ~Control();

 private:
  class Client;
  Control(loop::Loop& loop, ControlConfig config, ControlTarget& target);
  Result<void> listen();
  void on_connection();
  void admit(UniqueFd fd);
  void on_ready(Client& client);
  void drop_idle();

  loop::Loop& loop_;
  ControlConfig config_;
  ControlTarget& target_;
  UniqueFd directory_;
  UniqueFd socket_;
  loop::Watch watch_;
  loop::Timer idle_timer_;
  std::list<std::unique_ptr<Client>> clients_;  // the one that was idle for the longest first
};

}  // namespace plimsoll::supervisor
