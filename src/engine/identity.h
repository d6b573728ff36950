#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "guardian/spawn_request.h"

namespace plimsoll::engine {

// The user and groups of "USER", "USER:GROUP", "UID" or "UID:GID"; a user known to the system
// brings its supplementary groups. Asks the system's databases, which can take long: once a run.
Result<guardian::Identity> find_identity(const std::string& user);

// The group of a name or a number.
Result<gid_t> find_group(const std::string& text);

// The identities that jobs of one run name, each asked for once.
class Identities {
 public:
  // Nothing for "": Plimsoll's own.
  Result<std::optional<guardian::Identity>> of(const std::string& user);

 private:
  std::map<std::string, guardian::Identity> known_;
};

}  // namespace plimsoll::engine
