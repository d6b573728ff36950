#include "support/faulty_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace plimsoll::faults {

// What SQLite calls the operating system. The usual one does what no fault can befall.
struct FaultyDatabases::System {
  sqlite3_vfs calls{};
  sqlite3_vfs* usual = nullptr;
  const Disk* disk = nullptr;
  int error = 0;  // of the last call that failed
};

namespace {

constexpr mode_t kOwners = 0600;
constexpr int kSector = 4096;

struct OpenFile {
  const Disk* disk = nullptr;
  int* error = nullptr;
  UniqueFd fd;
  std::string path;              // empty: it has no name
  bool syncs_directory = false;  // with the next sync
  bool goes_with_close = false;
  std::vector<std::unique_ptr<std::vector<char>>> index;  // of the log, which is not on the disk
};

// What SQLite has of an open file.
struct Handle {
  sqlite3_file base;
  OpenFile* file;
};

OpenFile& file_of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file)->file; }

// SQLite's code for what has failed just now.
int failed(OpenFile& file, int code) {
  *file.error = errno;
  return errno == ENOSPC ? SQLITE_FULL : code;
}

int sync_directory(const Disk& disk, const std::string& path) {
  return sync_name(disk, path) ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
}

int close_file(sqlite3_file* file) {
  const std::unique_ptr<OpenFile> closed(reinterpret_cast<Handle*>(file)->file);
  if (closed->goes_with_close) closed->disk->unlink(AT_FDCWD, closed->path);
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* data, int size, sqlite3_int64 at) {
  const ssize_t read = ::pread(file_of(file).fd.get(), data, static_cast<std::size_t>(size), at);
  if (read < 0) return failed(file_of(file), SQLITE_IOERR_READ);
  if (read == size) return SQLITE_OK;
  std::memset(static_cast<char*>(data) + read, 0, static_cast<std::size_t>(size - read));
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  OpenFile& open = file_of(file);
  ::lseek(open.fd.get(), at, SEEK_SET);
  std::string_view rest(static_cast<const char*>(data), static_cast<std::size_t>(size));
  if (auto wrote = write_front(*open.disk, open.fd.get(), rest); !wrote) {
    errno = static_cast<int>(wrote.error().code);
    return failed(open, SQLITE_IOERR_WRITE);
  }
  return SQLITE_OK;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  OpenFile& open = file_of(file);
  return open.disk->truncate(open.fd.get(), size) == 0 ? SQLITE_OK
                                                       : failed(open, SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file* file, int) {
  OpenFile& open = file_of(file);
  if (open.disk->sync(open.fd.get()) != 0) return failed(open, SQLITE_IOERR_FSYNC);
  // SQLite's own calls of Unix don't ask how that went either.
  if (std::exchange(open.syncs_directory, false)) (void)sync_directory(*open.disk, open.path);
  return SQLITE_OK;
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  struct stat status{};
  if (::fstat(file_of(file).fd.get(), &status) != 0) {
    return failed(file_of(file), SQLITE_IOERR_FSTAT);
  }
  *size = status.st_size;
  return SQLITE_OK;
}

int map_index(sqlite3_file* file, int region, int size, int extends, void volatile** memory) {
  auto& index = file_of(file).index;
  const auto number = static_cast<std::size_t>(region);
  *memory = nullptr;
  if (number >= index.size() && extends == 0) return SQLITE_OK;
  while (number >= index.size()) {
    index.push_back(std::make_unique<std::vector<char>>(size));
  }
  *memory = index[number]->data();
  return SQLITE_OK;
}

int forget_index(sqlite3_file* file, int) {
  file_of(file).index.clear();
  return SQLITE_OK;
}

const sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock =
        [](sqlite3_file*, int* is_locked) {
          *is_locked = 0;
          return SQLITE_OK;
        },
    .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
    .xSectorSize = [](sqlite3_file*) { return kSector; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; },
    .xShmMap = map_index,
    .xShmLock = [](sqlite3_file*, int, int, int) { return SQLITE_OK; },
    .xShmBarrier = [](sqlite3_file*) {},
    .xShmUnmap = forget_index,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_flags(int flags) {
  return ((flags & SQLITE_OPEN_READWRITE) != 0 ? O_RDWR : O_RDONLY) |
         ((flags & SQLITE_OPEN_CREATE) != 0 ? O_CREAT : 0) |
         ((flags & SQLITE_OPEN_EXCLUSIVE) != 0 ? O_EXCL | O_NOFOLLOW : 0);
}

}  // namespace

FaultyDatabases::FaultyDatabases(const Disk& disk) : system_(std::make_unique<System>()) {
  system_->disk = &disk;
  system_->usual = sqlite3_vfs_find(nullptr);
  sqlite3_vfs& calls = system_->calls;
  calls = *system_->usual;
  calls.iVersion = 2;
  calls.szOsFile = sizeof(Handle);
  calls.zName = "faulty";
  calls.pAppData = system_.get();
  calls.xOpen = [](sqlite3_vfs* vfs, const char* name, sqlite3_file* handle, int flags,
                   int* flags_had) {
    auto& system = *static_cast<System*>(vfs->pAppData);
    handle->pMethods = nullptr;
    UniqueFd fd(name ? system.disk->open(AT_FDCWD, name, open_flags(flags), kOwners)
                     : ::memfd_create("database", MFD_CLOEXEC));
    if (!fd) {
      system.error = errno;
      return SQLITE_CANTOPEN;
    }
    auto file = std::make_unique<OpenFile>();
    file->disk = system.disk;
    file->error = &system.error;
    file->fd = std::move(fd);
    file->path = name ? name : "";
    constexpr int kLogs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
    file->syncs_directory = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & kLogs) != 0;
    file->goes_with_close = name && (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    if (flags_had) *flags_had = flags;
    reinterpret_cast<Handle*>(handle)->file = file.release();
    handle->pMethods = &kMethods;
    return SQLITE_OK;
  };
  calls.xDelete = [](sqlite3_vfs* vfs, const char* name, int syncs) {
    auto& system = *static_cast<System*>(vfs->pAppData);
    if (system.disk->unlink(AT_FDCWD, name) != 0) {
      system.error = errno;
      return errno == ENOENT ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
    }
    return syncs != 0 ? sync_directory(*system.disk, name) : SQLITE_OK;
  };
  calls.xGetLastError = [](sqlite3_vfs* vfs, int, char*) {
    return static_cast<System*>(vfs->pAppData)->error;
  };
  sqlite3_vfs_register(&calls, 1);
}

FaultyDatabases::~FaultyDatabases() {
  sqlite3_vfs_unregister(&system_->calls);
  sqlite3_vfs_register(system_->usual, 1);
}

}  // namespace plimsoll::faults
