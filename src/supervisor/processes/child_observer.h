#pragma once

#include "guardian/protocol.h"

namespace plimsoll::supervisor {

// What the owner of a child is told of it, from the loop; each at most once, on_start_failed() or
// the others. Must live until the last of them or AttemptHost::forget().
class ChildObserver {
 public:
  ChildObserver() = default;
  ChildObserver(const ChildObserver&) = delete;
  ChildObserver& operator=(const ChildObserver&) = delete;
  virtual ~ChildObserver() = default;

  virtual void on_started(guardian::Started started) = 0;
  virtual void on_start_failed(const guardian::StartFailed& failure) = 0;
  virtual void on_exited(const guardian::Exited& exited) = 0;
  // The answer to AttemptHost::over().
  virtual void on_escaped(const guardian::Escaped& /*escaped*/) {}
};

}  // namespace plimsoll::supervisor
