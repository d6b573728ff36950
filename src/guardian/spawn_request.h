#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::guardian {

// Names one child on the wire; chosen by the supervisor, used once.
enum class ChildId : std::uint64_t {};

// Whose terminal session and process group the child is in.
enum class Session : std::uint8_t {
  shared,  // the guardian's own: the terminal's signals reach the child as under time(1)
  own,     // setsid(2): the terminal's signals don't reach it
};

// What becomes of descriptors above 2 that the guardian inherited from its caller.
enum class Descriptors : std::uint8_t { inherit, close };

struct Identity {
  uid_t uid{};
  gid_t gid{};
  std::vector<gid_t> groups;
};

struct ResourceLimit {
  int resource{};  // RLIMIT_* of setrlimit(2)
  rlimit value{};
};

// One command to be executed: everything that the child does between birth and exec, in this order:
// enter the groups, session, limits, umask, stdio, identity, working directory, exec.
struct SpawnRequest {
  ChildId id{};
  std::vector<std::string> argv;  // argv[0] without a slash is looked up in the PATH of `env`
  std::vector<std::string> env;   // "NAME=value", the whole environment
  std::string cwd;                // empty: the guardian's
  Session session = Session::shared;
  Descriptors descriptors = Descriptors::inherit;
  std::optional<Identity> identity;
  std::vector<ResourceLimit> rlimits;
  std::optional<mode_t> umask;

  // Borrowed until spawn() returns. stdio without a value is the guardian's own.
  std::array<std::optional<int>, 3> stdio;
  std::optional<int> v2_group;  // the directory of the group the child is born in
  std::vector<int> v1_procs;    // cgroup.procs of further groups, opened for writing
};

// The step at which a child failed before its exec.
enum class SpawnStep : std::uint8_t {
  clone,
  enter_group,
  session,
  rlimit,
  stdio,
  identity,
  working_directory,
  exec,
};
std::string_view name_of(SpawnStep step);

// The request as one message: the bytes, and the descriptors that go with them. Strings stand in
// the bytes with their final NUL, so that the receiver points into them and copies nothing.
struct EncodedSpawn {
  std::string bytes;
  std::vector<int> fds;
};
EncodedSpawn encode(const SpawnRequest& request);

// A request as the guardian holds it: pointers into the message and the descriptors that came
// along. argv and env end with a null pointer. Must not outlive the message.
struct ReceivedSpawn {
  ChildId id{};
  std::vector<char*> argv;
  std::vector<char*> env;
  const char* cwd = "";
  Session session{};
  Descriptors descriptors{};
  std::optional<Identity> identity;
  std::vector<ResourceLimit> rlimits;
  std::optional<mode_t> umask;
  std::array<UniqueFd, 3> stdio;
  UniqueFd v2_group;
  std::vector<UniqueFd> v1_procs;
};

// Takes a message apart. Anything that does not add up is an error and never read past `bytes`.
Result<ReceivedSpawn> decode(std::string& bytes, std::vector<UniqueFd> fds);

}  // namespace plimsoll::guardian
