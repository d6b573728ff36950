#include "supervisor/ipc_watch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/loop/loop.h"
#include "supervisor/user_look.h"

namespace plimsoll::supervisor {
namespace {

bool is_same(const procfs::IpcObject& one, const procfs::IpcObject& other) {
  return one.kind == other.kind && one.name == other.name;
}

bool is_orphan(const procfs::IpcObject& object) {
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

UserIpcWatch::UserIpcWatch(uid_t user, procfs::IpcTables& tables, UserLook& user_look)
    : user_(user),
      tables_(tables),
      user_look_(user_look),
      before_(user == ::geteuid() ? tables.objects_lately(user, loop::now())
                                  : tables.objects_of(user, loop::now())) {}

std::optional<std::vector<report::IpcLeft>> UserIpcWatch::look(IpcObserver& observer) {
  auto made = before_ ? tables_.objects_of(user_, loop::now()) : std::nullopt;
  if (!made) return std::vector<report::IpcLeft>();
  std::erase_if(*made, [this](const procfs::IpcObject& object) {
    return std::ranges::any_of(
        *before_, [&object](const procfs::IpcObject& known) { return is_same(known, object); });
  });
  made_ = std::move(*made);
  if (made_.empty() || !may_be_the_jobs(user_)) return settle(true);
  self_ = std::make_shared<UserIpcWatch*>(this);
  user_look_.ask(user_, [&observer, weak = std::weak_ptr(self_)](bool user_lives) {
    if (const auto self = weak.lock()) observer.on_ipc_settled((*self)->settle(user_lives));
  });
  return std::nullopt;
}

std::vector<report::IpcLeft> UserIpcWatch::settle(bool user_lives) const {
  std::vector<report::IpcLeft> left;
  for (const procfs::IpcObject& object : made_) {
    if (user_lives && !is_orphan(object)) continue;
    const bool is_removed = !user_lives && procfs::remove_ipc(object);
    left.push_back({.kind = std::string(procfs::name_of(object.kind)),
                    .name = object.name,
                    .size = object.size,
                    .fate = is_removed ? report::IpcFate::removed : report::IpcFate::left});
  }
  return left;
}

}  // namespace plimsoll::supervisor
