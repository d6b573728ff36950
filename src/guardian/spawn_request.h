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
#include "base/words.h"

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

// How the child takes signals at first.
enum class Signals : std::uint8_t {
  inherit,      // ignored and blocked is what the guardian's caller wanted so, as under nohup(1)
  set_default,  // none is ignored or blocked
};

// What becomes of the main process when the guardian dies first. Where the group is not a cgroup,
// nothing else would still hold it.
enum class GuardianDeath : std::uint8_t {
  outlive,
  end,  // PR_SET_PDEATHSIG of prctl(2): lost by who executes a set-user-ID program
};

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
// enter the groups, session, limits, umask, stdio, root, identity, working directory, signals,
// exec filter, exec.
struct SpawnRequest {
  ChildId id{};
  Words argv;  // argv[0] without a slash is looked up in the PATH of `env`
  // Tried first, where argv has a shell execute no more than these. If the first file that its name
  // finds can't be executed, or it finds none, argv is: the shell goes on, or tells why.
  Words plain;
  Words env;  // "NAME=value", the whole environment
  // Executed in place of what argv[0] names: as it is, never by a shell. Empty: as argv[0] says.
  std::string executable;
  std::string root;  // chroot(2) into this directory first; empty: not
  std::string cwd;   // empty: the guardian's, or the root's own
  Session session = Session::shared;
  Descriptors descriptors = Descriptors::inherit;
  Signals signals = Signals::inherit;
  GuardianDeath guardian_death = GuardianDeath::outlive;
  std::optional<Identity> identity;
  std::vector<ResourceLimit> rlimits;
  std::optional<mode_t> umask;

  // Borrowed until spawn() returns. stdio without a value is the guardian's own.
  std::array<std::optional<int>, 3> stdio;
  std::optional<int> v2_group;  // the directory of the group the child is born in
  // A stream socket over which the child sends the listener of its exec filter (exec_filter.h).
  std::optional<int> exec_listener;
  std::vector<int> v1_entrances;  // cgroup::open_v1_entrance() of further groups
};

// The step at which a child failed before its exec.
enum class SpawnStep : std::uint8_t {
  clone,
  enter_group,
  session,
  rlimit,
  stdio,
  root,
  identity,
  working_directory,
  exec_filter,
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
// along. argv, plain and env end with a null pointer. Must not outlive the message.
struct ReceivedSpawn {
  ChildId id{};
  std::vector<char*> argv;
  std::vector<char*> plain;
  std::vector<char*> env;
  const char* executable = "";
  const char* root = "";
  const char* cwd = "";
  Session session{};
  Descriptors descriptors{};
  Signals signals{};
  GuardianDeath guardian_death{};
  std::optional<Identity> identity;
  std::vector<ResourceLimit> rlimits;
  std::optional<mode_t> umask;
  std::array<UniqueFd, 3> stdio;
  UniqueFd v2_group;
  UniqueFd exec_listener;
  std::vector<UniqueFd> v1_entrances;
};

// Takes a message apart. Anything that does not add up is an error and never read past `bytes`.
Result<ReceivedSpawn> decode(std::string& bytes, std::vector<UniqueFd> fds);

}  // namespace plimsoll::guardian
