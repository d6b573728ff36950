#include "kernel/procfs/ipc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/may_wait.h"
#include "base/text.h"
#include "kernel/procfs/parse.h"
#include "kernel/procfs/table.h"

namespace plimsoll::procfs {
namespace {

constexpr const char* kQueues = "/dev/mqueue";
// Most have the line with the names of the columns and few more.
constexpr std::size_t kIpcTableBytesMin = 4 << 10;

struct IpcTable {
  const char* file;
  const char* id;
};
IpcTable table_of(IpcKind kind) {
  switch (kind) {
    case IpcKind::shared_memory: return {"/proc/sysvipc/shm", "shmid"};
    case IpcKind::semaphores: return {"/proc/sysvipc/sem", "semid"};
    case IpcKind::messages: return {"/proc/sysvipc/msg", "msqid"};
    case IpcKind::posix_queue: break;
  }
  return {};
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trim(line)).empty()) words.push_back(take_until(line, ' '));
  return words;
}

// False if there are more than kPosixQueuesMax.
bool add_queues_of(std::uint32_t creator, std::vector<IpcObject>& objects) {
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::opendir(kQueues), &::closedir);
  if (list == nullptr) return true;
  std::size_t seen = 0;
  while (const dirent* entry = ::readdir(list.get())) {
    if (++seen > kPosixQueuesMax) return false;
    struct stat about{};
    if (::fstatat(::dirfd(list.get()), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(about.st_mode) || about.st_uid != creator) continue;
    objects.push_back({.kind = IpcKind::posix_queue,
                       .name = std::string("/") + entry->d_name,
                       .creator = creator});
  }
  return true;
}

// The value in the column of this name.
std::optional<std::uint64_t> value_of(const std::vector<std::string_view>& columns,
                                      const std::vector<std::string_view>& words,
                                      std::string_view name) {
  const auto at = static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
  return at < columns.size() && at < words.size() ? to_u64(words[at]) : std::nullopt;
}

// A call that costs a tenth of reading the table. False too where it can't be told.
bool has_none(IpcKind kind) {
  union {  // semun(2)
    seminfo* about;
    int value;
  } semaphores{};
  shm_info memory{};
  seminfo sets{};
  msginfo queues{};
  semaphores.about = &sets;
  switch (kind) {
    case IpcKind::shared_memory:
      return ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&memory)) >= 0 &&
             memory.used_ids == 0;
    case IpcKind::semaphores: return ::semctl(0, 0, SEM_INFO, semaphores) >= 0 && sets.semusz == 0;
    case IpcKind::messages:
      return ::msgctl(0, MSG_INFO, reinterpret_cast<msqid_ds*>(&queues)) >= 0 &&
             queues.msgpool == 0;
    case IpcKind::posix_queue: break;
  }
  return false;
}

// Nothing: it is gone.
std::optional<std::uint32_t> creator_of(IpcKind kind, int id) {
  union {  // semun(2): its caller defines it
    semid_ds* about;
    int value;
  } semaphores{};
  shmid_ds memory{};
  semid_ds set{};
  msqid_ds queue{};
  semaphores.about = &set;
  switch (kind) {
    case IpcKind::shared_memory:
      if (::shmctl(id, IPC_STAT, &memory) == 0) return memory.shm_perm.cuid;
      break;
    case IpcKind::semaphores:
      if (::semctl(id, 0, IPC_STAT, semaphores) == 0) return set.sem_perm.cuid;
      break;
    case IpcKind::messages:
      if (::msgctl(id, IPC_STAT, &queue) == 0) return queue.msg_perm.cuid;
      break;
    case IpcKind::posix_queue: break;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(IpcKind kind) {
  switch (kind) {
    case IpcKind::shared_memory: return "shared_memory";
    case IpcKind::semaphores: return "semaphores";
    case IpcKind::messages: return "message_queue";
    case IpcKind::posix_queue: return "posix_message_queue";
  }
  return {};
}

std::vector<IpcObject> parse_ipc_table(IpcKind kind, std::string_view text) {
  std::vector<IpcObject> objects;
  const std::string_view names = take_line(text);
  if (text.empty()) return objects;
  const std::vector<std::string_view> columns = words_of(names);
  while (!text.empty()) {
    const std::vector<std::string_view> words = words_of(take_line(text));
    const auto value = [&](std::string_view name) { return value_of(columns, words, name); };
    const auto id = value(table_of(kind).id), creator = value("cuid"), pid = value("cpid");
    if (!id || !creator || *creator > UINT32_MAX) continue;
    IpcObject object{
        .kind = kind, .name = std::to_string(*id), .creator = static_cast<std::uint32_t>(*creator)};
    if (const auto size = value("size")) object.size = Bytes{*size};
    if (pid && *pid <= INT32_MAX) object.creator_pid = static_cast<int>(*pid);
    object.attached = value("nattch").value_or(0);
    objects.push_back(std::move(object));
  }
  return objects;
}

// Nothing if it is longer than kIpcTableBytesMax.
std::optional<std::string_view> IpcTables::read(File& file) {
  if (!file.fd) {
    auto opened = open_at(AT_FDCWD, table_of(file.kind).file, O_RDONLY);
    if (!opened) return opened.error().gone() ? std::optional(std::string_view()) : std::nullopt;
    file.fd = std::move(*opened);
  }
  std::size_t size = 0;
  for (std::size_t room = kIpcTableBytesMin; room <= kIpcTableBytesMax; room *= 2) {
    buffer_.resize(std::max(room, buffer_.size()));
    while (size < buffer_.size()) {
      const ssize_t got = ::pread(file.fd.get(), buffer_.data() + size, buffer_.size() - size,
                                  static_cast<off_t>(size));
      if (got < 0) return std::nullopt;
      if (got == 0) return std::string_view(buffer_).substr(0, size);
      size += static_cast<std::size_t>(got);
    }
  }
  return std::nullopt;
}

std::optional<std::vector<IpcObject>> IpcTables::objects_of(std::uint32_t creator, Instant now) {
  last_ = {.creator = creator, .objects = find(creator), .at = now};
  return last_->objects;
}

std::optional<std::vector<IpcObject>> IpcTables::objects_lately(std::uint32_t creator,
                                                                Instant now) {
  const bool is_told = last_ && last_->creator == creator && now - last_->at < kIpcMoment;
  return is_told ? last_->objects : objects_of(creator, now);
}

std::optional<std::vector<IpcObject>> IpcTables::find(std::uint32_t creator) {
  std::vector<IpcObject> objects;
  for (File& file : files_) {
    if (has_none(file.kind)) continue;
    const auto text = read(file);
    if (!text) return std::nullopt;
    for (IpcObject& object : parse_ipc_table(file.kind, *text)) {
      if (object.creator == creator) objects.push_back(std::move(object));
    }
  }
  if (!add_queues_of(creator, objects)) return std::nullopt;
  return objects;
}

bool remove_ipc(const IpcObject& object) {
  if (object.kind == IpcKind::posix_queue) {
    // Another user's may have taken the name since.
    const std::string path = kQueues + object.name;
    struct stat about{};
    const bool is_his = ::lstat(path.c_str(), &about) == 0 && about.st_uid == object.creator;
    return is_his && ::unlink(path.c_str()) == 0;
  }
  const auto number = to_u64(object.name);
  if (!number || *number > INT32_MAX) return false;
  const int id = static_cast<int>(*number);
  // So may another user's have the number.
  if (creator_of(object.kind, id) != object.creator) return false;
  switch (object.kind) {
    case IpcKind::shared_memory: return ::shmctl(id, IPC_RMID, nullptr) == 0;
    case IpcKind::semaphores: return ::semctl(id, 0, IPC_RMID) == 0;
    case IpcKind::messages: return ::msgctl(id, IPC_RMID, nullptr) == 0;
    case IpcKind::posix_queue: break;
  }
  return false;
}

std::optional<std::set<std::uint32_t>> living_users() {
  may_wait("living_users");
  const auto proc = ProcDir::open();
  const auto pids = proc ? proc->pids() : tl::unexpected(proc.error());
  if (!pids) return std::nullopt;
  std::set<std::uint32_t> users;
  for (const int pid : *pids) {
    const auto status = proc->read(pid, "status");
    const auto uids = status ? parse_uids(*status) : std::nullopt;
    if (!uids || (users.contains(uids->real) && users.contains(uids->effective) &&
                  users.contains(uids->saved))) {
      continue;
    }
    const auto stat = proc->read_stat(pid);
    if (stat && !stat->is_dead()) users.insert({uids->real, uids->effective, uids->saved});
  }
  return users;
}

}  // namespace plimsoll::procfs
