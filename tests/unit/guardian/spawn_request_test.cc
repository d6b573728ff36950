#include "guardian/spawn_request.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "requests.h"

namespace plimsoll::guardian {
namespace {

std::vector<std::string> strings(const std::vector<char*>& pointers) {
  std::vector<std::string> texts;
  for (const char* text : pointers) {
    if (text != nullptr) texts.emplace_back(text);
  }
  return texts;
}

// What travels as a message travels as copies of the descriptors.
std::vector<UniqueFd> copies(const std::vector<int>& fds) {
  std::vector<UniqueFd> copied;
  for (const int fd : fds) copied.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  return copied;
}

ino_t inode(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

RC_GTEST_PROP(SpawnRequest, ComesOutAsItWentIn, ()) {
  const auto files = testing::OpenFiles(5);
  const SpawnRequest request = *testing::requests(files);
  EncodedSpawn encoded = encode(request);
  const auto spawn = decode(encoded.bytes, copies(encoded.fds));
  RC_ASSERT(spawn.has_value());
  RC_ASSERT(spawn->id == request.id);
  RC_ASSERT(strings(spawn->argv) == request.argv);
  RC_ASSERT(strings(spawn->plain) == request.plain);
  RC_ASSERT(strings(spawn->env) == request.env);
  RC_ASSERT(spawn->argv.back() == nullptr);
  RC_ASSERT(spawn->plain.back() == nullptr);
  RC_ASSERT(spawn->env.back() == nullptr);
  RC_ASSERT(spawn->executable == request.executable);
  RC_ASSERT(spawn->root == request.root);
  RC_ASSERT(spawn->cwd == request.cwd);
  RC_ASSERT(spawn->session == request.session);
  RC_ASSERT(spawn->descriptors == request.descriptors);
  RC_ASSERT(spawn->signals == request.signals);
  RC_ASSERT(spawn->guardian_death == request.guardian_death);
  RC_ASSERT(spawn->umask == request.umask);
  RC_ASSERT(spawn->identity.has_value() == request.identity.has_value());
  if (request.identity) {
    RC_ASSERT(spawn->identity->uid == request.identity->uid);
    RC_ASSERT(spawn->identity->gid == request.identity->gid);
    RC_ASSERT(spawn->identity->groups == request.identity->groups);
  }
  RC_ASSERT(spawn->rlimits.size() == request.rlimits.size());
  for (std::size_t i = 0; i < request.rlimits.size(); ++i) {
    RC_ASSERT(spawn->rlimits[i].resource == request.rlimits[i].resource);
    RC_ASSERT(spawn->rlimits[i].value.rlim_cur == request.rlimits[i].value.rlim_cur);
    RC_ASSERT(spawn->rlimits[i].value.rlim_max == request.rlimits[i].value.rlim_max);
  }
}

RC_GTEST_PROP(SpawnRequest, EachDescriptorArrivesInItsPlace, ()) {
  const auto files = testing::OpenFiles(5);
  const SpawnRequest request = *testing::requests(files);
  EncodedSpawn encoded = encode(request);
  const auto spawn = decode(encoded.bytes, copies(encoded.fds));
  RC_ASSERT(spawn.has_value());
  for (std::size_t i = 0; i < request.stdio.size(); ++i) {
    RC_ASSERT(static_cast<bool>(spawn->stdio[i]) == request.stdio[i].has_value());
    if (request.stdio[i]) RC_ASSERT(inode(spawn->stdio[i].get()) == inode(*request.stdio[i]));
  }
  RC_ASSERT(static_cast<bool>(spawn->v2_group) == request.v2_group.has_value());
  if (request.v2_group) RC_ASSERT(inode(spawn->v2_group.get()) == inode(*request.v2_group));
  RC_ASSERT(static_cast<bool>(spawn->exec_listener) == request.exec_listener.has_value());
  if (request.exec_listener) {
    RC_ASSERT(inode(spawn->exec_listener.get()) == inode(*request.exec_listener));
  }
  RC_ASSERT(spawn->v1_entrances.size() == request.v1_entrances.size());
  for (std::size_t i = 0; i < request.v1_entrances.size(); ++i) {
    RC_ASSERT(inode(spawn->v1_entrances[i].get()) == inode(request.v1_entrances[i]));
  }
}

RC_GTEST_PROP(SpawnRequest, NoPartOfAMessageIsTakenForTheWhole, ()) {
  const auto files = testing::OpenFiles(5);
  EncodedSpawn encoded = encode(*testing::requests(files));
  const auto length = *rc::gen::inRange<std::size_t>(0, encoded.bytes.size());
  std::string part = encoded.bytes.substr(0, length);
  RC_ASSERT(!decode(part, copies(encoded.fds)).has_value());
  std::string more = encoded.bytes + "x";
  RC_ASSERT(!decode(more, copies(encoded.fds)).has_value());
}

RC_GTEST_PROP(SpawnRequest, ADescriptorThatIsMissingIsAnError, ()) {
  const auto files = testing::OpenFiles(5);
  SpawnRequest request = *testing::requests(files);
  request.v1_entrances.clear();
  EncodedSpawn encoded = encode(request);
  RC_PRE(!encoded.fds.empty());
  encoded.fds.pop_back();
  RC_ASSERT(!decode(encoded.bytes, copies(encoded.fds)).has_value());
}

// Damage gives an error or another request, never a read past the end (the sanitizers look).
RC_GTEST_PROP(SpawnRequest, DamagedBytesDoNoHarm, ()) {
  const auto files = testing::OpenFiles(5);
  EncodedSpawn encoded = encode(*testing::requests(files));
  const auto hits = *rc::gen::inRange(1, 8);
  for (int i = 0; i < hits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, encoded.bytes.size());
    encoded.bytes[at] = *rc::gen::arbitrary<char>();
  }
  const auto spawn = decode(encoded.bytes, copies(encoded.fds));
  if (spawn) RC_ASSERT(spawn->argv.front() != nullptr);
}

TEST(SpawnRequest, ACommandWithoutWordsIsAnError) {
  EncodedSpawn encoded = encode(SpawnRequest{});
  EXPECT_FALSE(decode(encoded.bytes, {}));
}

TEST(SpawnRequest, AStringWithANulInItIsAnError) {
  SpawnRequest request;
  request.argv = {std::string("a\0b", 3)};
  EncodedSpawn encoded = encode(request);
  EXPECT_FALSE(decode(encoded.bytes, {}));
}

TEST(SpawnStep, EachHasAName) {
  for (const SpawnStep step :
       {SpawnStep::clone, SpawnStep::enter_group, SpawnStep::session, SpawnStep::rlimit,
        SpawnStep::stdio, SpawnStep::identity, SpawnStep::working_directory, SpawnStep::exec}) {
    EXPECT_FALSE(name_of(step).empty());
  }
}

}  // namespace
}  // namespace plimsoll::guardian
