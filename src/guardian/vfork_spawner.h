#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "guardian/child.h"
#include "guardian/spawn_request.h"
#include "guardian/standby.h"

namespace plimsoll::guardian {

// Makes children as vfork(2) does: they have their parent's memory until they execute something,
// and whoever makes one waits for that. Copying the tables of a process of a few megabytes, and
// throwing the copy away, costs 0.3 ms of CPU time, which is a third of what a small command takes.
//
// A child may hang before its exec: where its group is frozen, or on a file system that does not
// answer. Then whoever waits for it loses the lead (Standby), and the birth is over when fd() says
// so.
//
// Used by the thread that leads.
class VforkSpawner {
 public:
  // `go_on` and `patience` as Standby has them. Null: this processor is not known here, the build
  // is one of a sanitizer, the kernel is older than 5.16, or no thread could be made.
  [[nodiscard]] static std::unique_ptr<VforkSpawner> start(std::function<void()> go_on,
                                                           Duration patience);

  // Whether a child of this request changes nothing that it shares until its exec: it has its own
  // user's rights, root and system calls. And whether it has a group of v2: a freezer of v1 lets
  // nobody be killed, and where there are no groups, what the kernel tells of the largest process
  // counts, which of such a child has its parent's memory in it.
  [[nodiscard]] static bool takes(const ReceivedSpawn& request);

  // Whether spawn() may be called: no birth is under way, and there is who could take the lead.
  [[nodiscard]] bool is_ready() const { return birth_.request == nullptr && standby_->is_ready(); }

  // Makes a child, and returns when it executes its command or is dead. If it hangs, the lead
  // changes and this does not return. Request and settings must live until take(), which is to
  // follow.
  void spawn(const ReceivedSpawn& request, const ChildSettings& settings);

  // Readable once a birth that has cost the lead is over.
  [[nodiscard]] int fd() const { return over_.get(); }
  // The child of the birth that is under way, once it exists; else 0.
  [[nodiscard]] pid_t pid() const { return birth_.request == nullptr ? 0 : birth_.pid.load(); }

  // What has come of it. `born` is false of one that was killed at once, before it could do
  // anything.
  struct Outcome {
    std::errc error{};  // no process could be made
    pid_t pid{};
    UniqueFd pidfd;
    bool born = false;
    std::optional<SpawnFailure> failure{};
  };
  // Waits until it is over, if it has cost the lead.
  [[nodiscard]] Outcome take();

  // Whether a birth that has cost the lead is over so soon.
  [[nodiscard]] bool wait(Duration patience) const;
  // Kills the child, if it exists: it is over soon then. Whether it was killed. Where its group is
  // frozen nothing of its command has run by then, elsewhere nearly nothing.
  enum class Kill : std::uint8_t {
    before_exec,  // not if it may be in its exec by now, which mostly ends by itself
    anyway,
  };
  [[nodiscard]] bool kill(Kill when) const;

 private:
  // Written by the child, the kernel and whoever waits for it, and read when it is over.
  struct Birth {
    const ReceivedSpawn* request = nullptr;
    const ChildSettings* settings = nullptr;
    std::atomic<pid_t> pid{0};  // by the kernel, before the child runs
    std::atomic<bool> executes{false};
    int pidfd = -1;
    int error = 0;
    bool born = false;
    std::optional<SpawnFailure> failure{};
  };
  class SharedReport;

  explicit VforkSpawner(UniqueFd over) : over_(std::move(over)) {}
  [[noreturn]] static void run_child_of(void* birth);
  void make_child();

  UniqueFd over_;  // an eventfd
  std::unique_ptr<Standby> standby_;
  Birth birth_;                // of a request
  bool has_returned_ = false;  // spawn() has, with the lead
};

}  // namespace plimsoll::guardian
