#include "engine/ledger.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <memory>
#include <thread>

#include "base/text.h"
#include "base/units.h"

namespace plimsoll::engine {
namespace {

// Ten numbers of 64 bits and their spaces fit, padded: each write replaces all of the one before.
constexpr std::size_t kLineSize = 224;
constexpr double kMillicores = 1000;
constexpr mode_t kOwnerReads = 0600;
constexpr mode_t kGroupReads = 0640;

// Whoever looks between the making and the lock takes the file for a dead run's and removes it, or
// holds its lock for a moment.
constexpr int kJoinTries = 50;
constexpr auto kJoinGap = std::chrono::milliseconds(2);

std::uint64_t to_millicores(double cores) {
  return static_cast<std::uint64_t>(std::llround(std::clamp(cores, 0.0, 1e9) * kMillicores));
}
double to_cores(std::uint64_t millicores) { return static_cast<double>(millicores) / kMillicores; }

bool is_linked(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

bool is_locked_by_another(int fd) { return ::flock(fd, LOCK_SH | LOCK_NB) != 0; }

bool is_of_a_group(int directory) {
  struct stat status{};
  return ::fstat(directory, &status) == 0 && (status.st_mode & S_IRGRP) != 0;
}

uid_t owner_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? status.st_uid : static_cast<uid_t>(-1);
}

std::optional<LedgerEntry> read_entry(int file) {
  std::array<char, kLineSize> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  return decode_entry({text.data(), static_cast<std::size_t>(size)});
}

}  // namespace

std::string encode(const LedgerEntry& entry) {
  const policy::RunClaim& claim = entry.claim;
  std::string line;
  const auto put = [&line](std::uint64_t number) { line += std::to_string(number) + " "; };
  put(claim.memory.used.count);
  put(claim.memory.claimed.count);
  put(claim.memory.wanting ? 1 : 0);
  put(claim.running);
  put(to_millicores(claim.cores.used));
  put(to_millicores(claim.cores.claimed));
  put(claim.cores.wanting ? 1 : 0);
  put(claim.starting.count);
  if (entry.terms) {
    put(entry.terms->line.count);
    put(to_millicores(entry.terms->cores));
  }
  line.resize(kLineSize - 1, ' ');
  return line + "\n";
}

std::optional<LedgerEntry> decode_entry(std::string_view text) {
  constexpr std::size_t kOfClaim = 8, kOfTerms = 2;
  std::vector<std::uint64_t> numbers;
  for (std::string_view rest = trim(text); !rest.empty();) {
    const auto number = to_u64(take_until(rest, ' '));
    if (!number || numbers.size() == kOfClaim + kOfTerms) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() != kOfClaim && numbers.size() != kOfClaim + kOfTerms) return std::nullopt;
  if (numbers[2] > 1 || numbers[6] > 1) return std::nullopt;
  LedgerEntry entry{
      .claim = {.memory = {{numbers[0]}, {numbers[1]}, numbers[2] == 1},
                .starting = {numbers[7]},
                .cores = {to_cores(numbers[4]), to_cores(numbers[5]), numbers[6] == 1},
                .running = static_cast<std::size_t>(numbers[3])}};
  if (numbers.size() > kOfClaim) {
    entry.terms = {.line = {numbers[kOfClaim]}, .cores = to_cores(numbers[kOfClaim + 1])};
    if (entry.terms->line.count == 0 || entry.terms->cores <= 0) return std::nullopt;
  }
  return entry;
}

Result<Ledger> Ledger::join(Result<UniqueFd> directory, const std::string& run) {
  if (!directory) return pass(std::move(directory));
  for (int tries_left = kJoinTries; tries_left > 0; --tries_left) {
    UniqueFd file(::openat(directory->get(), run.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                           kOwnerReads));
    if (!file) return fail_errno("make " + run + " in the ledger");
    // Whatever the umask: in a ledger of a group its members read each other's.
    if (is_of_a_group(directory->get())) ::fchmod(file.get(), kGroupReads);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && is_linked(file.get())) {
      return Ledger(std::move(*directory), std::move(file), run);
    }
    std::this_thread::sleep_for(kJoinGap);
  }
  return fail("make " + run + " in the ledger: it is taken, or removed again and again");
}

Ledger::~Ledger() {
  if (file_) ::unlinkat(directory_.get(), run_.c_str(), 0);
}

Result<void> Ledger::tell(const LedgerEntry& own) {
  const std::string line = encode(own);
  const ssize_t wrote = ::pwrite(file_.get(), line.data(), line.size(), 0);
  if (wrote != static_cast<ssize_t>(line.size())) return fail_errno("write the ledger");
  return {};
}

std::vector<LedgerEntry> Ledger::others() const {
  std::vector<LedgerEntry> entries;
  const int fd = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(fd), &::closedir);
  if (list == nullptr) return entries;
  const uid_t owner = owner_of(directory_.get());
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string name = entry->d_name;
    if (entry->d_type != DT_REG || name == run_ || entries.size() == kRunsMax) continue;
    // A FIFO that took its place must not hold us up.
    const UniqueFd file(
        ::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) continue;
    if (!is_locked_by_another(file.get())) {
      ::unlinkat(directory_.get(), name.c_str(), 0);
      continue;
    }
    entries.push_back(read_entry(file.get()).value_or(LedgerEntry{}));
    if (owner_of(file.get()) != owner) entries.back().terms.reset();
  }
  return entries;
}

}  // namespace plimsoll::engine
