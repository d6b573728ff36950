#include "supervisor/borrowed_rights.h"

#include <grp.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"

namespace plimsoll::supervisor {
namespace {

// That of the C library is for all threads.
bool set_groups_of_thread(const std::vector<gid_t>& groups) {
#ifdef SYS_setgroups32
  return ::syscall(SYS_setgroups32, groups.size(), groups.data()) == 0;
#else
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
#endif
}

// They tell nothing but what was before: an ID that can't be one changes nothing.
uid_t file_uid() { return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))); }
gid_t file_gid() { return static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))); }

}  // namespace

Result<BorrowedRights> BorrowedRights::of(const guardian::Identity& identity) {
  BorrowedRights rights;
  const int count = ::getgroups(0, nullptr);
  if (count < 0) return fail_errno("read the groups");
  rights.groups_.resize(static_cast<std::size_t>(count));
  if (::getgroups(count, rights.groups_.data()) != count) return fail_errno("read the groups");
  rights.uid_ = file_uid();
  rights.gid_ = file_gid();
  const std::string what = "take on the rights of uid " + std::to_string(identity.uid);
  if (!set_groups_of_thread(identity.groups)) {
    auto failed = fail_errno(what);
    rights.borrowed_ = false;
    return failed;
  }
  ::setfsgid(identity.gid);
  ::setfsuid(identity.uid);  // last: root's right to all files goes with it
  if (file_uid() != identity.uid || file_gid() != identity.gid) {
    return fail(std::errc::operation_not_permitted, what);
  }
  return rights;
}

BorrowedRights::BorrowedRights(BorrowedRights&& other) noexcept
    : borrowed_(std::exchange(other.borrowed_, false)),
      uid_(other.uid_),
      gid_(other.gid_),
      groups_(std::move(other.groups_)) {}

BorrowedRights::~BorrowedRights() {
  if (borrowed_) give_back();
}

void BorrowedRights::give_back() const {
  ::setfsuid(uid_);
  ::setfsgid(gid_);
  PLIMSOLL_CHECK(file_uid() == uid_ && file_gid() == gid_ && set_groups_of_thread(groups_));
}

}  // namespace plimsoll::supervisor
