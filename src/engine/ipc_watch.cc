#include "engine/ipc_watch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace plimsoll::engine {
namespace {

bool is_same(const process::IpcObject& one, const process::IpcObject& other) {
  return one.kind == other.kind && one.name == other.name;
}

bool is_orphan(const process::IpcObject& object) {
  if (!object.creator_pid || object.attached != 0) return false;
  return ::access(("/proc/" + std::to_string(*object.creator_pid)).c_str(), F_OK) != 0;
}

// As of systemd's RemoveIPC=: what a service keeps is not its last process's.
constexpr uid_t kSystemUidMax = 999;

// Numbers that the kernel gives to the namespaces it starts with (include/linux/proc_ns.h).
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC, kFirstIpcNamespace = 0xEFFFFFFF;

bool is_namespace(const char* path, ino_t number) {
  struct stat about{};
  return ::stat(path, &about) == 0 && about.st_ino == number;
}

// Whoever shares the machine's objects, but not its processes, can't see who uses them.
bool sees_who_has_them() {
  return is_namespace("/proc/self/ns/pid", kFirstPidNamespace) ||
         !is_namespace("/proc/self/ns/ipc", kFirstIpcNamespace);
}

// Whether nobody but the job can have wanted what this user has made, if no process of his lives.
bool may_be_the_jobs(uid_t user) {
  return user != ::geteuid() && user > kSystemUidMax && sees_who_has_them();
}

}  // namespace

IpcWatch::IpcWatch(uid_t user) : user_(user), before_(process::ipc_objects_of(user)) {}

std::optional<std::vector<record::IpcLeft>> IpcWatch::look() {
  auto made = before_ ? process::ipc_objects_of(user_) : std::nullopt;
  if (!made) return std::vector<record::IpcLeft>();
  std::erase_if(*made, [this](const process::IpcObject& object) {
    return std::ranges::any_of(
        *before_, [&object](const process::IpcObject& known) { return is_same(known, object); });
  });
  made_ = std::move(*made);
  if (!made_.empty() && may_be_the_jobs(user_)) return std::nullopt;
  return settle(true);
}

std::vector<record::IpcLeft> IpcWatch::settle(bool user_lives) const {
  std::vector<record::IpcLeft> left;
  for (const process::IpcObject& object : made_) {
    if (user_lives && !is_orphan(object)) continue;
    const bool is_removed = !user_lives && process::remove_ipc(object);
    left.push_back({.kind = std::string(process::name_of(object.kind)),
                    .name = object.name,
                    .size = object.size,
                    .fate = is_removed ? record::IpcFate::removed : record::IpcFate::left});
  }
  return left;
}

}  // namespace plimsoll::engine
