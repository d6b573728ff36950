#include "engine/ledger.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::engine {
namespace {

constexpr std::size_t kLineSize = 64;  // all numbers of 64 bits and their spaces, padded

// Whoever looks between the making and the lock takes the file for a dead run's and removes it.
constexpr int kJoinTries = 8;

bool is_linked(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

bool is_locked_by_another(int fd) { return ::flock(fd, LOCK_SH | LOCK_NB) != 0; }

}  // namespace

std::string encode(const policy::LineClaim& claim) {
  std::string line = std::to_string(claim.used.count) + " " + std::to_string(claim.claimed.count) +
                     " " + (claim.wanting ? "1" : "0") + " " + std::to_string(claim.running);
  line.resize(kLineSize - 1, ' ');
  return line + "\n";
}

std::optional<policy::LineClaim> decode_claim(std::string_view text) {
  std::string_view rest = trim(text);
  const auto used = to_u64(take_until(rest, ' '));
  const auto claimed = to_u64(take_until(rest, ' '));
  const auto wanting = to_u64(take_until(rest, ' '));
  const auto running = to_u64(rest);
  if (!used || !claimed || !wanting || *wanting > 1 || !running) return std::nullopt;
  return policy::LineClaim{.used = {*used},
                           .claimed = {*claimed},
                           .wanting = *wanting == 1,
                           .running = static_cast<std::size_t>(*running)};
}

Result<Ledger> Ledger::join(const std::string& directory, const std::string& run) {
  std::error_code made;
  std::filesystem::create_directories(directory, made);
  if (made) return fail("make the directory " + directory + ": " + made.message());
  ::chmod(directory.c_str(), 0700);
  UniqueFd dir(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!dir) return fail_errno("open " + directory);
  for (int tries_left = kJoinTries; tries_left > 0; --tries_left) {
    UniqueFd file(
        ::openat(dir.get(), run.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return fail_errno("make " + directory + "/" + run);
    if (::flock(file.get(), LOCK_EX) != 0) return fail_errno("lock " + directory + "/" + run);
    if (is_linked(file.get())) return Ledger(std::move(dir), std::move(file), run);
  }
  return fail("make " + directory + "/" + run + ": it is removed again and again");
}

Ledger::~Ledger() {
  if (file_) ::unlinkat(directory_.get(), run_.c_str(), 0);
}

Result<void> Ledger::tell(const policy::LineClaim& own) {
  const std::string line = encode(own);
  const ssize_t wrote = ::pwrite(file_.get(), line.data(), line.size(), 0);
  if (wrote != static_cast<ssize_t>(line.size())) return fail_errno("write the ledger");
  return {};
}

std::vector<policy::LineClaim> Ledger::others() const {
  std::vector<policy::LineClaim> claims;
  const int fd = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return claims;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(fd), &::closedir);
  if (list == nullptr) return claims;
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string name = entry->d_name;
    if (entry->d_type != DT_REG || name == run_ || claims.size() == kRunsMax) continue;
    const UniqueFd file(
        ::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file) continue;
    if (!is_locked_by_another(file.get())) {
      ::unlinkat(directory_.get(), name.c_str(), 0);
      continue;
    }
    const auto text = read_text(file.get());
    claims.push_back((text ? decode_claim(*text) : std::nullopt).value_or(policy::LineClaim{}));
  }
  return claims;
}

}  // namespace plimsoll::engine
