#pragma once

#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "guardian/spawn_request.h"

namespace plimsoll::supervisor {

// As long as this lives, the calling thread opens files with the rights of somebody else, who also
// owns those that it makes: for paths that lead through directories of theirs, where links could
// lead root astray. To be destroyed on the thread that made it; others are not concerned.
class BorrowedRights {
 public:
  static Result<BorrowedRights> of(const guardian::Identity& identity);

  BorrowedRights(BorrowedRights&& other) noexcept;
  BorrowedRights& operator=(BorrowedRights&&) = delete;
  ~BorrowedRights();

 private:
  BorrowedRights() = default;
  void give_back() const;

  bool borrowed_ = true;
  uid_t uid_{};
  gid_t gid_{};
  std::vector<gid_t> groups_;  // what the thread had before
};

}  // namespace plimsoll::supervisor
