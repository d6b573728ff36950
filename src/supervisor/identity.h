#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "guardian/spawn_request.h"

namespace plimsoll::supervisor {

// A user as the system knows him.
struct Account {
  guardian::Identity identity;
  std::string name{};      // empty: only the number is known
  std::string home = "/";  // as of whom nothing else is known
  std::string shell = "/bin/sh";

  // Than the one who runs Plimsoll: then what is the caller's alone is kept from him.
  [[nodiscard]] bool is_another() const;
};

// The user and groups of "USER", "USER:GROUP", "UID" or "UID:GID"; a user known to the system
// brings its supplementary groups. Asks the system's databases, which can take long: once a run.
Result<Account> find_account(const std::string& user);

// The user of a name or a number.
Result<uid_t> find_uid(const std::string& text);

// The group of a name or a number.
Result<gid_t> find_group(const std::string& text);

// The accounts that jobs of one run name, each asked for once: the answer may come from far away,
// so ask before the loop turns.
class Accounts {
 public:
  // Nothing for "": Plimsoll's own.
  Result<std::optional<Account>> of(const std::string& user);

 private:
  std::map<std::string, Result<Account>> known_;
};

}  // namespace plimsoll::supervisor
