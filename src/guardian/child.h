#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "guardian/spawn_request.h"

namespace plimsoll::guardian {

// What a child writes when a step before its exec failed.
struct SpawnFailure {
  SpawnStep step{};
  int code{};  // errno
};

// Where a child tells how far it has come, from within the child.
class ChildReport {
 public:
  ChildReport() = default;
  ChildReport(const ChildReport&) = delete;
  ChildReport& operator=(const ChildReport&) = delete;
  virtual ~ChildReport() = default;
  virtual void born() = 0;
  // The next call is execve(2).
  virtual void executes() {}
  virtual void failed(const SpawnFailure& failure) = 0;
};

// How a child comes into its v2 group, if it has one.
enum class EntersV2 : std::uint8_t { by_birth, by_itself };

// Whether a child has a copy of its parent's memory, or uses that itself.
enum class Memory : std::uint8_t { own, shared };

// What all children of a guardian have in common.
struct ChildSettings {
  EntersV2 v2{};
  Memory memory{};
  const std::string* oom_score = nullptr;  // null: as it is
  std::optional<int> nice{};               // likewise
  sigset_t mask{};                         // that it starts with
  sigset_t ignored{};                      // signals; the rest an exec sets to their defaults
  pid_t guardian{};
};

// Does all that is asked for between birth and exec, in the child, and executes the command. What
// fails is told, and the child ended.
//
// Nothing is allocated where the memory is shared: who is killed in between would leave the heap
// locked. It takes a request that VforkSpawner::takes(), and a kernel that marks all descriptors in
// one call. A text without an interpreter fails there with ENOEXEC.
[[noreturn]] void run_child(const ReceivedSpawn& request, const ChildSettings& settings,
                            ChildReport& report);

}  // namespace plimsoll::guardian
