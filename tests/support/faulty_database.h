#pragma once

#include <memory>

#include "base/disk.h"

namespace plimsoll::faults {

// While it lives, SQLite opens databases on this disk, for tests of those who keep some: reads and
// locks are as always, everything that changes a file is a call of the disk's. As on a disk of the
// kernel's, the names in its directory are forced to the disk with the first sync of a new log.
//
// One connection at a time to each database: locks are not kept. For one thread.
class FaultyDatabases {
 public:
  explicit FaultyDatabases(const Disk& disk);
  FaultyDatabases(const FaultyDatabases&) = delete;
  FaultyDatabases& operator=(const FaultyDatabases&) = delete;
  ~FaultyDatabases();

 private:
  struct System;
  std::unique_ptr<System> system_;
};

}  // namespace plimsoll::faults
