#include "supervisor/identity.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <limits>

#include "base/may_wait.h"
#include "base/text.h"

namespace plimsoll::supervisor {
namespace {

constexpr std::size_t kEntryBytesMax =
    1 << 20;  // of one entry of the databases, its strings included

template <class Id>
std::optional<Id> to_id(const std::string& digits) {
  const auto number = to_u64(digits);
  if (!number || *number >= std::numeric_limits<Id>::max()) return std::nullopt;
  return static_cast<Id>(*number);
}

struct User {
  Account account;
  std::optional<gid_t> gid;
};

Account account_of(const passwd& entry) {
  Account account{.identity = {.uid = entry.pw_uid, .gid = {}, .groups = {}},
                  .name = entry.pw_name};
  if (entry.pw_dir != nullptr && *entry.pw_dir != '\0') account.home = entry.pw_dir;
  if (entry.pw_shell != nullptr && *entry.pw_shell != '\0') account.shell = entry.pw_shell;
  return account;
}

Result<User> find_user(const std::string& text) {
  may_wait("find_user");
  std::string buffer(1024, '\0');
  passwd entry{};
  passwd* found = nullptr;
  const auto number = to_id<uid_t>(text);
  for (;;) {
    const int code = number
                         ? ::getpwuid_r(*number, &entry, buffer.data(), buffer.size(), &found)
                         : ::getpwnam_r(text.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (code != ERANGE || buffer.size() >= kEntryBytesMax) break;
    buffer.resize(buffer.size() * 2);
  }
  if (found != nullptr) return User{account_of(entry), entry.pw_gid};
  if (number) return User{{.identity = {.uid = *number, .gid = {}, .groups = {}}}, std::nullopt};
  return fail("there is no user \"" + text + "\"");
}

std::vector<gid_t> groups_of(const std::string& user, gid_t gid) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (::getgrouplist(user.c_str(), gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    ::getgrouplist(user.c_str(), gid, groups.data(), &count);
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace

Result<uid_t> find_uid(const std::string& text) {
  if (const auto number = to_id<uid_t>(text)) return *number;
  auto found = find_user(text);
  if (!found) return pass(std::move(found));
  return found->account.identity.uid;
}

Result<gid_t> find_group(const std::string& text) {
  if (const auto number = to_id<gid_t>(text)) return *number;
  may_wait("find_group");
  std::string buffer(1024, '\0');
  group entry{};
  group* found = nullptr;
  while (::getgrnam_r(text.c_str(), &entry, buffer.data(), buffer.size(), &found) == ERANGE &&
         buffer.size() < kEntryBytesMax) {
    buffer.resize(buffer.size() * 2);
  }
  if (found == nullptr) return fail("there is no group \"" + text + "\"");
  return entry.gr_gid;
}

bool Account::is_another() const { return identity.uid != ::geteuid(); }

Result<Account> find_account(const std::string& user) {
  std::string_view rest = user;
  const std::string user_text(take_until(rest, ':'));
  const std::string group_text(rest);
  auto found = find_user(user_text);
  if (!found) return pass(std::move(found));

  Account account = std::move(found->account);
  guardian::Identity& identity = account.identity;
  if (!group_text.empty()) {
    auto gid = find_group(group_text);
    if (!gid) return pass(std::move(gid));
    identity.gid = *gid;
  } else if (found->gid) {
    identity.gid = *found->gid;
  } else {
    return fail("user " + user_text +
                " is not known on this machine, so a group is needed too: " + user_text + ":GID");
  }
  identity.groups =
      account.name.empty() ? std::vector{identity.gid} : groups_of(account.name, identity.gid);
  return account;
}

Result<std::optional<Account>> Accounts::of(const std::string& user) {
  if (user.empty()) return std::nullopt;
  auto known = known_.find(user);
  if (known == known_.end()) known = known_.emplace(user, find_account(user)).first;
  if (!known->second) return tl::unexpected(known->second.error());
  return *known->second;
}

}  // namespace plimsoll::supervisor
