#pragma once

#include "base/result.h"
#include "guardian/spawn_request.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::supervisor {

class ChildObserver;

// Where process sets have their main processes born: by the guardian, as the Supervisor asks it, or
// in tests by a model of one. The observer must live until the last that it is told, or until
// AttemptHost::forget(). `request.id` is filled in. An error says that no child will be told of.
class ChildSpawner {
 public:
  ChildSpawner() = default;
  ChildSpawner(const ChildSpawner&) = delete;
  ChildSpawner& operator=(const ChildSpawner&) = delete;
  virtual ~ChildSpawner() = default;

  virtual Result<guardian::ChildId> spawn(guardian::SpawnRequest request,
                                          ChildObserver& observer) = 0;
  // The same, with the child born in the group. What the request has of `v1_entrances` is all that
  // it enters of v1; if it has none, they are opened.
  virtual Result<guardian::ChildId> spawn_in(const cgroup::Group& group,
                                             guardian::SpawnRequest request,
                                             ChildObserver& observer) = 0;
};

}  // namespace plimsoll::supervisor
